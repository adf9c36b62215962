//! What metrics tell beyond the summary: by direction, by group, and how figures are distributed.

use std::collections::BTreeMap;

use super::distribution::Distribution;
use crate::classify::{Direction, Limit};
use crate::observation::Key;

/// A limit, and the way in which it holds the bytes; no way where nothing holds them, or nobody knows what.
pub type Held = (Limit, Option<Direction>);

/// Time and bytes under a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds, summed over connections.
    pub seconds: f64,
    /// Bytes moved, both ways.
    pub bytes: u64,
    /// Bytes that lifting it would have moved beside these, where the next limit was known.
    pub not_moved: u64,
}

impl Spent {
    /// And this much more.
    pub const fn add(&mut self, more: Self) {
        self.seconds += more.seconds;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.not_moved = self.not_moved.saturating_add(more.not_moved);
    }
}

/// The connection that a limit cost most in the last interval in which it cost anything: whom to look at. The later interval is the
/// greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Witness {
    /// Number of that interval.
    pub tick: u64,
    /// Bytes not moved in it.
    pub not_moved: u64,
    /// Which connection.
    pub key: Key,
}

/// Whose connections, or to whom; a part that is not asked for is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    /// Name of the process (`comm`).
    pub process: String,
    /// cgroup path of the process.
    pub cgroup: String,
    /// Port of the listener that accepted them.
    pub listener: String,
    /// Prefix of the peers.
    pub peer: String,
}

/// What became of TCP Fast Open on connections that have closed; read from each connection, not from the host's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenOutcomes {
    /// We connected and asked for a cookie.
    pub requested: u64,
    /// We connected, and the peer took the data of the SYN.
    pub taken: u64,
    /// We connected, and the peer did not take it.
    pub refused: u64,
    /// We accepted, and took the data of the SYN.
    pub accepted: u64,
}

/// How figures are distributed, over the intervals of busy connections or over connections that closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distributions {
    /// Smoothed round-trip time, s.
    pub srtt: Distribution,
    /// Minimum round-trip time, s.
    pub min_rtt: Distribution,
    /// Rate × min_rtt, bytes.
    pub bdp: Distribution,
    /// Rate after lifting the limit ÷ rate.
    pub gain: Distribution,
    /// Mean of what the send calls of an interval took, bytes.
    pub write: Distribution,
    /// Unsent ÷ rate, s.
    pub queue_delay: Distribution,
    /// Handshakes of connections that this host opened, s.
    pub handshake_connect: Distribution,
    /// Handshakes of those that it accepted, s.
    pub handshake_accept: Distribution,
    /// From the first to the last of a connection, s.
    pub life: Distribution,
    /// Acknowledged over a connection's life, bytes.
    pub sent: Distribution,
    /// Received over a connection's life, bytes.
    pub received: Distribution,
}

/// Everything that only metrics tell. Not part of the JSON: Prometheus keeps what these grow to, readers of snapshots do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Connections open now.
    pub connections: BTreeMap<Held, u64>,
    /// Time and bytes.
    pub spent: BTreeMap<Held, Spent>,
    /// Who stands for the bytes not moved.
    pub witnesses: BTreeMap<Held, Witness>,
    /// The same by group, where that is asked for; time in which nothing happened is left out.
    pub groups: BTreeMap<Group, BTreeMap<Limit, Spent>>,
    /// Seconds by state of the kernel's time budget, while anything happened; by `tcpwin_common::BUDGET_*`.
    pub budget: [f64; tcpwin_common::BUDGET_STATES],
    /// Seconds with data unsent and the peer's window closed.
    pub zero_window: f64,
    /// Fast Open.
    pub fastopen: FastOpenOutcomes,
    /// Of figures.
    pub distributions: Distributions,
}
