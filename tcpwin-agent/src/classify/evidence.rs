//! The figures of an interval as the limits' files read them: worked out once, named once.

use tcpwin_common::{
    BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF, BUDGET_STATES,
};

use crate::classify::advice::Surroundings;
use crate::classify::{Direction, PathCapacity};
use crate::connection::interval::{BudgetShares, Interval};
use crate::units::{Bytes, BytesPerSec, Micros};

/// What is known beside the connection itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Context {
    /// `net.ipv4.tcp_wmem[2]`, bytes: how far the kernel lets a send buffer grow by itself.
    pub tcp_wmem_max: Option<u64>,
    /// What the path can carry, where it is known.
    pub path: Option<PathCapacity>,
    /// Share of the host's events that the source did not see lately.
    pub missed: f64,
    /// What advice depends on: whose the connection is, and how the host is set.
    pub around: Surroundings,
}

/// Memory that the kernel adds to a record of the send queue, bytes: 1,280 before 6.12, 896 since.
const RECORD_OVERHEAD: f64 = 1_280.0;
/// Payload of the largest record, bytes.
const LARGEST_RECORD: f64 = 65_536.0;

/// Most that a verdict from the kernel's chronos is worth: in the lab they are wrong too often for more.
const GUESS: f64 = 0.45;

/// Where the shares of time come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shares {
    /// Kept by the probes, event by event.
    Measured,
    /// Guessed from the kernel's chronos and one look at the socket.
    Guessed,
}

/// The pattern of a connection's losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Losses {
    /// Nobody kept them.
    Unknown,
    /// Too few of them, or neither of the others.
    Few,
    /// At one and the same cwnd.
    Alike,
    /// At any cwnd.
    Random,
}

/// What the program sends each time its peer's word prompts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    /// How many ended.
    pub count: u32,
    /// Mean of the most bytes unacknowledged in each.
    pub peak: f64,
    /// Standard deviation of those ÷ their mean.
    pub peak_cv: f64,
    /// Inbound segments with data to each prompt.
    pub words: f64,
    /// Mean bytes of those.
    pub word_size: f64,
    /// Mean of the bytes still unacknowledged when the next one was prompted.
    pub at_prompt: f64,
    /// Share of the prompts that found something on the way.
    pub in_flight_share: f64,
    /// Share of the program's pauses that ended by its peer's word.
    pub prompted_share: f64,
}

/// An interval with everything the rules ask for.
#[derive(Clone, Debug)]
pub(super) struct Evidence<'a> {
    pub interval: &'a Interval,
    pub context: &'a Context,
    pub direction: Direction,
    /// In `direction`.
    pub rate: BytesPerSec,
    /// Smoothed round-trip time; the one window ÷ RTT is true of, queue included.
    pub srtt: Option<Micros>,
    /// Least round-trip time seen: the path without queues.
    pub min_rtt: Option<Micros>,
    pub mss: u32,
    pub shares: BudgetShares,
    pub origin: Shares,
}

/// The kernel's chronos and one look at the socket as shares of time: no more than a guess, but of the same shape.
fn guess(interval: &Interval) -> Option<BudgetShares> {
    let [busy, rwnd, sndbuf] = interval.chrono?;
    let busy = busy.clamp(0.0, 1.0);
    let rwnd = rwnd.clamp(0.0, busy);
    let sndbuf = sndbuf.clamp(0.0, busy - rwnd);
    let rest = busy - rwnd - sndbuf;
    let tcp = &interval.tcp;
    let mut share = [0.0; BUDGET_STATES];
    share[BUDGET_IDLE] = 1.0 - busy;
    share[BUDGET_RWND] = rwnd;
    share[BUDGET_SNDBUF] = sndbuf;
    let full = match (tcp.packets_out, tcp.cwnd) {
        (Some(packets), Some(cwnd)) => packets >= cwnd,
        _ => false,
    };
    // What is unsent tells the program's time from ours: without it the rest is anybody's.
    let rest_state = if rest > 0.0 && tcp.unsent? == 0 {
        BUDGET_APP
    } else if !full && tcp.max_pacing_rate.is_some() {
        BUDGET_PACING
    } else {
        BUDGET_CWND
    };
    share[rest_state] += rest;
    let mut flight = [None; BUDGET_STATES];
    if let Some(in_flight) = tcp.in_flight {
        flight = [Some(f64::from(in_flight)); BUDGET_STATES];
    }
    Some(BudgetShares { share, flight })
}

impl<'a> Evidence<'a> {
    pub fn new(interval: &'a Interval, context: &'a Context) -> Option<Self> {
        let sending = interval.sending();
        let receiving = interval.receiving();
        let direction = if sending >= receiving {
            Direction::Send
        } else {
            Direction::Receive
        };
        let rate = if direction == Direction::Send {
            sending
        } else {
            receiving
        };
        let (shares, origin) = match interval.budget {
            Some(shares) => (shares, Shares::Measured),
            None => (guess(interval)?, Shares::Guessed),
        };
        let tcp = &interval.tcp;
        Some(Self {
            interval,
            context,
            direction,
            rate,
            srtt: tcp.srtt_us.filter(|us| *us > 0).map(Micros),
            min_rtt: tcp.min_rtt_us.filter(|us| *us > 0).map(Micros),
            mss: tcp.mss.filter(|mss| *mss > 0).unwrap_or(1448),
            shares,
            origin,
        })
    }

    /// The rate over the last intervals, where they were steady; else that of this one. An interval of a second holds five or
    /// six round trips of 181 ms: alone it is off by a tenth.
    pub fn steady_rate(&self) -> BytesPerSec {
        let (rate, cv) = match (&self.interval.recent, self.direction) {
            (Some(recent), Direction::Send) => (recent.rate, recent.rate_cv),
            (Some(recent), Direction::Receive) => (recent.receive_rate, recent.receive_cv),
            (None, _) => return self.rate,
        };
        match &self.interval.recent {
            Some(recent) if recent.intervals >= 2 && cv < 0.15 => rate,
            _ => self.rate,
        }
    }

    /// The round trip that the bytes of the interval took, delays of the ACKs included: what was outstanding on average ÷ the
    /// rate (Little's law). srtt where that is no round trip.
    pub fn byte_rtt(&self) -> Option<Micros> {
        let srtt = self.srtt?;
        let outstanding: f64 = (0..self.shares.share.len())
            .filter_map(|state| Some(self.shares.flight[state]? * self.shares.share[state]))
            .sum();
        let rtt = outstanding / self.steady_rate().0;
        let ratio = rtt / srtt.seconds();
        if self.origin == Shares::Measured && (0.8..=1.4).contains(&ratio) {
            return Some(Micros((rtt * 1e6) as u32));
        }
        Some(srtt)
    }

    /// Time in which the program gave no more.
    pub fn free(&self) -> f64 {
        self.share(BUDGET_IDLE) + self.share(BUDGET_APP)
    }

    /// Bursts that inbound data prompted; `None` where none was or the source cannot see calls.
    pub fn bursts(&self) -> Option<Bursts> {
        let calls = self.interval.calls?;
        let count = f64::from(calls.bursts);
        let prompted = calls.turns.saturating_add(calls.turns_in_flight);
        if calls.bursts == 0 || prompted == 0 {
            return None;
        }
        let peak = calls.burst_peak_sum as f64 / count;
        // The squares are kept in units of 64 B.
        let variance = calls.burst_peak_sq as f64 / count - (peak / 64.0) * (peak / 64.0);
        (peak > 0.0).then(|| Bursts {
            count: calls.bursts,
            peak,
            peak_cv: variance.max(0.0).sqrt() * 64.0 / peak,
            at_prompt: calls.turn_flight_sum as f64 / count,
            words: f64::from(self.interval.data_segments.unwrap_or(0)) / f64::from(prompted),
            word_size: self.interval.received.unwrap_or_default().0 as f64
                / f64::from(self.interval.data_segments.unwrap_or(0).max(1)),
            in_flight_share: f64::from(calls.turns_in_flight) / f64::from(prompted),
            prompted_share: if calls.pauses == 0 {
                1.0
            } else {
                f64::from(calls.pauses_prompted) / f64::from(calls.pauses)
            },
        })
    }

    /// Payload per byte of send buffer: as what it holds now shows, or as the program's writes let expect once the peer's window
    /// does not cut them up, whichever is more. 0.5 where neither can be seen: the kernel's own bookkeeping may take as much as
    /// the data.
    pub fn payload(&self) -> f64 {
        let tcp = &self.interval.tcp;
        let held = f64::from(tcp.unsent.unwrap_or(0)) + f64::from(tcp.in_flight.unwrap_or(0));
        let held = match tcp.wmem_queued {
            Some(queued) if queued >= 32_768 && held > 0.0 => (held / f64::from(queued)).clamp(0.05, 2.0),
            _ => 0.0,
        };
        let written = self
            .interval
            .calls
            .filter(|calls| calls.sends > 0)
            .map_or(0.0, |calls| {
                let size = (calls.sent_bytes as f64 / calls.sends as f64).min(LARGEST_RECORD);
                size / (size + RECORD_OVERHEAD)
            });
        match held.max(written) {
            0.0 => 0.5,
            payload => payload,
        }
    }

    /// Round trip as the receiving side sees it: its own estimate of what comes in, else that of what it sends.
    pub fn receiver_rtt(&self) -> Option<Micros> {
        self.interval
            .tcp
            .rcv_rtt_us
            .filter(|us| *us > 0)
            .map(Micros)
            .or(self.srtt)
    }

    /// Share of the interval in a state.
    pub fn share(&self, state: usize) -> f64 {
        self.shares.share[state]
    }

    /// Share in which something held data back.
    pub fn held(&self) -> f64 {
        self.share(BUDGET_SNDBUF)
            + self.share(BUDGET_RWND)
            + self.share(BUDGET_CWND)
            + self.share(BUDGET_PACING)
    }

    /// The state that held data back for longest, and its share.
    pub fn dominant(&self) -> (usize, f64) {
        [BUDGET_SNDBUF, BUDGET_RWND, BUDGET_CWND, BUDGET_PACING]
            .into_iter()
            .map(|state| (state, self.share(state)))
            .fold(
                (BUDGET_CWND, 0.0),
                |best, next| if next.1 > best.1 { next } else { best },
            )
    }

    /// Mean outstanding bytes while in a state.
    pub fn flight(&self, state: usize) -> Option<Bytes> {
        self.shares.flight[state].map(|bytes| Bytes(bytes.max(0.0) as u64))
    }

    /// srtt ÷ min_rtt: how much of the round trip is queue. 1 where either is not known.
    pub fn inflation(&self) -> f64 {
        match (self.srtt, self.min_rtt) {
            (Some(srtt), Some(min)) => (srtt.seconds() / min.seconds()).max(1.0),
            _ => 1.0,
        }
    }

    /// The path's queue is not empty: srtt stands clearly above the least round-trip time, by more than its own noise.
    pub fn is_queueing(&self) -> bool {
        let (Some(srtt), Some(min)) = (self.srtt, self.min_rtt) else {
            return false;
        };
        let noise = self.interval.tcp.rttvar_us.unwrap_or(0);
        let above = srtt.0.saturating_sub(min.0);
        self.inflation() > 1.15 && above > 1_000 && above > noise
    }

    /// What cwnd at its falls tells of the losses. A policer strikes at the same cwnd each time, random loss at any: in the lab
    /// the spread is 0.01–0.10 and 0.23 or more; that of few random ones may be small by chance.
    pub fn losses(&self) -> Losses {
        let Some(recent) = &self.interval.recent else {
            return Losses::Unknown;
        };
        match (recent.falls_counted, recent.fall_spread()) {
            (8.., Some((_, cv))) if cv > 0.16 => Losses::Random,
            (12.., Some((_, cv))) if cv < 0.13 => Losses::Alike,
            (8.., Some((_, cv))) if cv < 0.10 => Losses::Alike,
            (5.., Some((_, cv))) if cv < 0.05 => Losses::Alike,
            _ => Losses::Few,
        }
    }

    /// Share of segments retransmitted lately, or where that is not known over the connection's life.
    pub fn loss_ratio(&self) -> f64 {
        if let Some(recent) = self.interval.recent.filter(|recent| recent.delivered > 0) {
            return f64::from(recent.retransmits) / f64::from(recent.delivered);
        }
        match (self.interval.life_retransmits, self.interval.life_delivered) {
            (Some(lost), Some(delivered)) if delivered > 0 => f64::from(lost) / f64::from(delivered),
            _ => 0.0,
        }
    }

    /// The congestion control finds the bandwidth by itself and paces to it.
    pub fn is_bbr(&self) -> bool {
        self.interval
            .tcp
            .congestion
            .as_deref()
            .is_some_and(|name| name.starts_with("bbr"))
    }

    /// Confidence from the share of time that speaks for a verdict; a guess is worth less than a measurement.
    pub fn confidence(&self, share: f64) -> f64 {
        let most = if self.origin == Shares::Measured {
            0.99
        } else {
            GUESS
        };
        share.clamp(0.0, 1.0).min(most)
    }
}
