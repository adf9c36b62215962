//! A recording as a feed for the screen, with its time steered from there.

use std::sync::Arc;

use super::Replay;
use crate::snapshot::playback::{Jump, Playback, Position};
use crate::snapshot::{Feed, FeedError, Snapshot};
use crate::units::{Instant, Nanos};

/// Tells the time that passes for the reader.
pub type Clock = Box<dyn FnMut() -> Instant + Send>;

/// Plays a recording at the reader's pace.
pub struct Player {
    replay: Replay,
    playback: Playback,
    clock: Clock,
    /// When the last snapshot was asked for.
    asked: Option<Instant>,
    /// What is played up to: between two snapshots it is further than what is shown.
    wanted: Instant,
    /// A snapshot was laid since the start, or since the last way back.
    begun: bool,
    latest: Option<Arc<Snapshot>>,
}

impl Player {
    /// Steered by `playback`; `clock` is the reader's.
    #[must_use]
    pub fn new(replay: Replay, playback: Playback, clock: Clock) -> Self {
        let wanted = replay.span().0;
        Self {
            replay,
            playback,
            clock,
            asked: None,
            wanted,
            begun: false,
            latest: None,
        }
    }

    fn advance(&mut self) {
        let now = (self.clock)();
        let elapsed = self.asked.replace(now).map_or(Nanos(0), |asked| now.since(asked));
        let (jump, passed) = self.playback.take(elapsed.0);
        let (start, end) = self.replay.span();
        let further = |seconds: i32| {
            let nanos = u64::from(seconds.unsigned_abs()) * 1_000_000_000;
            if seconds < 0 {
                self.wanted.0.saturating_sub(nanos)
            } else {
                self.wanted.0.saturating_add(nanos)
            }
        };
        let to = match jump {
            // The next snapshot, whenever it was.
            Some(Jump::Step) => {
                self.step();
                self.wanted = self.replay.now();
                return;
            }
            Some(Jump::By(seconds)) => further(seconds),
            Some(Jump::Start) => start.0,
            Some(Jump::End) => end.0,
            None => self.wanted.0.saturating_add(passed),
        };
        let to = Instant(to.clamp(start.0, end.0));
        // What is shown may be further than what is wanted by part of an interval: only a jump goes back.
        if to < self.wanted {
            self.replay.rewind(to);
            self.begun = false;
        }
        self.wanted = to;
        while (!self.begun || self.replay.now() < self.wanted) && self.step() {}
        if self.wanted == end {
            // Whatever is wrong with the end shows only there.
            while self.step() {}
        }
    }

    /// If there was one more.
    fn step(&mut self) -> bool {
        // Events are for `trace`.
        let stepped = self.replay.step(&mut Vec::new()).is_some();
        if stepped {
            self.begun = true;
            self.latest = None;
        }
        stepped
    }
}

impl Feed for Player {
    fn latest(&mut self) -> Result<Arc<Snapshot>, FeedError> {
        self.advance();
        let latest = match &self.latest {
            Some(latest) => Arc::clone(latest),
            None => Arc::new(self.replay.snapshot()),
        };
        self.latest = Some(Arc::clone(&latest));
        let (start, end) = self.replay.span();
        let header = self.replay.header();
        let position = Position {
            start_ns: start.0,
            now_ns: self.replay.now().0,
            end_ns: end.0,
            wall_offset_ns: header.wall_offset_ns + i64::from(header.zone_seconds) * 1_000_000_000,
        };
        self.playback.set(position, self.replay.faults().first().cloned());
        Ok(latest)
    }
}

impl std::fmt::Debug for Player {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Player({:?})", self.replay)
    }
}
