//! Interval → Verdict. Pure: no clock, no I/O, no async; total on any counters.

pub mod advice;
mod decide;
mod evidence;
pub mod floor;
pub mod group;
mod ledger;
mod limit;
mod path;

use serde::{Deserialize, Serialize};

pub use decide::classify;
pub use evidence::Context;
pub use path::{Link, Path, PathCapacity, PathOrigin};

use crate::classify::advice::Ask;
use crate::units::BytesPerSec;

/// The class on every screen and metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A window: send buffer, receive window, congestion window, a protocol's own.
    Window,
    /// The bandwidth of the path.
    Bandwidth,
    /// Loss on the path.
    Loss,
    /// The program.
    App,
    /// This host below TCP.
    Host,
    /// Nothing: idle or healthy.
    None,
    /// Not told, with the reason in the proof.
    Unknown,
}

/// The cause within a [`Bound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Our send buffer.
    Sndbuf,
    /// The peer's receive window.
    Rwnd,
    /// The peer's receive window, held down by the lack of window scaling.
    RwndScale,
    /// The peer's receive window, because its program reads slowly.
    RwndReader,
    /// Slow start, a few round trips old.
    CwndStartup,
    /// A clamp on cwnd.
    CwndClamp,
    /// A window of the protocol above TCP: HTTP/2, SSH, a fixed number of requests under way.
    AppWindow,
    /// Receiving: the window we offer holds the peer, since our receive buffer is small.
    Rcvbuf,
    /// Receiving: the window we offer holds the peer, since our program reads slowly.
    Reader,
    /// The path's bandwidth.
    Bandwidth,
    /// A token bucket on the path, which drops what exceeds its rate.
    Policer,
    /// SO_MAX_PACING_RATE.
    Pacing,
    /// Random loss.
    Loss,
    /// Small segments pass, full-size ones never.
    MtuBlackhole,
    /// Nothing acknowledged, the timer backs off.
    Stalled,
    /// One answer per round trip.
    Turns,
    /// Writes smaller than a segment: Nagle waits for a delayed ACK, or each write costs a system call.
    SmallWrites,
    /// The program offers less than any window would carry.
    App,
    /// This host below TCP: its queues, its driver, one core in softirq.
    Host,
    /// Idle or healthy.
    None,
    /// Not told.
    Unknown,
}

impl Limit {
    /// All, in the order of design.
    pub const ALL: [Self; 21] = [
        Self::Sndbuf,
        Self::Rwnd,
        Self::RwndScale,
        Self::RwndReader,
        Self::CwndStartup,
        Self::CwndClamp,
        Self::AppWindow,
        Self::Rcvbuf,
        Self::Reader,
        Self::Bandwidth,
        Self::Policer,
        Self::Pacing,
        Self::Loss,
        Self::MtuBlackhole,
        Self::Stalled,
        Self::Turns,
        Self::SmallWrites,
        Self::App,
        Self::Host,
        Self::None,
        Self::Unknown,
    ];

    /// The class this cause belongs to.
    #[must_use]
    pub const fn bound(self) -> Bound {
        match self {
            Self::Sndbuf
            | Self::Rwnd
            | Self::RwndScale
            | Self::RwndReader
            | Self::CwndStartup
            | Self::CwndClamp
            | Self::AppWindow
            | Self::Rcvbuf
            | Self::Reader => Bound::Window,
            Self::Bandwidth | Self::Policer | Self::Pacing => Bound::Bandwidth,
            Self::Loss | Self::MtuBlackhole | Self::Stalled => Bound::Loss,
            Self::Turns | Self::SmallWrites | Self::App => Bound::App,
            Self::Host => Bound::Host,
            Self::None => Bound::None,
            Self::Unknown => Bound::Unknown,
        }
    }

    /// The name in JSON, metrics and filters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sndbuf => "sndbuf",
            Self::Rwnd => "rwnd",
            Self::RwndScale => "rwnd_scale",
            Self::RwndReader => "rwnd_reader",
            Self::CwndStartup => "cwnd_startup",
            Self::CwndClamp => "cwnd_clamp",
            Self::AppWindow => "app_window",
            Self::Rcvbuf => "rcvbuf",
            Self::Reader => "reader",
            Self::Bandwidth => "bandwidth",
            Self::Policer => "policer",
            Self::Pacing => "pacing",
            Self::Loss => "loss",
            Self::MtuBlackhole => "mtu_blackhole",
            Self::Stalled => "stalled",
            Self::Turns => "turns",
            Self::SmallWrites => "small_writes",
            Self::App => "app",
            Self::Host => "host",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

impl Bound {
    /// All, in the order they are stacked on screens.
    pub const ALL: [Self; 7] = [
        Self::Window,
        Self::Loss,
        Self::Bandwidth,
        Self::Host,
        Self::App,
        Self::Unknown,
        Self::None,
    ];

    /// The name in JSON, metrics and filters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Bandwidth => "bandwidth",
            Self::Loss => "loss",
            Self::App => "app",
            Self::Host => "host",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// Who must act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The program on this host.
    LocalApp,
    /// This host's kernel settings.
    LocalKernel,
    /// The peer's kernel settings.
    PeerKernel,
    /// The peer's program.
    PeerApp,
    /// The path between.
    Path,
    /// Nobody: time or nothing.
    Nobody,
}

/// Which way the bytes of the interval went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// This host sends the bulk.
    #[default]
    Send,
    /// This host receives the bulk.
    Receive,
}

/// A rate that a limit allows, with its formula and numbers in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Whose.
    pub limit: Limit,
    /// How much.
    pub rate: BytesPerSec,
    /// `65535 B ÷ 181 ms`.
    pub formula: String,
}

/// An exact change that would lift a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remedy {
    /// Who.
    pub side: Side,
    /// What, as one would type it.
    pub change: String,
    /// Why, with the numbers.
    pub why: String,
    /// Live connections keep what they have: it is fixed when a connection opens (window scale, SYN options, congestion control).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_connections: bool,
    /// Memory it may cost at this number of connections, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What it will not do, where people expect it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}

impl Remedy {
    /// A change and its reason.
    #[must_use]
    pub fn new(side: Side, change: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            side,
            change: change.into(),
            why: why.into(),
            new_connections: false,
            memory_bytes: None,
            caveat: None,
        }
    }

    /// Only new connections get it.
    #[must_use]
    pub const fn for_new_connections(mut self) -> Self {
        self.new_connections = true;
        self
    }

    /// With what it may cost in memory.
    #[must_use]
    pub const fn costing(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// With what it will not do.
    #[must_use]
    pub fn but(mut self, caveat: impl Into<String>) -> Self {
        self.caveat = Some(caveat.into());
        self
    }
}

/// What limits a connection in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The cause.
    pub limit: Limit,
    /// Which way the bytes went.
    pub direction: Direction,
    /// Who must act.
    pub side: Side,
    /// 0 to 1; for [`Limit::Unknown`] 0.
    pub confidence: f64,
    /// What the binding limit allows, where there is such a rate.
    pub ceiling: Option<Ceiling>,
    /// The next limit and the rate expected once this one is lifted.
    pub next: Option<Ceiling>,
    /// Every ceiling that is known, the lowest first; the binding one is among them.
    pub ledger: Vec<Ceiling>,
    /// What the arithmetic forbids in these figures; then nothing is explained by them.
    pub inconsistent: Option<String>,
    /// One sentence with the numbers in it.
    pub proof: String,
    /// The figures that tell what to change, where something can be changed.
    pub ask: Option<Box<Ask>>,
}

impl Verdict {
    /// What to change. Worked out when somebody reads it: most verdicts are replaced by the next one before that.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        self.ask
            .as_deref()
            .map_or_else(Vec::new, |ask| advice::of(self.limit, ask))
    }

    /// Nothing limits the connection, and nobody need look.
    #[must_use]
    pub fn none(direction: Direction, proof: String) -> Self {
        Self {
            limit: Limit::None,
            direction,
            side: Side::Nobody,
            confidence: 1.0,
            ceiling: None,
            next: None,
            ledger: Vec::new(),
            inconsistent: None,
            proof,
            ask: None,
        }
    }

    /// Not told, with the reason.
    #[must_use]
    pub fn unknown(direction: Direction, reason: String) -> Self {
        Self {
            limit: Limit::Unknown,
            confidence: 0.0,
            ..Self::none(direction, reason)
        }
    }
}
