//! `tcpwin doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::{ConnectArgs, WatchArgs, parse_duration};

pub(super) const HELP: &str = "\
Nothing is changed but with --apply, and what that changes is taken back before it ends.

Exit codes:
  0  nothing was found but what is to know (or what --apply tried was taken back)
  1  failed while running; with --apply: something is not as the plan says, nothing was changed
  2  wrong arguments, or no plan
  3, 4  as of tcpwin top
  5  nothing was found, but some network namespaces could not be entered; with --apply: it was interrupted, or not all could be taken
     back, and it says what
  7  something was found that hurts, or may";

/// Arguments of `tcpwin doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Only this network namespace: a name of `ip netns`, or a path such as /proc/PID/ns/net
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "apply")]
    pub netns: Option<String>,
    /// One JSON object, see docs/doctor.md
    #[arg(long)]
    pub json: bool,
    /// How long connections and counters are watched [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Write what could be tried into a file, for --apply
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "apply")]
    pub plan: Option<PathBuf>,
    /// Try the plan's changes: measure, change, measure again for --duration each, and take all back
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub apply: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub connect: ConnectArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub watch: WatchArgs,
}

impl DoctorArgs {
    /// The path that leads to the namespace asked for.
    #[must_use]
    pub fn door(&self) -> Option<PathBuf> {
        let given = self.netns.as_ref()?;
        Some(if given.contains('/') {
            PathBuf::from(given)
        } else {
            PathBuf::from("/run/netns").join(given)
        })
    }
}
