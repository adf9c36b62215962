//! The last intervals of an active connection → [`Recent`].

use crate::classify::Direction;
use crate::connection::interval::{Interval, Recent};
use crate::units::{Bytes, BytesPerSec, Nanos};

/// Intervals kept, the current one included.
const KEPT: usize = 10;
/// Of those, the newest ones that rates are taken over.
const NEWEST: usize = 5;

/// Falls of cwnd whose likeness is told.
const FALLS: u32 = 16;

/// What is kept of one interval.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    span: Nanos,
    acked: u64,
    received: u64,
    retransmits: u32,
    delivered: u32,
    cwnd_falls: u32,
}

/// The last intervals of a connection, without a pause between them: an idle one has none, and one that was busy for a moment
/// takes no more memory than that.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// At most [`KEPT`].
    ring: Vec<Past>,
    /// Where the next one goes.
    next: usize,
    falls: Falls,
    /// Something was outstanding when the last interval ended.
    outstanding: bool,
    unanswered: Nanos,
}

impl History {
    /// The interval has ended; what it and those before it show together.
    pub(super) fn fold(&mut self, interval: &Interval) -> Recent {
        self.note_answers(interval);
        // A clock that stood still or stepped back gives no rate.
        if interval.span.0 > 0 {
            let past = Past::of(interval);
            if self.ring.len() < KEPT {
                self.ring.reserve_exact(1);
                self.ring.push(past);
            } else {
                self.ring[self.next] = past;
            }
            self.next = (self.next + 1) % KEPT;
        }
        self.falls.note(interval.fall_cwnd);
        self.together()
    }

    /// Counts the time without an ACK. It began with the interval where something was outstanding by then; where it was not,
    /// the time budget tells for how long at least.
    fn note_answers(&mut self, interval: &Interval) {
        let was_outstanding = std::mem::replace(&mut self.outstanding, is_outstanding(interval));
        let answered = interval.acked.is_none_or(|acked| acked.0 > 0);
        if answered || !self.outstanding {
            self.unanswered = Nanos(0);
            return;
        }
        let time = if was_outstanding {
            interval.span
        } else {
            interval.budget.map_or(Nanos(0), |budget| {
                let busy = 1.0 - budget.share[tcpwin_common::BUDGET_IDLE].clamp(0.0, 1.0);
                Nanos((interval.span.0 as f64 * busy) as u64)
            })
        };
        self.unanswered = Nanos(self.unanswered.0.saturating_add(time.0));
    }

    /// The newest intervals, the newest first; empty ones where there are fewer.
    fn newest(&self) -> [Past; NEWEST] {
        let at = |back: usize| self.ring.get((self.next + 2 * KEPT - 1 - back) % KEPT);
        std::array::from_fn(|back| at(back).copied().unwrap_or_default())
    }

    fn together(&self) -> Recent {
        let newest = self.newest();
        let newest = &newest[..self.ring.len().min(NEWEST)];
        let kept = &self.ring;
        let sum32 = |of: fn(&Past) -> u32| kept.iter().map(of).fold(0, u32::saturating_add);
        let sum64 = |of: fn(&Past) -> u64| kept.iter().map(of).fold(0, u64::saturating_add);
        let (falls_counted, fall_cwnd) = self.falls.newest();
        Recent {
            intervals: (kept.len() as u32).max(1),
            span: Nanos(sum64(|past| past.span.0)),
            acked: Bytes(sum64(|past| past.acked)),
            received: Bytes(sum64(|past| past.received)),
            retransmits: sum32(|past| past.retransmits),
            delivered: sum32(|past| past.delivered),
            cwnd_falls: sum32(|past| past.cwnd_falls),
            falls_counted,
            fall_cwnd,
            rate: mean(newest, |past| past.acked),
            rate_cv: variation(newest, |past| past.acked),
            receive_rate: mean(newest, |past| past.received),
            receive_cv: variation(newest, |past| past.received),
            unanswered: self.unanswered,
        }
    }

    /// Rates of the last `N` intervals in a direction, the newest first; `None` where there are not so many.
    pub(super) fn rates<const N: usize>(&self, direction: Direction) -> Option<[f64; N]> {
        if N > self.ring.len() {
            return None;
        }
        Some(std::array::from_fn(|back| {
            let past = &self.ring[(self.next + 2 * KEPT - 1 - back) % KEPT];
            let bytes = match direction {
                Direction::Send => past.acked,
                Direction::Receive => past.received,
            };
            Bytes(bytes).per(past.span).0
        }))
    }
}

/// Falls of cwnd by interval, the newest ones: they may lie minutes apart.
#[derive(Clone, Debug, Default)]
struct Falls {
    /// At most [`FALLS`].
    ring: Vec<(u32, u64, u64)>,
    /// Where the next one goes.
    next: usize,
}

impl Falls {
    fn note(&mut self, falls: Option<(u32, u64, u64)>) {
        let Some(falls) = falls.filter(|(count, ..)| *count > 0) else {
            return;
        };
        if self.ring.len() < FALLS as usize {
            self.ring.reserve_exact(1);
            self.ring.push(falls);
        } else {
            self.ring[self.next] = falls;
        }
        self.next = (self.next + 1) % FALLS as usize;
    }

    /// As many of the newest as hold [`FALLS`].
    fn newest(&self) -> (u32, (u64, u64)) {
        let (mut count, mut sums) = (0u32, (0u64, 0u64));
        let (newest, older) = self.ring.split_at(self.next.min(self.ring.len()));
        for (falls, cwnd, squares) in newest.iter().rev().chain(older.iter().rev()) {
            count = count.saturating_add(*falls);
            sums = (sums.0.saturating_add(*cwnd), sums.1.saturating_add(*squares));
            if count >= FALLS {
                break;
            }
        }
        (count, sums)
    }
}

impl Past {
    fn of(interval: &Interval) -> Self {
        Self {
            span: interval.span,
            acked: interval.acked.unwrap_or_default().0,
            received: interval.received.unwrap_or_default().0,
            retransmits: interval.retransmits.unwrap_or(0),
            delivered: interval.delivered.unwrap_or(0),
            cwnd_falls: interval.cwnd_falls.unwrap_or(0),
        }
    }
}

fn is_outstanding(interval: &Interval) -> bool {
    let tcp = &interval.tcp;
    tcp.packets_out.unwrap_or(0) > 0 || tcp.in_flight.unwrap_or(0) > 0
}

fn mean(kept: &[Past], bytes: fn(&Past) -> u64) -> BytesPerSec {
    let sum = |of: fn(&Past) -> u64| kept.iter().map(of).fold(0, u64::saturating_add);
    Bytes(sum(bytes)).per(Nanos(sum(|past| past.span.0)))
}

/// Standard deviation of the rates over their mean; each interval weighs as much as it is long, so that the short one
/// at a connection's end does not count for a whole.
fn variation(kept: &[Past], bytes: fn(&Past) -> u64) -> f64 {
    let span: f64 = kept.iter().map(|past| past.span.seconds()).sum();
    let mean = kept.iter().map(|past| bytes(past) as f64).sum::<f64>() / span;
    if kept.len() < 2 || !mean.is_finite() || mean <= 0.0 {
        return 0.0;
    }
    let variance = kept
        .iter()
        .map(|past| (Bytes(bytes(past)).per(past.span).0 - mean).powi(2) * past.span.seconds())
        .sum::<f64>()
        / span;
    variance.sqrt() / mean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::connection::interval::BudgetShares;
    use crate::observation::Tcp;

    const SECOND: u64 = 1_000_000_000;

    fn interval(span: u64, acked: u64, packets_out: u32) -> Interval {
        Interval {
            acked: Some(Bytes(acked)),
            received: Some(Bytes(0)),
            retransmits: Some(1),
            delivered: Some(2),
            tcp: Tcp {
                packets_out: Some(packets_out),
                ..Tcp::default()
            },
            ..Interval::unknown(Nanos(span), Nanos(span))
        }
    }

    #[test]
    fn the_oldest_interval_goes_when_the_ring_is_full() {
        let mut history = History::default();
        let mut recent = Recent::default();
        for count in 1..=12 {
            recent = history.fold(&interval(SECOND, count * 100, 1));
        }
        assert_eq!((recent.intervals, recent.span.0), (10, 10 * SECOND));
        assert_eq!(recent.acked.0, (3..=12).map(|count| count * 100).sum::<u64>());
        assert_eq!((recent.retransmits, recent.delivered), (10, 20));
        let sent = history.rates::<3>(Direction::Send);
        assert_eq!(sent, Some([1_200.0, 1_100.0, 1_000.0]));
        assert_eq!(history.rates::<3>(Direction::Receive), Some([0.0; 3]));
        assert_eq!(history.rates::<11>(Direction::Send), None);
    }

    #[test]
    fn a_clock_that_steps_back_leaves_the_rates_alone() {
        let mut history = History::default();
        assert_eq!(history.fold(&interval(0, 500, 1)).intervals, 1);
        history.fold(&interval(SECOND, 1_000, 1));
        let recent = history.fold(&interval(0, 1_000_000, 1));
        assert_eq!((recent.intervals, recent.acked.0), (1, 1_000));
        assert_eq!(recent.rate_cv, 0.0);
    }

    #[test]
    fn steadiness_weighs_intervals_by_their_length() {
        let mut steady = History::default();
        steady.fold(&interval(SECOND, 1_000, 1));
        assert_eq!(steady.fold(&interval(SECOND / 2, 500, 1)).rate_cv, 0.0);
        let mut uneven = History::default();
        uneven.fold(&interval(SECOND, 1_000, 1));
        assert!((uneven.fold(&interval(SECOND, 3_000, 1)).rate_cv - 0.5).abs() < 1e-9);
    }

    #[test]
    fn silence_is_counted_while_something_is_outstanding() {
        let mut history = History::default();
        history.fold(&interval(SECOND, 1_000, 4));
        let silent = |history: &mut History| history.fold(&interval(SECOND, 0, 4));
        assert_eq!(silent(&mut history).unanswered, Nanos(SECOND));
        let recent = silent(&mut history);
        assert_eq!(recent.unanswered, Nanos(2 * SECOND));
        let recent = history.fold(&interval(SECOND, 1, 4));
        assert_eq!(recent.unanswered, Nanos(0));
        // Nothing is outstanding: nobody owes an answer.
        assert_eq!(history.fold(&interval(SECOND, 0, 0)).unanswered, Nanos(0));
    }

    #[test]
    fn silence_that_begins_within_an_interval_is_as_long_as_the_budget_tells() {
        let mut begun = interval(SECOND, 0, 1);
        assert_eq!(History::default().fold(&begun).unanswered, Nanos(0));
        let mut budget = BudgetShares::default();
        budget.share[tcpwin_common::BUDGET_IDLE] = 0.75;
        budget.share[tcpwin_common::BUDGET_APP] = 0.25;
        begun.budget = Some(budget);
        assert_eq!(History::default().fold(&begun).unanswered, Nanos(SECOND / 4));
    }

    #[test]
    fn the_newest_falls_are_told_however_long_ago() {
        let mut falls = Falls::default();
        assert_eq!(falls.newest(), (0, (0, 0)));
        for cwnd in 1..=21 {
            falls.note(Some((1, cwnd, cwnd * cwnd)));
            falls.note(Some((0, 99, 99)));
        }
        assert_eq!(falls.newest().1.0, (6..=21).sum::<u64>());
        falls.note(Some((9, 900, 0)));
        assert_eq!(falls.newest(), (16, (1026, 2296)));
    }

    proptest! {
        #[test]
        fn any_counters_give_finite_figures(intervals in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u32>()), 1..30)) {
            let mut history = History::default();
            for (span, acked, packets_out) in intervals {
                let recent = history.fold(&interval(span, acked, packets_out));
                prop_assert!(recent.rate_cv.is_finite() && recent.rate_cv >= 0.0, "{recent:?}");
                prop_assert!((1..=10).contains(&recent.intervals));
            }
        }
    }
}
