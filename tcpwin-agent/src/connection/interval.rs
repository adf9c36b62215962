//! What happened on one connection between two observations.

use crate::observation::{CallCounts, Origin, Retransmits, Tcp, TcpState};
use crate::units::{Bytes, BytesPerSec, Nanos};

/// Shares of the interval by budget state, and what was in flight meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetShares {
    /// By `tcpwin_common::BUDGET_*`; sums to 1 for an interval longer than zero.
    pub share: [f64; tcpwin_common::BUDGET_STATES],
    /// Mean outstanding bytes while in the state; `None` where no time was spent in it.
    pub flight: [Option<f64>; tcpwin_common::BUDGET_STATES],
}

/// The last intervals of a connection taken together, this one included: what a second alone cannot show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recent {
    /// How many, at least one.
    pub intervals: u32,
    /// Their length together.
    pub span: Nanos,
    /// Bytes the peer acknowledged.
    pub acked: Bytes,
    /// Bytes received in order.
    pub received: Bytes,
    /// Segments retransmitted.
    pub retransmits: u32,
    /// Segments delivered.
    pub delivered: u32,
    /// Entries into recovery or loss.
    pub cwnd_falls: u32,
    /// The newest falls, sixteen where there are as many, however long ago; never the first few of a connection, which slow start's overshoot may have
    /// cost.
    pub falls_counted: u32,
    /// Sum over those counted of cwnd as it was, segments, and the sum of its squares.
    pub fall_cwnd: (u64, u64),
    /// Mean sending rate of the newest five.
    pub rate: BytesPerSec,
    /// Standard deviation of their sending rates over that; 0 for a steady or a single one.
    pub rate_cv: f64,
    /// Mean receiving rate of the newest five.
    pub receive_rate: BytesPerSec,
    /// The same of their receiving rates.
    pub receive_cv: f64,
    /// Since when nothing was acknowledged though something was outstanding; zero while ACKs come.
    pub unanswered: Nanos,
}

impl Recent {
    /// Mean of cwnd at the falls that count, and its standard deviation ÷ mean.
    #[must_use]
    pub fn fall_spread(&self) -> Option<(f64, f64)> {
        let (sum, squares) = self.fall_cwnd;
        let count = f64::from(self.falls_counted);
        let mean = sum as f64 / count;
        let variance = (squares as f64 / count - mean * mean).max(0.0);
        (mean > 0.0 && mean.is_finite()).then(|| (mean, variance.sqrt() / mean))
    }
}

/// The deltas between two observations, and the socket as it is at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its length.
    pub span: Nanos,
    /// Since the connection was first seen, at the end of the interval.
    pub age: Nanos,
    /// How the connection came to be known.
    pub origin: Origin,
    /// TCP state at the end.
    pub state: TcpState,
    /// Bytes the peer acknowledged.
    pub acked: Option<Bytes>,
    /// Bytes received in order.
    pub received: Option<Bytes>,
    /// Time budget.
    pub budget: Option<BudgetShares>,
    /// Calls of the program.
    pub calls: Option<CallCounts>,
    /// Segments retransmitted.
    pub retransmits: Option<u32>,
    /// The same by kind.
    pub retransmits_by_kind: Option<Retransmits>,
    /// Segments delivered.
    pub delivered: Option<u32>,
    /// Segments received.
    pub segments_in: Option<u64>,
    /// Entries into recovery or loss.
    pub cwnd_falls: Option<u32>,
    /// Those after the first few, which slow start's overshoot may have cost; the sum over them of cwnd as it was, segments, and the sum of its squares.
    pub fall_cwnd: Option<(u32, u64, u64)>,
    /// Share of the interval with data unsent and the peer's window below one segment.
    pub zero_window: Option<f64>,
    /// Share of the interval in which less than a segment waited for an ACK (Nagle).
    pub nagle: Option<f64>,
    /// Share of the interval in which data waited in the host below TCP (the small-queue limit).
    pub throttled: Option<f64>,
    /// Inbound segments with data.
    pub data_segments: Option<u32>,
    /// Mean of what the program had not read when inbound data came; `None` when none came.
    pub unread: Option<Bytes>,
    /// Most bytes that one ACK acknowledged, over the connection's life.
    pub ack_max: Option<u32>,
    /// Kernel's chronos in the interval as shares: busy, rwnd-limited, sndbuf-limited.
    pub chrono: Option<[f64; 3]>,
    /// Segments retransmitted over the connection's life.
    pub life_retransmits: Option<u32>,
    /// Segments delivered over the connection's life.
    pub life_delivered: Option<u32>,
    /// Bytes received over the connection's life.
    pub life_received: Option<Bytes>,
    /// With the intervals before it; absent where nobody keeps them.
    pub recent: Option<Recent>,
    /// Fields at the end.
    pub tcp: Tcp,
}

impl Interval {
    /// An interval of an established connection of which nothing is known.
    #[must_use]
    pub fn unknown(span: Nanos, age: Nanos) -> Self {
        Self {
            span,
            age,
            origin: Origin::Seeded,
            state: TcpState::Established,
            acked: None,
            received: None,
            budget: None,
            calls: None,
            retransmits: None,
            retransmits_by_kind: None,
            delivered: None,
            segments_in: None,
            cwnd_falls: None,
            fall_cwnd: None,
            zero_window: None,
            nagle: None,
            throttled: None,
            data_segments: None,
            unread: None,
            ack_max: None,
            chrono: None,
            life_retransmits: None,
            life_delivered: None,
            life_received: None,
            recent: None,
            tcp: Tcp::default(),
        }
    }

    /// Rate of acknowledged bytes.
    #[must_use]
    pub fn sending(&self) -> BytesPerSec {
        self.acked.unwrap_or_default().per(self.span)
    }

    /// Rate of received bytes.
    #[must_use]
    pub fn receiving(&self) -> BytesPerSec {
        self.received.unwrap_or_default().per(self.span)
    }
}
