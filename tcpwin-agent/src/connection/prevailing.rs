//! The verdict as screens show it: what has held for a while, not what one interval says.

use crate::classify::Limit;
use crate::units::Instant;

/// Intervals looked back upon.
const KEPT: usize = 5;

/// The limit that prevails. A lone interval of another cause, or without one, does not change it; idleness does at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prevailing {
    /// Which.
    pub(super) limit: Limit,
    /// Since when.
    pub(super) since: Instant,
    /// The last intervals' limits and when these began, the newest first, since the last idle one.
    lately: [Option<(Limit, Instant)>; KEPT],
}

impl Prevailing {
    /// Of a connection that has had no interval yet.
    pub(super) const fn new(since: Instant) -> Self {
        Self {
            limit: Limit::Unknown,
            since,
            lately: [None; KEPT],
        }
    }

    /// Of an idle one.
    pub(super) const fn idle(since: Instant) -> Self {
        Self {
            limit: Limit::None,
            since,
            lately: [None; KEPT],
        }
    }

    /// Nothing happens since `at`.
    pub(super) fn rest(&mut self, at: Instant) {
        if self.limit != Limit::None {
            *self = Self::idle(at);
        }
        self.lately = [None; KEPT];
    }

    /// An interval that began at `start` had this verdict.
    pub(super) fn fold(&mut self, limit: Limit, start: Instant) {
        if limit == Limit::None {
            self.rest(start);
            return;
        }
        self.lately.rotate_right(1);
        self.lately[0] = Some((limit, start));
        if limit == self.limit {
            return;
        }
        let count = |of: Limit| self.began(of).count();
        let runs = self.lately[1].is_some_and(|(before, _)| before == limit);
        // Two that alternate fill three of five in turn: the shown one has to be gone as well.
        let fills = count(limit) * 2 > KEPT && count(self.limit) <= 1;
        // Anything is better than not known.
        if runs || fills || self.limit == Limit::Unknown {
            self.since = self.began(limit).last().unwrap_or(start);
            self.limit = limit;
        }
    }

    /// When the last intervals of this limit began, the newest first.
    fn began(&self, of: Limit) -> impl Iterator<Item = Instant> {
        self.lately
            .iter()
            .flatten()
            .filter(move |(limit, _)| *limit == of)
            .map(|(_, start)| *start)
    }
}

#[cfg(test)]
mod tests {
    use super::Limit::{App, Loss, Rwnd, Unknown};
    use super::*;

    /// What is shown after each of these.
    fn shown(limits: &[Limit]) -> Vec<Limit> {
        let mut prevailing = Prevailing::new(Instant(0));
        let fold = |(limit, at): (&Limit, u64)| {
            prevailing.fold(*limit, Instant(at));
            prevailing.limit
        };
        limits.iter().zip(0..).map(fold).collect()
    }

    #[test]
    fn the_first_verdict_shows_and_a_lone_other_one_does_not() {
        assert_eq!(shown(&[Rwnd, Loss, Rwnd, Unknown, Rwnd]), [Rwnd; 5]);
        assert_eq!(shown(&[Unknown, Rwnd]), [Unknown, Rwnd]);
    }

    #[test]
    fn two_running_change_it() {
        assert_eq!(shown(&[Rwnd, Loss, Loss]), [Rwnd, Rwnd, Loss]);
        assert_eq!(shown(&[Rwnd, Unknown, Unknown]), [Rwnd, Rwnd, Unknown]);
    }

    #[test]
    fn what_alternates_stands_still_and_what_fills_most_shows() {
        assert_eq!(shown(&[Rwnd, Loss, Rwnd, Loss, Rwnd, Loss, Rwnd]), [Rwnd; 7]);
        assert_eq!(
            shown(&[Rwnd, Loss, Unknown, Loss, App, Loss]),
            [Rwnd, Rwnd, Rwnd, Rwnd, Rwnd, Loss]
        );
    }

    #[test]
    fn idleness_shows_at_once_and_what_follows_has_to_hold() {
        assert_eq!(
            shown(&[Rwnd, Limit::None, Rwnd, Limit::None, Rwnd, Rwnd]),
            [Rwnd, Limit::None, Limit::None, Limit::None, Limit::None, Rwnd]
        );
    }

    #[test]
    fn it_has_held_since_the_first_interval_of_its_own() {
        let mut prevailing = Prevailing::new(Instant(0));
        for (limit, at) in [(Rwnd, 10), (Loss, 20), (Loss, 30), (Loss, 40)] {
            prevailing.fold(limit, Instant(at));
        }
        assert_eq!((prevailing.limit, prevailing.since), (Loss, Instant(20)));
        prevailing.rest(Instant(50));
        prevailing.rest(Instant(60));
        assert_eq!((prevailing.limit, prevailing.since), (Limit::None, Instant(50)));
    }
}
