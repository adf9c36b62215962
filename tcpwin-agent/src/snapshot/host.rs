//! What is true of the host beside its connections. What cannot be read is absent.

use serde::{Deserialize, Serialize};

/// The accept queues of all listeners together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptQueues {
    /// Listeners, in every network namespace that can be entered.
    pub listeners: u64,
    /// Connections that wait for `accept`.
    pub waiting: u64,
    /// Listeners that take no more: what comes is dropped (`sk_acceptq_is_full`: the backlog and one).
    pub full: u64,
    /// The fullest queue, as a share of its backlog; a full one is above 1.
    pub fullest: f64,
}

/// TCP Fast Open over the whole network namespace of the agent (`TcpExt` of `/proc/net/netstat`), since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FastOpenCounts {
    /// `TCPFastOpenActive`: SYNs whose data the peer took.
    pub active: u64,
    /// `TCPFastOpenActiveFail`: SYNs whose data it did not take.
    pub active_failed: u64,
    /// `TCPFastOpenPassive`: SYNs with data taken here.
    pub passive: u64,
    /// `TCPFastOpenPassiveFail`: refused here.
    pub passive_failed: u64,
    /// `TCPFastOpenListenOverflow`: refused since too many were pending.
    pub listen_overflows: u64,
    /// `TCPFastOpenCookieReqd`: cookies given out.
    pub cookies_requested: u64,
    /// `TCPFastOpenBlackhole`: times Fast Open was turned off since the path swallows it.
    pub blackholes: u64,
}

/// Memory of all TCP sockets (`/proc/net/sockstat`) against `net.ipv4.tcp_mem`, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryPressure {
    /// In use.
    pub used_bytes: u64,
    /// Above it buffers stop growing.
    pub pressure_bytes: u64,
    /// Above it memory is refused.
    pub limit_bytes: u64,
}

/// A network interface that carries traffic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Speed of its link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// Its root queueing discipline; absent without a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
    /// Received packets dropped, since it came up.
    pub receive_dropped: u64,
    /// Packets dropped before they were sent, its queueing discipline's included.
    pub transmit_dropped: u64,
}

/// Facts and counters of the host that matter to its connections, some seconds old at most. Counters are since boot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HostFacts {
    /// Time since boot, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_s: Option<u64>,
    /// Accept queues now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_queues: Option<AcceptQueues>,
    /// Fast Open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastopen: Option<FastOpenCounts>,
    /// `ListenOverflows`: connections refused since an accept queue was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen_overflows: Option<u64>,
    /// `ListenDrops`: SYNs dropped by listeners for any reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen_drops: Option<u64>,
    /// `TCPToZeroWindowAdv`: times a socket here told its peer to stop, since its program does not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_closed: Option<u64>,
    /// `TCPZeroWindowDrop`: segments dropped that came though the window was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_window_drops: Option<u64>,
    /// `TCPMemoryPressures`: times TCP's memory came under pressure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressures: Option<u64>,
    /// TCP's memory now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPressure>,
    /// Packets dropped since `net.core.netdev_max_backlog` was full, all CPUs (`/proc/net/softnet_stat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softnet_dropped: Option<u64>,
    /// Times a CPU had more packets than `net.core.netdev_budget` lets it take at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softnet_squeezed: Option<u64>,
    /// Share of the last interval that the busiest CPU spent in softirq, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softirq_busiest: Option<f64>,
    /// `net.ipv4.tcp_congestion_control` of the agent's network namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// `net.core.default_qdisc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_qdisc: Option<String>,
    /// Interfaces that have carried packets, but loopback; of many, hardware and those that drop most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<Interface>,
}
