//! What readers ask the loop for.

use std::sync::Arc;
use std::time::Duration;

use crate::snapshot::feed::Request;
use crate::snapshot::{Changes, Gone, Snapshot, Watch, count_connections};
use crate::units::Instant;

use super::Pipeline;

impl Pipeline {
    /// Answers; a new interval, where that was asked for.
    pub(super) fn answer(&mut self, request: Request) -> Option<Duration> {
        match request {
            Request::Full(watch, answer) => {
                let full = self.full_snapshot();
                let full = watch.map_or_else(|| Arc::clone(&full), |watch| self.with_samples(&full, &watch));
                // A reader that went away in the meantime is no failure.
                let _ = answer.send(full);
            }
            Request::Changed(since, watch, answer) => {
                let changed = self.changed_snapshot(since, watch.as_ref());
                let _ = answer.send(changed);
            }
            Request::Subscribe(answer) => {
                let _ = answer.send(self.inlet.events.subscribe());
                self.follow_readers();
            }
            Request::Record(answer) => {
                let now = (self.clock)();
                let _ = answer.send(self.recorder.subscribe(now, &mut self.table));
                self.follow_readers();
            }
            Request::Interval(interval) => {
                self.interval = interval;
                return Some(interval);
            }
        }
        None
    }

    fn full_snapshot(&mut self) -> Arc<Snapshot> {
        if let Some(full) = &self.full {
            return Arc::clone(full);
        }
        let mut full = self.without_connections();
        full.connections = self.table.connections(Instant(full.at_ns));
        count_connections(&mut full.listeners, &full.connections);
        let full = Arc::new(full);
        self.full = Some(Arc::clone(&full));
        full
    }

    /// For a reader that keeps a copy.
    fn changed_snapshot(&mut self, since: u64, watch: Option<&Watch>) -> Snapshot {
        let mut snapshot = self.without_connections();
        let changed = self.table.changed(since, Instant(snapshot.at_ns));
        let gone = changed.gone.into_iter().map(|key| Gone {
            id: key.cookie.to_string(),
            netns: key.netns,
        });
        snapshot.changes = Some(Changes {
            generation: changed.generation,
            since: changed.since,
            gone: gone.collect(),
        });
        snapshot.connections = changed.connections;
        if changed.since.is_none() {
            // Who has only the changed ones cannot count; who has them all does.
            count_connections(&mut snapshot.listeners, &snapshot.connections);
        }
        if let Some(watch) = watch {
            let now = (self.clock)();
            snapshot.samples = self.watching.ask(watch, now, &mut *self.source);
        }
        snapshot
    }

    /// The last tick's, with all that is only put together when somebody asks, but for the connections.
    fn without_connections(&mut self) -> Snapshot {
        let now = (self.clock)();
        self.survey.freshen(now);
        let latest = Arc::clone(&self.inlet.latest.borrow());
        Snapshot {
            findings: self.table.findings(),
            listeners: self.survey.listeners(),
            facts: self.survey.facts().clone(),
            ..(*latest).clone()
        }
    }

    /// For one reader: what others ask for is without the samples that he watches.
    fn with_samples(&mut self, full: &Snapshot, watch: &Watch) -> Arc<Snapshot> {
        let now = (self.clock)();
        Arc::new(Snapshot {
            samples: self.watching.ask(watch, now, &mut *self.source),
            ..full.clone()
        })
    }
}
