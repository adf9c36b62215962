//! CPU time of a scrape with 100,000 connections from 50,000 peers by 500 listeners, by format, and what the answer weighs.
//! Prints; asserts nothing.

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use tcpwin_agent::connection::Grouping;
use tcpwin_agent::exporter::{Exporter, Format};
use tokio::sync::watch;

#[path = "../tests/support/crowd.rs"]
mod crowd;

const SCRAPES: usize = 101;

fn main() {
    for (what, grouping, classic) in [
        ("by default", Grouping::default(), false),
        ("classic buckets", Grouping::default(), true),
        ("every group", crowd::every_grouping(), true),
    ] {
        let (_, latest) = watch::channel(Arc::new(crowd::snapshot(grouping)));
        let exporter = Exporter::new(latest, classic);
        for format in [Format::Classic, Format::OpenMetrics, Format::Protobuf] {
            let mut bytes = 0;
            let mut spent: Vec<i64> = (0..SCRAPES)
                .map(|_| {
                    let before = cpu_ns();
                    bytes = exporter.scrape(format).map_or(0, |page| page.len());
                    cpu_ns() - before
                })
                .collect();
            spent.sort_unstable();
            println!(
                "scrape, {} connections, {what}, {format:?}: {} µs, {bytes} bytes",
                crowd::CONNECTIONS,
                spent[SCRAPES / 2] / 1_000,
            );
        }
    }
}

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
