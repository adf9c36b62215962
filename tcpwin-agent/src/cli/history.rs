//! `tcpwin history`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::history;
use crate::query::Filter;

use super::{parse_duration, parse_filter};

/// Where the history is looked for: the state directory of the agent's unit.
const HISTORY: &str = "/var/lib/tcpwin/history";

/// Arguments of `tcpwin history`.
#[derive(Args, Debug)]
pub struct HistoryArgs {
    /// The minute of this time: 03:00 (the last one there was), or 2026-11-30T03:00
    #[arg(long, value_name = "TIME", conflicts_with_all = ["from", "to", "last"])]
    at: Option<String>,
    /// From this minute on
    #[arg(long, value_name = "TIME", conflicts_with = "last")]
    from: Option<String>,
    /// Until this minute, which is not part of it [default: now]
    #[arg(long, value_name = "TIME", conflicts_with = "last")]
    to: Option<String>,
    /// The last minutes or hours, such as 30m [default: 1h]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    last: Option<Duration>,
    /// Only connections that pass: words, and comparisons such as limit = rwnd
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    filter: Option<Filter>,
    /// What a line stands for
    #[arg(long, value_enum, default_value_t = By::Connection)]
    by: By,
    /// Lines shown, the costliest first [default: 20, with --json all]
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// Where the agent keeps its history
    #[arg(long, value_name = "DIR", env = "TCPWIN_HISTORY", default_value = HISTORY)]
    pub directory: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum By {
    Connection,
    Process,
    Peer,
    Limit,
}

impl HistoryArgs {
    /// What is asked, at a moment in a time zone.
    ///
    /// # Errors
    /// When a time is none, or the last comes before the first.
    pub fn question(&self, now: i64, zone: impl Fn(i64) -> i64) -> Result<history::Question, String> {
        let minute = |text: &str| {
            let at = history::moment(text, now, &zone).map_err(|error| format!("`{text}`: {error}"))?;
            Ok::<_, String>(at - at.rem_euclid(60))
        };
        let upper = now + 60 - now.rem_euclid(60);
        let (from, to) = match (&self.at, &self.from, &self.to) {
            (Some(at), ..) => {
                let at = minute(at)?;
                (at, at + 60)
            }
            (None, from, to) => {
                let to = to.as_deref().map_or(Ok(upper), minute)?;
                let last = self.last.map_or(3_600, |last| last.as_secs());
                let last = i64::try_from(last).unwrap_or(i64::MAX).max(60);
                let from = from.as_deref().map_or(Ok(to.saturating_sub(last)), minute)?;
                (from - from.rem_euclid(60), to)
            }
        };
        if from >= to {
            return Err("--from comes after --to: a time of day alone is the last one there was".to_owned());
        }
        Ok(history::Question {
            from,
            to,
            filter: self.filter.clone().unwrap_or_default(),
            by: match self.by {
                By::Connection => history::By::Connection,
                By::Process => history::By::Process,
                By::Peer => history::By::Peer,
                By::Limit => history::By::Limit,
            },
        })
    }
}
