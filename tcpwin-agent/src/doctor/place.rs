//! What one network namespace is judged by.

use std::net::SocketAddr;

use crate::classify::advice::{Ask, Surroundings};
use crate::classify::{Limit, PathCapacity, PathOrigin};
use crate::host::{Namespace, Route, Settings, Softnet};
use crate::snapshot::figures::shown;
use crate::snapshot::{Connection, HostFacts, Snapshot};
use crate::units::{BytesPerSec, Micros};

/// A line of a sysctl file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// File and line, `/etc/sysctl.d/90-tcp.conf:3`.
    pub at: String,
    /// The setting.
    pub name: String,
    /// Its value there, words one space apart.
    pub value: String,
    /// Its value now; `None`: this kernel has no such setting.
    pub now: Option<String>,
}

/// How an interface spreads what it receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The interface.
    pub device: String,
    /// Its receive queues.
    pub queues: u32,
    /// A queue's packets go to several CPUs (`rps_cpus`).
    pub rps: bool,
}

/// What is true of the whole machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Its counters, as the agent tells them.
    pub facts: HostFacts,
    /// Its CPUs.
    pub cpus: usize,
    /// What its receive queues could not take while it was watched.
    pub softnet: Option<Softnet>,
    /// How its interfaces spread what they receive.
    pub steering: Vec<Steering>,
    /// What its sysctl files say.
    pub configured: Vec<Configured>,
    /// For how long it was watched, s.
    pub watched_s: f64,
}

/// A network namespace, the connections in it and the machine it is on.
#[derive(Debug)]
pub struct Place<'a> {
    /// What it is set to.
    pub namespace: &'a Namespace,
    /// The machine.
    pub machine: &'a Machine,
    /// Its connections.
    pub live: Vec<&'a Connection>,
}

impl<'a> Place<'a> {
    /// The namespace with those connections of the snapshot that are its own.
    #[must_use]
    pub fn new(machine: &'a Machine, namespace: &'a Namespace, snapshot: &'a Snapshot) -> Self {
        let connections = snapshot.connections.iter().map(AsRef::as_ref);
        Self {
            namespace,
            machine,
            live: connections
                .filter(|connection: &&Connection| connection.netns == namespace.inum)
                .collect(),
        }
    }

    /// Its settings.
    pub(super) fn settings(&self) -> &'a Settings {
        &self.namespace.settings
    }

    /// If it is the one that the machine's own settings and files are for: only there are they seen.
    pub(super) fn is_machines(&self) -> bool {
        self.settings().text("net.ipv4.tcp_mem").is_some()
    }

    /// Its connections that a condition holds for.
    pub(super) fn hurt(&self, by: impl Fn(&Connection) -> bool) -> Hurt<'a> {
        Hurt(
            self.live
                .iter()
                .copied()
                .filter(|connection| by(connection))
                .collect(),
        )
    }

    /// The route a connection takes.
    pub(super) fn route(&self, connection: &Connection) -> Option<&'a Route> {
        self.namespace.route_to(peer(connection)?)
    }
}

/// The peer's end of a connection.
pub(super) fn peer(connection: &Connection) -> Option<SocketAddr> {
    let peer: SocketAddr = connection.peer.parse().ok()?;
    Some(SocketAddr::new(peer.ip().to_canonical(), peer.port()))
}

/// If a limit holds the connection, for a while.
pub(super) fn is_held_by(connection: &Connection, limits: &[Limit]) -> bool {
    limits.contains(&shown(connection))
}

/// Live connections that a setting hurts.
#[derive(Clone, Debug, Default)]
pub(super) struct Hurt<'a>(pub Vec<&'a Connection>);

impl Hurt<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they make together, bits per second.
    pub(super) fn rate_bps(&self) -> f64 {
        self.0.iter().map(|connection| connection.rate_bps).sum()
    }

    /// What lifting their limits would give together, where the next limits are known.
    pub(super) fn cost_bps(&self) -> Option<f64> {
        let gains: Vec<f64> = self
            .0
            .iter()
            .filter_map(|connection| Some(connection.next.as_ref()?.rate_bps - connection.rate_bps))
            .filter(|gain| *gain > 0.0)
            .collect();
        (!gains.is_empty()).then(|| gains.iter().sum())
    }
}

/// What advice is worked out from, with the settings of the connection's own namespace.
pub(super) fn ask(connection: &Connection, settings: &Settings, connections: usize) -> Ask {
    let tcp = &connection.tcp;
    // What the path is known to carry; else the advice makes room for ten times the rate.
    let path = connection
        .ledger
        .iter()
        .find(|ceiling| ceiling.limit == Limit::Bandwidth)
        .map(|ceiling| PathCapacity {
            rate: BytesPerSec(ceiling.rate_bps / 8.0),
            origin: PathOrigin::Seen,
        });
    Ask {
        direction: connection.direction,
        rate: BytesPerSec(connection.rate_bps / 8.0),
        srtt: tcp.srtt_us.map(Micros),
        min_rtt: tcp.min_rtt_us.map(Micros),
        mss: tcp.mss.unwrap_or(0),
        cwnd: tcp.cwnd,
        snd_wnd: tcp.snd_wnd_bytes,
        rcv_wnd: tcp.rcv_wnd_bytes,
        sndbuf: tcp.sndbuf_bytes,
        sndbuf_locked: tcp.sndbuf_locked,
        rcvbuf: tcp.rcvbuf_bytes,
        rcvbuf_locked: tcp.rcvbuf_locked,
        snd_wscale: tcp.snd_wscale,
        rcv_wscale: tcp.rcv_wscale,
        path,
        around: Surroundings {
            connections: u32::try_from(connections).ok(),
            tcp_wmem: settings.sizes("net.ipv4.tcp_wmem"),
            tcp_rmem: settings.sizes("net.ipv4.tcp_rmem"),
            wmem_max: settings.number("net.core.wmem_max"),
            rmem_max: settings.number("net.core.rmem_max"),
            ..Surroundings::default()
        },
        ..Ask::default()
    }
}
