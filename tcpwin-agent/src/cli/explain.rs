//! `tcpwin explain`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::query::{Filter, Sort};

use super::{ConnectArgs, WatchArgs, parse_duration, parse_filter, parse_sort};

pub(super) const HELP: &str = "\
Any output of ss with -i will do, of any iproute2, as it came through mail or a web page.
More is told from two looks 10 s apart, from both ends, and with -m:

  ss -tinm dst 203.0.113.7 | tcpwin explain
  ss -tinm | tcpwin explain --filter 'sick = yes and rtt > 50ms' --sort limit
  tcpwin explain --live 'peer = 203.0.113.7'

Exit codes:
  0  done
  1  failed while running (file cannot be read, no connection passes the filter, …)
  2  wrong arguments, or nothing that reads as the output of ss
  3, 4  with --live, as of tcpwin top";

/// Arguments of `tcpwin explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// File with the output of ss, or - for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only the sockets that pass, once all were explained; docs/filter.md has the language
    #[arg(long, value_name = "FILTER", value_parser = parse_filter, conflicts_with = "live")]
    pub filter: Option<Filter>,
    /// In this order, such as limit or -rtt,peer [default: as pasted]
    #[arg(long, value_name = "FIELDS", value_parser = parse_sort, conflicts_with = "live")]
    pub sort: Option<Sort>,
    /// One JSON object: {"sockets": […]}
    #[arg(long)]
    pub json: bool,
    /// Explain the running connections that pass the filter instead, watched for a few seconds
    #[arg(long, value_name = "FILTER", value_parser = parse_filter, conflicts_with = "file")]
    pub live: Option<Filter>,
    /// How long they are watched first [default: 5s]
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration, requires = "live")]
    pub watch_for: Option<Duration>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub connect: ConnectArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
}
