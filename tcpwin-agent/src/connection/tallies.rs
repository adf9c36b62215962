//! What only metrics tell, kept as intervals end and connections close.

use std::sync::Arc;

use crate::classify::{Direction, Limit, Verdict};
use crate::connection::entry::Entry;
use crate::connection::grouping::Grouping;
use crate::connection::interval::Interval;
use crate::observation::{FastOpen, Observation, Origin};
use crate::snapshot::{Held, Spent, Tally, Witness};
use crate::units::{BytesPerSec, Micros, Nanos};

/// Where a verdict counts: nothing holds an idle connection in either direction, and of an unknown cause nobody knows.
pub(super) fn held(verdict: &Verdict) -> Held {
    let direction = match verdict.limit {
        Limit::None | Limit::Unknown => None,
        _ => Some(verdict.direction),
    };
    (verdict.limit, direction)
}

/// Where an idle connection counts.
pub(super) const IDLE: Held = (Limit::None, None);

/// The tally, and what it is told apart by. A snapshot shares it until the next change.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    tally: Arc<Tally>,
    grouping: Grouping,
    ticks: u64,
}

impl Tallies {
    pub(super) fn new(grouping: Grouping) -> Self {
        Self {
            grouping,
            ..Self::default()
        }
    }

    pub(super) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    fn change(&mut self) -> &mut Tally {
        Arc::make_mut(&mut self.tally)
    }

    pub(super) fn found(&mut self, held: Held) {
        *self.change().connections.entry(held).or_default() += 1;
    }

    pub(super) fn gone(&mut self, held: Held) {
        if let Some(count) = self.change().connections.get_mut(&held) {
            *count = count.saturating_sub(1);
        }
    }

    /// That many connections had nothing to do for this long.
    pub(super) fn idled(&mut self, connections: usize, time: Nanos) {
        let seconds = connections as f64 * time.seconds();
        self.change().spent.entry(IDLE).or_default().seconds += seconds;
    }

    /// What happened in an interval, whatever limited it.
    pub(super) fn moved(&mut self, interval: &Interval) {
        let seconds = interval.span.seconds();
        let tally = self.change();
        if let Some(budget) = interval.budget {
            for (sum, share) in tally.budget.iter_mut().zip(budget.share) {
                *sum += share * seconds;
            }
        }
        tally.zero_window += interval.zero_window.unwrap_or(0.0) * seconds;
        if let Some(calls) = interval.calls.filter(|calls| calls.sends > 0) {
            let mean = calls.sent_bytes as f64 / calls.sends as f64;
            tally.distributions.write.observe(mean);
        }
    }

    /// A connection was seen whose handshake nobody knew the length of before.
    pub(super) fn shook_hands(&mut self, seen: &Observation) {
        let Some(micros) = seen.tcp.handshake_us else {
            return;
        };
        let distributions = &mut self.change().distributions;
        let of_end = match seen.origin {
            Origin::Connect => &mut distributions.handshake_connect,
            Origin::Accept => &mut distributions.handshake_accept,
            Origin::Seeded => return,
        };
        of_end.observe(Micros(micros).seconds());
    }

    /// An interval was counted to the entry's limit; `next` is the rate that lifting it would give.
    pub(super) fn spent(&mut self, entry: &Entry, spent: Spent, next: Option<BytesPerSec>) {
        let verdict = &entry.verdict;
        let group = self.grouping.of(entry, &self.tally);
        let witness = Witness {
            tick: self.ticks,
            not_moved: spent.not_moved,
            key: entry.last.key,
        };
        let tally = self.change();
        tally.spent.entry(held(verdict)).or_default().add(spent);
        if spent.not_moved > 0 {
            let last = tally.witnesses.entry(held(verdict)).or_insert(witness);
            *last = witness.max(*last);
        }
        if let Some(group) = group {
            let limits = tally.groups.entry(group).or_default();
            limits.entry(verdict.limit).or_default().add(spent);
        }
        if spent.bytes > 0 {
            sample(tally, entry, next);
        }
    }

    /// A tick has ended.
    pub(super) const fn tick(&mut self) {
        self.ticks += 1;
    }

    /// A connection was seen closing.
    pub(super) fn closed(&mut self, last: &Observation) {
        let tally = self.change();
        let distributions = &mut tally.distributions;
        if last.origin != Origin::Seeded {
            distributions.life.observe(last.at.since(last.since).seconds());
        }
        if let Some(acked) = last.totals.bytes_acked {
            // The kernel counts our SYN as a byte.
            let syn = u64::from(last.origin == Origin::Connect);
            distributions.sent.observe(acked.saturating_sub(syn) as f64);
        }
        if let Some(received) = last.totals.bytes_received {
            distributions.received.observe(received as f64);
        }
        let outcomes = &mut tally.fastopen;
        match (last.origin, last.tcp.fastopen) {
            (Origin::Connect, Some(FastOpen::CookieRequested)) => outcomes.requested += 1,
            (Origin::Connect, Some(FastOpen::DataAccepted)) => outcomes.taken += 1,
            (Origin::Connect, Some(FastOpen::DataRefused)) => outcomes.refused += 1,
            (Origin::Accept, Some(FastOpen::DataAccepted)) => outcomes.accepted += 1,
            // Of an older connection nobody saw which end opened it; the rest does not happen.
            _ => {}
        }
    }
}

/// The figures of a busy connection at the end of its interval.
fn sample(tally: &mut Tally, entry: &Entry, next: Option<BytesPerSec>) {
    let tcp = &entry.last.tcp;
    let rate = entry.rate();
    let distributions = &mut tally.distributions;
    if let Some(srtt) = tcp.srtt_us.filter(|srtt| *srtt > 0) {
        distributions.srtt.observe(Micros(srtt).seconds());
    }
    if let Some(min_rtt) = tcp.min_rtt_us.filter(|min_rtt| *min_rtt > 0) {
        distributions.min_rtt.observe(Micros(min_rtt).seconds());
        if rate.0 > 0.0 {
            distributions.bdp.observe(rate.bdp(Micros(min_rtt)).0 as f64);
        }
    }
    if rate.0 <= 0.0 {
        return;
    }
    if let Some(next) = next {
        distributions.gain.observe((next.0 / rate.0).max(1.0));
    }
    if entry.verdict.direction == Direction::Send
        && let Some(unsent) = tcp.unsent
    {
        distributions.queue_delay.observe(f64::from(unsent) / rate.0);
    }
}
