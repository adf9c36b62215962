//! What leaves the daemon: immutable, serde, the only thing that exits know.
//!
//! The JSON names are a public contract: bits per second end in `_bps`, bytes in `_bytes`, microseconds in `_us`.
//! What is not known is absent, never 0.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::classify::{Bound, Direction, Limit, Remedy, Side};
use crate::observation::{HookState, Origin, Retransmits};

mod cause;
mod distribution;
mod event;
pub mod feed;
pub mod figures;
mod finding;
mod host;
mod hour;
mod listener;
mod mirror;
pub mod playback;
mod sample;
mod tally;
mod tcp_fields;

pub use cause::{Cause, cost};
pub use distribution::Distribution;
pub use event::{TraceEvent, Whose};
pub use finding::Finding;
pub use host::{AcceptQueues, FastOpenCounts, HostFacts, Interface, MemoryPressure};
pub use hour::{Hour, HourPart};
pub use listener::{Listener, count_connections};
pub use mirror::{Changes, Gone, Mirror, Misfit};
pub use sample::{Sample, Watch};
pub use tally::{Distributions, FastOpenOutcomes, Group, Held, Spent, Tally, Witness};
pub use tcp_fields::TcpFields;

/// The process that holds a socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Process {
    /// Its id in the initial pid namespace.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
}

/// A rate that a limit allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ceiling {
    /// Which.
    pub limit: Limit,
    /// How much.
    pub rate_bps: f64,
    /// Its arithmetic.
    pub formula: String,
}

/// What has held for a while, for screens: a lone interval of another cause does not change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Prevailing {
    /// Class.
    pub bound: Bound,
    /// Cause.
    pub limit: Limit,
    /// Since it does, µs.
    pub since_us: u64,
}

/// Shares of the last interval by state; they sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the states of tcpwin_common::BUDGET_*")]
pub struct Budget {
    pub idle: f64,
    pub app: f64,
    pub sndbuf: f64,
    pub rwnd: f64,
    pub cwnd: f64,
    pub pacing: f64,
}

/// The program's calls on the socket over its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "see observation::CallCounts")]
pub struct Calls {
    pub sends: u64,
    pub sent_bytes: u64,
    pub send_refused: u32,
    pub send_failed: u32,
    pub recvs: u64,
    pub recv_bytes: u64,
    pub turns: u32,
}

/// One connection with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Connection {
    /// Socket cookie as a decimal string (JSON numbers are doubles).
    pub id: String,
    /// Network namespace (the number in `/proc/PID/ns/net`); 0 if not known.
    pub netns: u32,
    /// `ip:port` or `[ip6]:port`.
    pub local: String,
    /// The same of the peer.
    pub peer: String,
    /// Which way the bytes go.
    pub direction: Direction,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// cgroup path of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// How the connection came to be known.
    pub origin: Origin,
    /// Since it was first seen, µs.
    pub age_us: u64,
    /// Class of the verdict.
    pub bound: Bound,
    /// Cause of the verdict.
    pub limit: Limit,
    /// Who must act.
    pub side: Side,
    /// 0 to 1.
    pub confidence: f64,
    /// What has held for a while; `limit` is of the last interval alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prevailing: Option<Prevailing>,
    /// Observed rate in `direction` over the last interval.
    pub rate_bps: f64,
    /// Observed rate of acknowledged bytes.
    pub send_bps: f64,
    /// Observed rate of received bytes.
    pub receive_bps: f64,
    /// What the binding limit allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// Its arithmetic, `65535 B ÷ 181 ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_formula: Option<String>,
    /// The next limit, and the rate expected once the binding one is lifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Ceiling>,
    /// That rate over the observed one, where it is worth the while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// The next limit is as low as the observed rate: lifting the binding one gives nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_to_gain: bool,
    /// Every ceiling that is known, the lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<Ceiling>,
    /// What the arithmetic forbids in these figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconsistent: Option<String>,
    /// Where the interval's time went; absent from sources that cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What its life was spent on so far, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// One sentence with the numbers.
    pub proof: String,
    /// What to change.
    pub remedies: Vec<Remedy>,
    /// The socket's fields.
    pub tcp: TcpFields,
    /// The program's calls; absent from sources that cannot see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
}

/// What the agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Health {
    /// Source in use.
    pub source: String,
    /// Why not a better one; absent when the best runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_reason: Option<String>,
    /// Hooks, attached or missing.
    pub hooks: Vec<HookState>,
    /// Losses by cause, since the start.
    pub losses: BTreeMap<String, u64>,
    /// Slots (or table entries) in use.
    pub table_used: u64,
    /// Most that fit.
    pub table_capacity: u64,
    /// Entries thrown out to stay within the bound.
    pub evictions: u64,
    /// Runs of all probes, where the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_runs: Option<u64>,
    /// Time in all probes, ns, where the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_run_ns: Option<u64>,
    /// CPU time the last tick took, µs.
    pub tick_cpu_us: u64,
    /// CPU time of the process since its start, µs.
    pub cpu_us: u64,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Version of tcpwin.
    pub version: String,
}

/// Counts over all connections; counters only grow, also past a connection's end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// Connections now, by cause and direction.
    pub connections: BTreeMap<Limit, u64>,
    /// Seconds spent by all connections, by cause.
    pub seconds: BTreeMap<Limit, f64>,
    /// Bytes moved (both ways), by cause.
    pub bytes: BTreeMap<Limit, u64>,
    /// Bytes that lifting the cause would have moved beside these, where the next limit was known.
    #[serde(default)]
    pub bytes_not_moved: BTreeMap<Limit, u64>,
    /// Connections seen opening.
    pub opened: u64,
    /// Of those, opened by this host.
    pub opened_connect: u64,
    /// Connections seen closing.
    pub closed: u64,
    /// Bytes acknowledged, all connections.
    pub bytes_acked: u64,
    /// Bytes received, all connections.
    pub bytes_received: u64,
    /// Segments retransmitted, by kind.
    pub retransmits: Retransmits,
    /// Segments retransmitted whose kind the source cannot tell.
    pub retransmits_unknown: u64,
    /// SYN-ACKs and SYNs retransmitted.
    pub retransmits_syn: u64,
    /// Resets sent.
    pub resets_sent: u64,
    /// Resets received.
    pub resets_received: u64,
    /// Acknowledged bytes per second over the last interval.
    pub send_bps: f64,
    /// Received bytes per second over the last interval.
    pub receive_bps: f64,
}

/// The state of the host's connections at one tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// CLOCK_MONOTONIC of the tick, ns.
    pub at_ns: u64,
    /// Length of the last interval, µs.
    pub interval_us: u64,
    /// Ticks so far.
    pub tick: u64,
    /// Of the agent itself.
    pub health: Health,
    /// Over all connections.
    pub summary: Summary,
    /// What only metrics tell of them; never part of the JSON.
    #[serde(skip)]
    pub tally: Arc<Tally>,
    /// CPU time that the ends of intervals took, s; never part of the JSON.
    #[serde(skip)]
    pub ticks: Arc<Distribution>,
    /// What held connections over the last hour; a page of its own in the API.
    #[serde(skip)]
    pub hour: Hour,
    /// What is worth telling of many at once, what gives most first; empty when nobody asked for the connections.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Listening sockets; empty when nobody asked for the connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<Listener>,
    /// Of the host.
    #[serde(default)]
    pub facts: HostFacts,
    /// Of the connection that is watched closely, the oldest first; see [`Feed::watch`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// How `connections` are to be taken by a reader that asked for changes; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Every connection, by id; empty when nobody asked for them (see [`crate::daemon`]). The last field: the API writes it apart.
    pub connections: Vec<Arc<Connection>>,
}

/// Why a snapshot could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The agent could not be reached, or is gone.
    #[error("cannot reach the agent at {at}: {cause}")]
    Unreachable {
        /// Where it was looked for.
        at: String,
        /// What went wrong.
        cause: String,
    },
    /// The agent answered something else.
    #[error("the agent at {at} answered what this version does not understand: {cause}")]
    Malformed {
        /// Where.
        at: String,
        /// What went wrong.
        cause: String,
    },
}

/// Gives exits the latest snapshot with its connections: from the pipeline of this process, or from an agent.
pub trait Feed: Send {
    /// The latest snapshot with every connection. May block for the time of one round trip, never for a tick.
    ///
    /// # Errors
    /// When the pipeline or agent is gone.
    fn latest(&mut self) -> Result<Arc<Snapshot>, FeedError>;

    /// The connection whose [`Sample`]s the next snapshots bring, or none. A feed that cannot watch brings none.
    fn watch(&mut self, _connection: Option<Watch>) {}
}
