//! Two observations → an [`Interval`]. Total: counters that run backwards count as no progress.

use tcpwin_common::{BUDGET_IDLE, BUDGET_STATES};

use crate::connection::interval::{BudgetShares, Interval};
use crate::observation::{BudgetTotals, CallCounts, Observation, Origin, Retransmits, Totals};
use crate::units::{Bytes, Instant, Nanos};

/// What the start of an interval must remember of an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Baseline {
    at: Instant,
    totals: Totals,
    budget: Option<BudgetTotals>,
    calls: Option<CallCounts>,
}

impl Baseline {
    /// The interval starts with this observation.
    pub(super) fn of(observation: &Observation) -> Self {
        Self {
            at: observation.at,
            totals: observation.totals,
            budget: observation.budget,
            calls: observation.calls,
        }
    }

    /// The interval starts with the connection: every total counts from zero.
    pub(super) fn birth(observation: &Observation) -> Self {
        Self {
            at: observation.since,
            totals: Totals {
                bytes_acked: observation.totals.bytes_acked.map(|_| 0),
                bytes_received: observation.totals.bytes_received.map(|_| 0),
                retransmits: observation.totals.retransmits.map(|_| 0),
                retransmits_by_kind: observation
                    .totals
                    .retransmits_by_kind
                    .map(|_| Retransmits::default()),
                delivered: observation.totals.delivered.map(|_| 0),
                segments_in: observation.totals.segments_in.map(|_| 0),
                cwnd_falls: observation.totals.cwnd_falls.map(|_| 0),
                fall_cwnd: observation.totals.fall_cwnd.map(|_| (0, 0, 0)),
                zero_window_ns: observation.totals.zero_window_ns.map(|_| 0),
                nagle_ns: observation.totals.nagle_ns.map(|_| 0),
                throttled_ns: observation.totals.throttled_ns.map(|_| 0),
                unread: observation.totals.unread.map(|_| (0, 0)),
                ack_max: observation.totals.ack_max,
                chrono_us: observation.totals.chrono_us.map(|_| [0; 3]),
            },
            budget: observation.budget.map(|_| BudgetTotals::default()),
            calls: observation.calls.map(|_| CallCounts::default()),
        }
    }

    /// When the interval starts.
    pub(super) const fn start(&self) -> Instant {
        self.at
    }

    /// The connection was quiet until `at`: the interval starts there, and the time until then was idle.
    pub(super) fn advance_idle(&mut self, at: Instant) {
        let quiet = at.since(self.at);
        if quiet.0 == 0 {
            return;
        }
        self.at = at;
        if let Some(budget) = &mut self.budget {
            budget.ns[BUDGET_IDLE] = budget.ns[BUDGET_IDLE].saturating_add(quiet.0);
        }
    }

    /// Until `end`.
    pub(super) fn interval(&self, end: &Observation) -> Interval {
        let span = end.at.since(self.at);
        let start = &self.totals;
        let totals = &end.totals;
        Interval {
            span,
            age: end.at.since(end.since),
            origin: end.origin,
            state: end.state,
            acked: delta64(start.bytes_acked, totals.bytes_acked)
                .map(|bytes| Bytes(without_syn(bytes, start, end))),
            received: delta64(start.bytes_received, totals.bytes_received).map(Bytes),
            budget: shares(self.budget.as_ref(), end.budget.as_ref()),
            calls: calls(self.calls.as_ref(), end.calls.as_ref()),
            retransmits: delta32(start.retransmits, totals.retransmits),
            retransmits_by_kind: by_kind(start.retransmits_by_kind, totals.retransmits_by_kind),
            delivered: delta32(start.delivered, totals.delivered),
            segments_in: delta64(start.segments_in, totals.segments_in),
            cwnd_falls: delta32(start.cwnd_falls, totals.cwnd_falls),
            fall_cwnd: falls(start.fall_cwnd, totals.fall_cwnd),
            zero_window: delta64(start.zero_window_ns, totals.zero_window_ns).map(|ns| part(ns, span)),
            nagle: delta64(start.nagle_ns, totals.nagle_ns).map(|ns| part(ns, span)),
            throttled: delta64(start.throttled_ns, totals.throttled_ns).map(|ns| part(ns, span)),
            data_segments: delta32(
                start.unread.map(|(segments, _)| segments),
                totals.unread.map(|(segments, _)| segments),
            ),
            unread: mean_unread(start.unread, totals.unread),
            ack_max: totals.ack_max,
            chrono: chrono(start.chrono_us, totals.chrono_us, span),
            life_retransmits: totals.retransmits,
            life_delivered: totals.delivered,
            life_received: totals.bytes_received.map(Bytes),
            recent: None,
            tcp: end.tcp.clone(),
        }
    }
}

/// The kernel counts the SYN of a connecting socket as a byte acknowledged.
fn without_syn(bytes: u64, start: &Totals, end: &Observation) -> u64 {
    let counts_syn = start.bytes_acked == Some(0) && end.origin == Origin::Connect;
    bytes.saturating_sub(u64::from(counts_syn))
}

fn delta64(start: Option<u64>, end: Option<u64>) -> Option<u64> {
    Some(end?.saturating_sub(start?))
}

fn delta32(start: Option<u32>, end: Option<u32>) -> Option<u32> {
    Some(end?.saturating_sub(start?))
}

fn falls(start: Option<(u32, u64, u64)>, end: Option<(u32, u64, u64)>) -> Option<(u32, u64, u64)> {
    let (start, end) = (start?, end?);
    Some((
        end.0.saturating_sub(start.0),
        end.1.saturating_sub(start.1),
        end.2.saturating_sub(start.2),
    ))
}

fn mean_unread(start: Option<(u32, u64)>, end: Option<(u32, u64)>) -> Option<Bytes> {
    let ((segments_from, from), (segments_to, to)) = (start?, end?);
    let segments = segments_to.saturating_sub(segments_from);
    to.saturating_sub(from)
        .checked_div(u64::from(segments))
        .map(Bytes)
}

fn part(ns: u64, span: Nanos) -> f64 {
    if span.0 == 0 {
        0.0
    } else {
        (ns as f64 / span.0 as f64).clamp(0.0, 1.0)
    }
}

fn by_kind(start: Option<Retransmits>, end: Option<Retransmits>) -> Option<Retransmits> {
    let (start, end) = (start?, end?);
    Some(Retransmits {
        fast: end.fast.saturating_sub(start.fast),
        rto: end.rto.saturating_sub(start.rto),
        tlp: end.tlp.saturating_sub(start.tlp),
    })
}

fn chrono(start: Option<[u64; 3]>, end: Option<[u64; 3]>, span: Nanos) -> Option<[f64; 3]> {
    let (start, end) = (start?, end?);
    Some(std::array::from_fn(|index| {
        part(end[index].saturating_sub(start[index]).saturating_mul(1000), span)
    }))
}

fn calls(start: Option<&CallCounts>, end: Option<&CallCounts>) -> Option<CallCounts> {
    let (start, end) = (start?, end?);
    Some(CallCounts {
        sends: end.sends.saturating_sub(start.sends),
        sent_bytes: end.sent_bytes.saturating_sub(start.sent_bytes),
        send_max: end.send_max,
        send_refused: end.send_refused.saturating_sub(start.send_refused),
        send_failed: end.send_failed.saturating_sub(start.send_failed),
        recvs: end.recvs.saturating_sub(start.recvs),
        recv_bytes: end.recv_bytes.saturating_sub(start.recv_bytes),
        resumes: end.resumes.saturating_sub(start.resumes),
        turns: end.turns.saturating_sub(start.turns),
        turns_in_flight: end.turns_in_flight.saturating_sub(start.turns_in_flight),
        unblocks: end.unblocks.saturating_sub(start.unblocks),
        pauses: end.pauses.saturating_sub(start.pauses),
        pauses_prompted: end.pauses_prompted.saturating_sub(start.pauses_prompted),
        bursts: end.bursts.saturating_sub(start.bursts),
        burst_peak_sum: end.burst_peak_sum.saturating_sub(start.burst_peak_sum),
        burst_peak_sq: end.burst_peak_sq.saturating_sub(start.burst_peak_sq),
        turn_flight_sum: end.turn_flight_sum.saturating_sub(start.turn_flight_sum),
    })
}

/// Shares of the time the budget accounts for. That time and the span differ by the events between two reads: shares are of
/// their own sum, so that they always sum to one.
fn shares(start: Option<&BudgetTotals>, end: Option<&BudgetTotals>) -> Option<BudgetShares> {
    let (start, end) = (start?, end?);
    let ns: [u64; BUDGET_STATES] = std::array::from_fn(|state| end.ns[state].saturating_sub(start.ns[state]));
    let sum: f64 = ns.iter().map(|ns| *ns as f64).sum();
    if sum <= 0.0 {
        return None;
    }
    Some(BudgetShares {
        share: ns.map(|ns| ns as f64 / sum),
        flight: std::array::from_fn(|state| {
            // Both integrals count in steps of 1,024 ns.
            let time = ns[state] >> 10;
            let flight = end.flight[state].saturating_sub(start.flight[state]);
            (time > 0).then(|| flight as f64 / time as f64)
        }),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::classify::{Context, classify};
    use crate::observation::{Endpoints, Key, OwnerHint, Tcp, TcpState};
    use crate::units::BytesPerSec;

    prop_compose! {
        fn observation()(
            at in any::<u64>(), since in any::<u64>(), acked in any::<Option<u64>>(), received in any::<Option<u64>>(),
            retransmits in any::<Option<u32>>(), ns in any::<[u64; BUDGET_STATES]>(), flight in any::<[u64; BUDGET_STATES]>(),
            sends in any::<u64>(), srtt_us in any::<Option<u32>>(), chrono_us in any::<Option<[u64; 3]>>(),
        ) -> Observation {
            let end = ([192, 0, 2, 1], 443).into();
            Observation {
                key: Key { cookie: 1, netns: 1 },
                at: Instant(at),
                since: Instant(since),
                origin: Origin::Connect,
                endpoints: Endpoints { local: end, peer: end },
                state: TcpState::Established,
                owner: OwnerHint::default(),
                tcp: Tcp { srtt_us, ..Tcp::default() },
                totals: Totals { bytes_acked: acked, bytes_received: received, retransmits, chrono_us, ..Totals::default() },
                budget: Some(BudgetTotals { ns, flight }),
                calls: Some(CallCounts { sends, ..CallCounts::default() }),
            }
        }
    }

    proptest! {
        // Counters wrap or were reset, clocks step back: whatever two looks say, an interval is sound.
        #[test]
        fn any_two_looks_give_a_sound_interval(start in observation(), end in observation()) {
            for baseline in [Baseline::of(&start), Baseline::birth(&end)] {
                let interval = baseline.interval(&end);
                if let Some(shares) = interval.budget {
                    let sum: f64 = shares.share.iter().sum();
                    prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
                    prop_assert!(shares.flight.iter().flatten().all(|bytes| bytes.is_finite() && *bytes >= 0.0));
                }
                for rate in [interval.sending(), interval.receiving()] {
                    prop_assert!(rate.0.is_finite() && rate >= BytesPerSec(0.0), "{rate:?}");
                }
                let verdict = classify(&interval, &Context::default());
                prop_assert!(verdict.ledger.iter().all(|ceiling| ceiling.rate.0.is_finite() && ceiling.rate.0 >= 0.0));
            }
        }
    }
}
