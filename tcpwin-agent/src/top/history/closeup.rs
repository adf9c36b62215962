//! The connection that somebody looks at: a long memory of its ticks, and its samples at each event where they come.
//!
//! Bounded: 4,096 points and 8,192 samples, together less than 700 kB.

use std::collections::VecDeque;

use super::point::Point;
use crate::snapshot::Sample;

/// Points kept; when there are more, the older half is thinned, so that the oldest is never lost.
pub(crate) const POINTS: usize = 4_096;
/// Samples kept, the newest.
pub(crate) const SAMPLES: usize = 8_192;

/// What is remembered of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closeup {
    points: VecDeque<Point>,
    samples: VecDeque<Sample>,
}

impl Closeup {
    /// From what is known of it already.
    pub(crate) fn new<'a>(points: impl Iterator<Item = &'a Point>) -> Self {
        Self {
            points: points.copied().collect(),
            samples: VecDeque::new(),
        }
    }

    /// Points a tick each, oldest first.
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator {
        self.points.iter()
    }

    /// Samples at each event, oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> + ExactSizeIterator {
        self.samples.iter()
    }

    /// Takes in a tick.
    pub(crate) fn push(&mut self, point: Point) {
        // A clock that goes back is another agent's: what came before has no place on its axis.
        if self.points.back().is_some_and(|last| last.at_ns > point.at_ns) {
            *self = Self::default();
        }
        if self.points.back().is_some_and(|last| last.at_ns == point.at_ns) {
            return;
        }
        if self.points.len() >= POINTS {
            let half = POINTS / 2;
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at > half || at % 2 == 1
            });
        }
        self.points.push_back(point);
    }

    /// Takes in what is new of `samples`; snapshots repeat what they brought before.
    pub(crate) fn absorb(&mut self, samples: &[Sample]) {
        let known = self.samples.back().map_or(0, |last| last.at_ns);
        let new = samples.partition_point(|sample| sample.at_ns <= known);
        for sample in &samples[new..] {
            // Events of two CPUs may cross; a chart's time does not go back.
            if self.samples.back().is_some_and(|last| last.at_ns > sample.at_ns) {
                continue;
            }
            if self.samples.len() >= SAMPLES {
                self.samples.pop_front();
            }
            self.samples.push_back(*sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Connection, Snapshot};

    fn point(at_ns: u64) -> Point {
        let snapshot = Snapshot {
            at_ns,
            ..Snapshot::default()
        };
        Point::of(&connection(), &snapshot)
    }

    fn connection() -> Connection {
        use crate::classify::Limit;
        crate::top::tests::fixture::connection(1, Limit::App, "", "", 1.0)
    }

    fn samples(from: u64, to: u64) -> Vec<Sample> {
        let sample = |at_ns| Sample {
            at_ns,
            ..Sample::default()
        };
        (from..to).map(sample).collect()
    }

    #[test]
    fn a_long_life_is_thinned_and_keeps_both_ends() {
        let mut closeup = Closeup::default();
        for at in 1..=50_000 {
            closeup.push(point(at));
            closeup.push(point(at));
        }
        assert!(closeup.points().len() <= POINTS);
        assert_eq!(closeup.points().next().unwrap().at_ns, 1);
        assert_eq!(closeup.points().next_back().unwrap().at_ns, 50_000);
        let times: Vec<u64> = closeup.points().map(|point| point.at_ns).collect();
        assert!(times.is_sorted_by(|a, b| a < b));
        closeup.push(point(5));
        assert_eq!(closeup.points().len(), 1);
    }

    #[test]
    fn samples_are_taken_once_and_the_newest_kept() {
        let mut closeup = Closeup::default();
        closeup.absorb(&samples(1, 100));
        closeup.absorb(&samples(50, 150));
        assert_eq!(closeup.samples().len(), 149);
        for round in 0..10 {
            closeup.absorb(&samples(150, 150 + (round + 1) * 2_048));
        }
        assert_eq!(closeup.samples().len(), SAMPLES);
        assert_eq!(closeup.samples().next_back().unwrap().at_ns, 150 + 20_479);
        let bytes = POINTS * size_of::<Point>() + SAMPLES * size_of::<Sample>();
        assert!(bytes < 700_000, "{bytes}");
    }
}
