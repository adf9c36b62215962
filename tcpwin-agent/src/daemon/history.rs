//! Minutes of the clock on the wall, handed to the flight recorder.

use rustix::time::{ClockId, clock_gettime};

use crate::config::History;
use crate::connection::Table;
use crate::history::{Limits, Minute, Store, Writer};
use crate::units::Instant;

/// Writes down each minute what connections were held by.
#[derive(Debug)]
pub(super) struct FlightRecorder {
    writer: Writer,
    host: String,
    /// The minute that is under way, and since when it is watched.
    minute: Option<(i64, Instant)>,
}

impl FlightRecorder {
    /// In the folder that was asked for; none where none was.
    pub(super) fn open(config: &History) -> anyhow::Result<Option<Self>> {
        let Some(directory) = &config.directory else {
            return Ok(None);
        };
        let limits = Limits {
            size: config.max_size.bytes(),
            age: config.max_age.duration(),
        };
        let writer = Writer::start(Store::new(directory, limits)?)?;
        let system = rustix::system::uname();
        Ok(Some(Self {
            writer,
            host: system.nodename().to_string_lossy().into_owned(),
            minute: None,
        }))
    }

    /// A tick has passed.
    pub(super) fn tick(&mut self, now: Instant, table: &mut Table) {
        let wall = clock_gettime(ClockId::Realtime).tv_sec;
        let minute = wall - wall.rem_euclid(60);
        if self.minute.is_none_or(|(at, _)| at != minute) {
            self.end(now, table);
            self.minute = Some((minute, now));
        }
        if let Some(failure) = self.writer.take_failure() {
            tracing::error!("a minute of the history is lost: {failure}");
        }
    }

    /// The minute that is under way goes out as it is.
    pub(super) fn end(&mut self, now: Instant, table: &mut Table) {
        // The first time it only begins to be noted.
        let spent = table.take_spent();
        if let Some((at, since)) = self.minute.take() {
            self.writer.write(Minute {
                at,
                seconds: now.since(since).seconds(),
                host: self.host.clone(),
                spent,
            });
        }
    }

    /// Minutes that are not on disk.
    pub(super) fn loss(&self) -> (&'static str, u64) {
        ("history_lost", self.writer.lost())
    }
}
