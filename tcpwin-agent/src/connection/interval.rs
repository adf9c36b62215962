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
    /// Share of the interval with data unsent and the peer's window below one segment.
    pub zero_window: Option<f64>,
    /// Kernel's chronos in the interval as shares: busy, rwnd-limited, sndbuf-limited.
    pub chrono: Option<[f64; 3]>,
    /// Segments retransmitted over the connection's life.
    pub life_retransmits: Option<u32>,
    /// Segments delivered over the connection's life.
    pub life_delivered: Option<u32>,
    /// Fields at the end.
    pub tcp: Tcp,
}

impl Interval {
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
