//! What a connection's life was spent on, by cause.

use serde::{Deserialize, Serialize};

use crate::classify::Limit;
use crate::snapshot;
use crate::units::{BytesPerSec, Nanos};

/// Time and bytes under one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cause {
    limit: Limit,
    time: Nanos,
    bytes: u64,
    /// Absent while no interval knew what would come next.
    not_moved: Option<u64>,
}

/// All causes of a connection so far; at most one for each limit there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Causes(Vec<Cause>);

impl Causes {
    /// Time under a limit, the bytes moved in it both ways, and those that lifting it would have moved.
    pub(super) fn add(&mut self, limit: Limit, time: Nanos, bytes: u64, not_moved: Option<u64>) {
        let at = match self.0.iter().position(|cause| cause.limit == limit) {
            Some(at) => at,
            None => {
                self.0.push(Cause {
                    limit,
                    time: Nanos(0),
                    bytes: 0,
                    not_moved: None,
                });
                self.0.len() - 1
            }
        };
        let cause = &mut self.0[at];
        cause.time = Nanos(cause.time.0.saturating_add(time.0));
        cause.bytes = cause.bytes.saturating_add(bytes);
        if let Some(more) = not_moved {
            cause.not_moved = Some(cause.not_moved.unwrap_or(0).saturating_add(more));
        }
    }

    /// Time in which nothing happened.
    pub(super) fn add_idle(&mut self, time: Nanos) {
        if time.0 > 0 {
            self.add(Limit::None, time, 0, None);
        }
    }

    /// As exits show them: the longest first.
    pub(super) fn shown(&self) -> Vec<snapshot::Cause> {
        let mut causes: Vec<&Cause> = self.0.iter().collect();
        causes.sort_by_key(|cause| (std::cmp::Reverse(cause.time), cause.limit));
        let shown = |cause: &Cause| snapshot::Cause {
            limit: cause.limit,
            seconds: cause.time.seconds(),
            bytes: cause.bytes,
            bytes_not_moved: cause.not_moved,
        };
        causes.into_iter().map(shown).collect()
    }
}

/// What lifting a limit would have moved beside what was moved: nothing is known where the next limit is not.
pub(super) fn not_moved(rate: BytesPerSec, next: Option<BytesPerSec>, time: Nanos) -> Option<u64> {
    let more = next?.0 - rate.0;
    (more > 0.0).then(|| (more * time.seconds()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos(1_000_000_000);

    #[test]
    fn the_longest_comes_first_and_what_is_not_known_is_absent() {
        let mut causes = Causes::default();
        causes.add(Limit::App, SECOND, 10, None);
        causes.add(Limit::Rwnd, SECOND, 100, Some(400));
        causes.add(Limit::Rwnd, SECOND, 100, None);
        causes.add_idle(Nanos(0));
        let shown = causes.shown();
        assert_eq!(shown.len(), 2);
        assert_eq!((shown[0].limit, shown[0].seconds), (Limit::Rwnd, 2.0));
        assert_eq!((shown[0].bytes, shown[0].bytes_not_moved), (200, Some(400)));
        assert_eq!((shown[1].limit, shown[1].bytes_not_moved), (Limit::App, None));
    }

    #[test]
    fn lifting_gives_what_the_next_limit_has_more() {
        let rate = BytesPerSec;
        assert_eq!(
            not_moved(rate(100.0), Some(rate(350.0)), Nanos(2 * SECOND.0)),
            Some(500)
        );
        assert_eq!(not_moved(rate(100.0), Some(rate(90.0)), SECOND), None);
        assert_eq!(not_moved(rate(100.0), None, SECOND), None);
        assert_eq!(not_moved(rate(0.0), Some(rate(f64::NAN)), SECOND), None);
    }
}
