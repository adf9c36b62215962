//! What a keystroke costs.

use std::hint::black_box;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};

use super::fixture::{bare, connection};
use crate::query::{Filter, Sort};
use crate::snapshot::Connection;

const CONNECTIONS: u32 = 20_000;

/// CPU time of this thread, ms.
fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

#[test]
#[ignore = "a load to be measured: cargo test --release -p tcpwin-agent --lib query::tests::cost -- --ignored --nocapture"]
fn twenty_thousand_connections_a_keystroke() {
    let connections: Vec<Arc<Connection>> = (0..CONNECTIONS)
        .map(|at| {
            let mut one = if at % 8 == 0 { bare() } else { connection() };
            one.id = at.to_string();
            one.peer = format!("203.0.{}.{}:443", at / 250 % 250, at % 250);
            one.rate_bps = f64::from(at);
            Arc::new(one)
        })
        .collect();
    for text in [
        "rtt > 50ms",
        "nowhere",
        "peer in 203.0.113.0/24",
        "rtt > 50ms and bound = window and proc = nginx and peer in 203.0.113.0/24",
        "not (proc ~ python or cgroup ~ docker) and limit in (rwnd, rwnd_scale, sndbuf)",
    ] {
        let filter: Filter = text.parse().unwrap();
        let began = cpu_ms();
        let passed = connections.iter().filter(|each| filter.matches(each)).count();
        println!("{:8.2} ms  {text}  ({passed} pass)", cpu_ms() - began);
    }
    let all: Vec<u32> = (0..CONNECTIONS).collect();
    for text in ["rate", "limit", "peer", "proc,-rate"] {
        let sort: Sort = text.parse().unwrap();
        let began = cpu_ms();
        black_box(sort.arrange(&connections, &all, usize::MAX));
        println!("{:8.2} ms  sorted by {text}", cpu_ms() - began);
    }
}
