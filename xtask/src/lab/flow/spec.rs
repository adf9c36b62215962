//! What a flow is: how its two programs behave and how their sockets are set.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;
use crate::lab::net::Side;

/// `[flow]` of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Who connects; the other accepts.
    #[serde(default = "default_connects")]
    pub connects: Side,
    /// Address family.
    #[serde(default)]
    pub family: Family,
    /// Connections at the same time, each with the same behaviour.
    #[serde(default = "default_count")]
    pub count: usize,
    /// Open, use and close one connection first, so that the kernel has metrics of the peer.
    #[serde(default)]
    pub warm_up: bool,
    /// An agent of the scenario's own starts some seconds after the flow: it finds the sockets, it does not see them open.
    #[serde(default)]
    pub older_than_agent: bool,
    /// Time between two reports of each connection.
    #[serde(default = "default_tick_ms")]
    pub tick_ms: u64,
    /// What the program at each end is called, where it matters to who looks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<Side, String>,
    /// What the programs do.
    pub pattern: Pattern,
    /// The sender's socket.
    #[serde(default)]
    pub sender: SocketSpec,
    /// The receiver's socket.
    #[serde(default)]
    pub receiver: SocketSpec,
}

impl FlowSpec {
    /// One IPv4 connection of the sender's, with the kernel's own socket settings.
    pub fn new(pattern: Pattern) -> Self {
        Self {
            connects: default_connects(),
            family: Family::default(),
            count: default_count(),
            warm_up: false,
            older_than_agent: false,
            tick_ms: default_tick_ms(),
            names: BTreeMap::new(),
            pattern,
            sender: SocketSpec::default(),
            receiver: SocketSpec::default(),
        }
    }
}

impl FlowSpec {
    /// Refuses what has no meaning in a scenario.
    pub fn check(&self) -> Result<()> {
        if !(1..=1000).contains(&self.count) {
            bail!("flow.count = {} is not within 1–1,000", self.count);
        }
        self.pattern.check()
    }
}

fn default_connects() -> Side {
    Side::Sender
}

fn default_count() -> usize {
    1
}

fn default_tick_ms() -> u64 {
    50
}

/// Address family of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// AF_INET on both sides.
    #[default]
    Ipv4,
    /// AF_INET6.
    Ipv6,
    /// AF_INET6 sockets that carry IPv4 (`::ffff:a.b.c.d`).
    V4Mapped,
}

/// How one side's socket is set and served.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// SO_SNDBUF before listen or connect: the kernel doubles it and no longer tunes it.
    pub sndbuf_bytes: Option<i32>,
    /// SO_RCVBUF before listen or connect: the kernel doubles it and no longer tunes it.
    pub rcvbuf_bytes: Option<i32>,
    /// TCP_WINDOW_CLAMP before listen or connect.
    pub window_clamp_bytes: Option<i32>,
    /// SO_MAX_PACING_RATE in Mbit/s.
    pub pacing_mbit: Option<f64>,
    /// TCP_CONGESTION; cubic, whatever the host's own default is.
    #[serde(default = "default_congestion")]
    pub congestion: String,
    /// TCP_NODELAY.
    #[serde(default)]
    pub nodelay: bool,
    /// TCP_NOTSENT_LOWAT.
    pub notsent_lowat_bytes: Option<i32>,
    /// Write without blocking and wait in epoll for room.
    #[serde(default)]
    pub nonblocking: bool,
    /// Read no more than so many bytes a second.
    pub read_bytes_per_s: Option<u64>,
}

fn default_congestion() -> String {
    "cubic".into()
}

impl Default for SocketSpec {
    fn default() -> Self {
        Self {
            sndbuf_bytes: None,
            rcvbuf_bytes: None,
            window_clamp_bytes: None,
            pacing_mbit: None,
            congestion: default_congestion(),
            nodelay: false,
            notsent_lowat_bytes: None,
            nonblocking: false,
            read_bytes_per_s: None,
        }
    }
}

/// What a worker process is told: one side of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// Which side it plays.
    pub side: Side,
    /// Listens (at the address) or connects (to it).
    pub listens: bool,
    /// Where it listens or connects.
    pub address: SocketAddr,
    /// The flow.
    pub flow: FlowSpec,
}

impl WorkerSpec {
    /// This side's socket.
    pub fn socket(&self) -> &SocketSpec {
        match self.side {
            Side::Sender => &self.flow.sender,
            Side::Receiver => &self.flow.receiver,
        }
    }
}
