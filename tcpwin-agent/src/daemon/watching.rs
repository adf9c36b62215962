//! The connections that somebody looks at closely: their samples, as long as they are asked for.

use std::collections::VecDeque;

use crate::observation::{Key, Sample};
use crate::snapshot::Watch;
use crate::source::Source;
use crate::units::{Instant, Nanos};

/// Connections that are watched at a time: each event of one costs a record.
const MOST: usize = 4;

/// Without being asked for, a connection is watched this long.
const LEASE: Nanos = Nanos(5_000_000_000);

/// Newest samples kept of a connection, and brought by a snapshot.
const KEPT: usize = 2_048;

/// What is watched now.
#[derive(Debug, Default)]
pub(super) struct Watching {
    connections: Vec<Watched>,
    missed: u64,
}

#[derive(Debug)]
struct Watched {
    key: Key,
    until: Instant,
    samples: VecDeque<Sample>,
    /// Of them, the newest ones that no snapshot has brought.
    untold: usize,
    /// Untold ones that had to go since the last ask: a gap, should somebody ask again.
    gap: u64,
}

impl Watching {
    /// The samples of a connection so far, which is watched from now on. None of one beyond [`MOST`], or that is none.
    pub(super) fn ask(&mut self, watch: &Watch, now: Instant, source: &mut dyn Source) -> Vec<Sample> {
        self.expire(now, source);
        let Ok(cookie) = watch.id.parse() else {
            return Vec::new();
        };
        let key = Key {
            cookie,
            netns: watch.netns,
        };
        let known = self.connections.iter().position(|watched| watched.key == key);
        let at = match known {
            Some(at) => at,
            None if self.connections.len() < MOST => {
                self.connections.push(Watched {
                    key,
                    until: now,
                    samples: VecDeque::new(),
                    untold: 0,
                    gap: 0,
                });
                self.connections.len() - 1
            }
            None => return Vec::new(),
        };
        // Again at each ask: the source may have come to know the connection since the last one.
        source.watch(key, true);
        let watched = &mut self.connections[at];
        watched.until = Instant(now.0 + LEASE.0);
        watched.untold = 0;
        self.missed += std::mem::take(&mut watched.gap);
        watched.samples.iter().copied().collect()
    }

    /// Takes what the source has sampled, and lets go of what nobody asks for any more.
    pub(super) fn follow(&mut self, now: Instant, source: &mut dyn Source) {
        if self.connections.is_empty() {
            return;
        }
        source.take_samples(&mut |key, sample| {
            if let Some(watched) = self.connections.iter_mut().find(|watched| watched.key == key) {
                watched.take(sample);
            }
        });
        self.expire(now, source);
    }

    /// Samples that a reader has missed; of a connection that nobody asks for any more, none.
    pub(super) const fn missed(&self) -> u64 {
        self.missed
    }

    fn expire(&mut self, now: Instant, source: &mut dyn Source) {
        self.connections.retain(|watched| {
            let is_wanted = now < watched.until;
            if !is_wanted {
                source.watch(watched.key, false);
            }
            is_wanted
        });
    }
}

impl Watched {
    /// Keeps a sample.
    fn take(&mut self, sample: Sample) {
        let is_full = self.samples.len() >= KEPT;
        let is_lost = is_full && self.untold >= KEPT;
        if is_full {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.untold = (self.untold + 1).min(KEPT);
        self.gap += u64::from(is_lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{HookState, LossCount, ProbeCost, SourceError, Update};

    const SECOND: u64 = 1_000_000_000;

    /// Samples each socket that it watches once a call.
    #[derive(Default)]
    struct Sampling {
        watched: Vec<Key>,
        each: u64,
        at_ns: u64,
    }

    impl Source for Sampling {
        fn name(&self) -> &'static str {
            "sampling"
        }
        fn poll(&mut self, _: Instant, _: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
            Ok(())
        }
        fn drain(&mut self, _: Instant, _: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
            Ok(())
        }
        fn want_events(&mut self, _: bool) {}
        fn watch(&mut self, socket: Key, on: bool) {
            self.watched.retain(|watched| *watched != socket);
            if on {
                self.watched.push(socket);
            }
        }
        fn take_samples(&mut self, sink: &mut dyn FnMut(Key, Sample)) {
            for _ in 0..self.each {
                self.at_ns += 1;
                for socket in &self.watched {
                    let sample = Sample {
                        at_ns: self.at_ns,
                        ..Sample::default()
                    };
                    sink(*socket, sample);
                }
            }
        }
        fn losses(&self) -> Vec<LossCount> {
            Vec::new()
        }
        fn hooks(&self) -> Vec<HookState> {
            Vec::new()
        }
        fn probe_cost(&self) -> Option<ProbeCost> {
            None
        }
    }

    fn watch(id: u64) -> Watch {
        Watch {
            id: id.to_string(),
            netns: 1,
        }
    }

    #[test]
    fn what_nobody_asks_for_is_let_go() {
        let mut source = Sampling {
            each: 3,
            ..Sampling::default()
        };
        let mut watching = Watching::default();
        assert!(watching.ask(&watch(7), Instant(0), &mut source).is_empty());
        watching.follow(Instant(SECOND), &mut source);
        assert_eq!(watching.ask(&watch(7), Instant(4 * SECOND), &mut source).len(), 3);
        watching.follow(Instant(8 * SECOND), &mut source);
        assert_eq!(source.watched.len(), 1, "the second ask renewed the lease");
        watching.follow(Instant(9 * SECOND), &mut source);
        assert!(source.watched.is_empty());
        let again = watching.ask(&watch(7), Instant(10 * SECOND), &mut source);
        assert!(again.is_empty(), "it begins anew");
    }

    #[test]
    fn no_more_than_four_are_watched() {
        let mut source = Sampling::default();
        let mut watching = Watching::default();
        for id in 1..=5 {
            watching.ask(&watch(id), Instant(0), &mut source);
        }
        assert_eq!(source.watched.len(), MOST);
        watching.ask(&watch(5), Instant(6 * SECOND), &mut source);
        assert_eq!(source.watched.len(), 1, "the others' leases ended");
        let wrong = Watch {
            id: "none".to_owned(),
            netns: 1,
        };
        assert!(watching.ask(&wrong, Instant(6 * SECOND), &mut source).is_empty());
    }

    #[test]
    fn the_newest_are_kept_and_what_no_snapshot_brought_is_counted() {
        let mut source = Sampling {
            each: KEPT as u64 + 100,
            ..Sampling::default()
        };
        let mut watching = Watching::default();
        watching.ask(&watch(7), Instant(0), &mut source);
        watching.follow(Instant(1), &mut source);
        assert_eq!(watching.missed(), 0, "perhaps nobody wants them");
        let samples = watching.ask(&watch(7), Instant(2), &mut source);
        assert_eq!(watching.missed(), 100);
        assert_eq!(samples.len(), KEPT);
        assert_eq!(samples.last().unwrap().at_ns, KEPT as u64 + 100);
        source.each = 50;
        watching.follow(Instant(3), &mut source);
        assert_eq!(watching.missed(), 100, "those that went had been brought");
    }
}
