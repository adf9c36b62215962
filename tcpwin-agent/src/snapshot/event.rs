//! What happens to connections, as `trace` and the API tell it.

use serde::{Deserialize, Serialize};

use super::{Connection, Process, TcpFields};
use crate::classify::Limit;
use crate::observation::{Origin, RetransmitKind};

/// Whose event it is, and how the connection stood when it was last looked at: an interval ago at most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Whose {
    /// Socket cookie as a decimal string.
    pub id: String,
    /// Network namespace; 0 if not known.
    pub netns: u32,
    /// `ip:port` or `[ip6]:port`.
    pub local: String,
    /// The same of the peer.
    pub peer: String,
    /// The process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// cgroup path of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// What has held it for a while, as screens show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Its rate over its last interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// Those of the socket's fields that move.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub tcp: TcpFields,
}

fn is_empty(tcp: &TcpFields) -> bool {
    *tcp == TcpFields::default()
}

/// Something happened: one JSON object a line. docs/trace.md and docs/trace.schema.json describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceEvent {
    /// A connection was opened.
    Open {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Whose.
        #[serde(flatten)]
        whose: Whose,
        /// How it came to be known.
        origin: Origin,
    },
    /// A connection was closed; with its final totals and its last verdict.
    Close {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Since it was first seen, µs.
        duration_us: u64,
        /// Which cause cost how many seconds, and how many bytes that would have moved; absent where none did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<String>,
        /// All that is known of it.
        connection: Box<Connection>,
    },
    /// Segments were sent again.
    Retransmit {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Whose.
        #[serde(flatten)]
        whose: Whose,
        /// What made the kernel do it.
        kind: RetransmitKind,
        /// How many.
        segments: u32,
    },
    /// The congestion window was cut.
    Cwnd {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Whose.
        #[serde(flatten)]
        whose: Whose,
        /// The window at the cut, segments.
        cwnd: u32,
        /// Slow-start threshold after it, segments.
        ssthresh: u32,
        /// A retransmission timeout did it, not a recovery.
        by_timeout: bool,
    },
    /// A reset ended the connection.
    Reset {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Whose.
        #[serde(flatten)]
        whose: Whose,
        /// By this host, not by the peer.
        sent: bool,
    },
    /// The verdict of a live connection changed.
    Verdict {
        /// CLOCK_MONOTONIC, ns.
        ts_ns: u64,
        /// Whose.
        #[serde(flatten)]
        whose: Whose,
        /// What held it in the interval before.
        from: Limit,
        /// What held it in the last interval.
        to: Limit,
        /// One sentence with the numbers.
        proof: String,
    },
}

impl TraceEvent {
    /// Names of all kinds, as in `event`.
    pub const NAMES: [&'static str; 6] = ["open", "close", "retransmit", "cwnd", "reset", "verdict"];

    /// Its kind, as in `event`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Close { .. } => "close",
            Self::Retransmit { .. } => "retransmit",
            Self::Cwnd { .. } => "cwnd",
            Self::Reset { .. } => "reset",
            Self::Verdict { .. } => "verdict",
        }
    }

    /// When it happened, CLOCK_MONOTONIC, ns.
    #[must_use]
    pub const fn ts_ns(&self) -> u64 {
        match self {
            Self::Open { ts_ns, .. }
            | Self::Close { ts_ns, .. }
            | Self::Retransmit { ts_ns, .. }
            | Self::Cwnd { ts_ns, .. }
            | Self::Reset { ts_ns, .. }
            | Self::Verdict { ts_ns, .. } => *ts_ns,
        }
    }

    /// Whose it is; a `close` brings the connection itself instead.
    #[must_use]
    pub const fn whose(&self) -> Option<&Whose> {
        match self {
            Self::Open { whose, .. }
            | Self::Retransmit { whose, .. }
            | Self::Cwnd { whose, .. }
            | Self::Reset { whose, .. }
            | Self::Verdict { whose, .. } => Some(whose),
            Self::Close { .. } => None,
        }
    }
}
