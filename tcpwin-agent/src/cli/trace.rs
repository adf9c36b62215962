//! `tcpwin trace`.

use std::time::Duration;

use clap::Args;

use crate::query::Filter;
use crate::snapshot::TraceEvent;
use crate::trace;

use super::{ConnectArgs, RecordArgs, ReplayArgs, WatchArgs, parse_duration, parse_filter};

/// Arguments of `tcpwin trace`.
#[derive(Args, Debug)]
pub struct TraceArgs {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Tell only what passes: words, and conditions such as "event = close and rtt > 50ms and proc = nginx"
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// Tell only these kinds of events, with commas between
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = TraceEvent::NAMES)]
    event: Vec<String>,
    /// End after this many events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// End after this time, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    duration: Option<Duration>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub record: RecordArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub replay: ReplayArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub connect: ConnectArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
}

impl TraceArgs {
    /// Which events are told, and how; `columns` are the terminal's, if lines go to one.
    #[must_use]
    pub fn options(&self, columns: Option<usize>) -> trace::Options {
        trace::Options {
            filter: self.filter.clone().unwrap_or_default(),
            kinds: self.event.clone(),
            json: self.json,
            columns,
            count: self.count,
            duration: self.duration,
        }
    }
}
