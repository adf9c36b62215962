//! The figures of an interval as the limits' files read them: worked out once, named once.

use tcpwin_common::{
    BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF, BUDGET_STATES,
};

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
}

/// Where the shares of time come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shares {
    /// Kept by the probes, event by event.
    Measured,
    /// Guessed from the kernel's chronos and one look at the socket.
    Guessed,
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
    let rest_state = if tcp.unsent.unwrap_or(0) == 0 {
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

    /// Share of segments retransmitted over the connection's life.
    pub fn loss_ratio(&self) -> f64 {
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
            0.7
        };
        share.clamp(0.0, 1.0).min(most)
    }
}
