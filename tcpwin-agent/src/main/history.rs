//! `tcpwin history`.

use std::io::Write as _;

use anyhow::anyhow;

use tcpwin_agent::cli::{Exit, HistoryArgs};
use tcpwin_agent::{history, trace};

use super::{Outcome, failure};

pub(super) fn run(arguments: &HistoryArgs) -> Outcome {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
    let question = arguments
        .question(now, trace::zone_seconds)
        .map_err(|error| failure(Exit::Usage, anyhow!(error)))?;
    let answer = history::ask(&arguments.directory, &question)?;
    let told = if arguments.json {
        serde_json::to_string(&answer)? + "\n"
    } else {
        history::text(&answer, question.by, arguments.count, trace::zone_seconds)
    };
    // A reader who has gone has read enough.
    let _ = std::io::stdout().write_all(told.as_bytes());
    Ok(if answer.faults.is_empty() {
        Exit::Done
    } else {
        Exit::Partial
    })
}
