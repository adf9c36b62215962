//! `tcpwin trace`: what happens to connections, a line an event.

use std::io::{self, Write};
use std::time::Duration;

use crate::query::Filter;
use crate::snapshot::TraceEvent;
use crate::snapshot::feed::{Events, Told};

mod layout;
mod line;
mod stamp;

pub use stamp::{Stamp, zone_seconds};

use layout::Layout;

/// Which events are told, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only what passes.
    pub filter: Filter,
    /// Only these kinds; all if there are none.
    pub kinds: Vec<String>,
    /// One JSON object a line.
    pub json: bool,
    /// Columns of the terminal that lines go to; a file or pipe has none.
    pub columns: Option<usize>,
    /// End after this many.
    pub count: Option<u64>,
    /// End after this time.
    pub duration: Option<Duration>,
}

impl Options {
    fn wants(&self, event: &TraceEvent) -> bool {
        let kind = || self.kinds.iter().any(|kind| kind == event.name());
        (self.kinds.is_empty() || kind()) && self.filter.matches_event(event)
    }
}

/// What became of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Events told.
    pub told: u64,
    /// Events missed because the reader was slower than the connections.
    pub missed: u64,
    /// The agent or pipeline went away before the trace was over.
    pub cut: bool,
    /// The time was up before as many events came as were asked for.
    pub short: bool,
}

/// Why a trace ended early.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The output cannot be written.
    #[error("cannot write the events: {0}")]
    Write(#[from] io::Error),
}

/// Tells events until the count, the time, `stop`, or the reader of `out` ends it.
///
/// # Errors
/// When `out` cannot be written, other than because its reader went away.
pub async fn run(
    events: Events,
    stamp: Stamp,
    options: Options,
    out: impl Write,
    stop: impl Future<Output = ()>,
) -> Result<Outcome, TraceError> {
    let mut writer = Writer {
        out,
        stamp,
        layout: Layout::new(options.columns),
        options,
        outcome: Outcome::default(),
    };
    match writer.tell_all(events, stop).await {
        Ok(()) => Ok(writer.outcome),
        // `tcpwin trace | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(writer.outcome),
        Err(error) => Err(error.into()),
    }
}

struct Writer<W> {
    out: W,
    stamp: Stamp,
    layout: Layout,
    options: Options,
    outcome: Outcome,
}

impl<W: Write> Writer<W> {
    async fn tell_all(&mut self, mut events: Events, stop: impl Future<Output = ()>) -> io::Result<()> {
        let duration = self.options.duration;
        let time_is_up = async {
            match duration {
                Some(duration) => tokio::time::sleep(duration).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(stop, time_is_up);
        if !self.options.json {
            writeln!(self.out, "{}", line::header(&mut self.layout))?;
            self.out.flush()?;
        }
        loop {
            let next = tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                () = &mut time_is_up => {
                    self.outcome.short = self.options.count.is_some();
                    return Ok(());
                }
                next = events.next() => next,
            };
            let Some(told) = next else {
                self.outcome.cut = true;
                return Ok(());
            };
            self.tell(&told)?;
            // What is there already goes out with one write.
            while !self.is_over()
                && let Some(told) = events.try_next()
            {
                self.tell(&told)?;
            }
            self.out.flush()?;
            if self.is_over() {
                return Ok(());
            }
        }
    }

    fn tell(&mut self, told: &Told) -> io::Result<()> {
        match told {
            Told::Event(event) if !self.options.wants(event) => Ok(()),
            Told::Event(event) => {
                self.outcome.told += 1;
                if self.options.json {
                    serde_json::to_writer(&mut self.out, event)?;
                    writeln!(self.out)
                } else {
                    writeln!(self.out, "{}", line::text(event, self.stamp, &mut self.layout))
                }
            }
            Told::Missed(missed) => {
                self.outcome.missed += missed;
                tracing::warn!("{missed} events were missed: this reader is slower than the connections");
                Ok(())
            }
            Told::Broken(why) => {
                self.outcome.missed += 1;
                tracing::warn!("{why}");
                Ok(())
            }
        }
    }

    fn is_over(&self) -> bool {
        self.options.count.is_some_and(|count| self.outcome.told >= count)
    }
}

#[cfg(test)]
mod tests;
