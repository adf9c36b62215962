//! Two hosts and the path between them: what every scenario and every end-to-end comparison stands on.
//!
//! The sender of the data lives on the first host, its receiver on the second, whichever of them connects.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::cleanup;
use super::clock::seconds_ns;
use super::flow::{FlowHandle, FlowSpec};
use super::netns::NetNs;
use super::relay::{Direction, LinkSpec, LinkStats, Policer, Relay};
use super::tun::{self, Framing};

/// Name of the one device in each host.
pub const DEVICE: &str = "lab0";

/// `[path]` of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// Round-trip time of an empty path; half of it each way.
    pub rtt_ms: f64,
    /// Serialisation rate of each direction in Mbit/s, IP headers counted.
    pub rate_mbit: Option<f64>,
    /// Queue before the serialisation, in kB (1,000 B); more is dropped at the tail.
    pub queue_kb: Option<f64>,
    /// Random loss on the way from sender to receiver.
    #[serde(default)]
    pub loss_percent: f64,
    /// Token-bucket policer on the way from sender to receiver.
    pub policer_mbit: Option<f64>,
    /// The policer's bucket, in kB.
    pub policer_burst_kb: Option<f64>,
    /// Drop everything, both ways, from this second of the flow on.
    pub stall_after_s: Option<f64>,
    /// Silently drop larger packets (IP header counted) on the way from sender to receiver.
    pub mtu_blackhole_bytes: Option<u64>,
    /// They pass until this second of the flow.
    pub mtu_blackhole_after_s: Option<f64>,
    /// How the relay takes packets.
    #[serde(default)]
    pub mode: Mode,
    /// Fixes which packets are lost.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

fn default_seed() -> u64 {
    1
}

/// How the relay takes packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Single packets, as on a link.
    #[default]
    Packets,
    /// Packets as large as the sender makes them: gigabits a second, but not with loss, a rate or a policer.
    SuperPackets,
}

/// What happens to a path while flows use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Everything is dropped, both ways.
    Cut,
    /// Larger packets are dropped on the way from sender to receiver.
    MtuBlackhole {
        /// The largest that passes.
        bytes: u64,
    },
    /// SYNs with data are dropped, both ways.
    SynDataBlackhole,
}

impl PathSpec {
    /// A path that only delays.
    pub fn delay(rtt_ms: f64) -> Self {
        Self {
            rtt_ms,
            rate_mbit: None,
            queue_kb: None,
            loss_percent: 0.0,
            policer_mbit: None,
            policer_burst_kb: None,
            stall_after_s: None,
            mtu_blackhole_bytes: None,
            mtu_blackhole_after_s: None,
            mode: Mode::Packets,
            seed: default_seed(),
        }
    }

    /// Refuses what has no meaning.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=10_000.0).contains(&self.rtt_ms) {
            bail!("path.rtt_ms = {} is not within 0–10,000", self.rtt_ms);
        }
        if !(0.0..=100.0).contains(&self.loss_percent) {
            bail!("path.loss_percent = {} is not within 0–100", self.loss_percent);
        }
        if self.rate_mbit.is_some_and(|rate| rate <= 0.0) || self.policer_mbit.is_some_and(|rate| rate <= 0.0)
        {
            bail!("a rate of path must be above 0");
        }
        if self.queue_kb.is_some() && self.rate_mbit.is_none() {
            bail!("path.queue_kb needs path.rate_mbit: without a rate nothing queues");
        }
        if self.policer_mbit.is_some() != self.policer_burst_kb.is_some() {
            bail!("path.policer_mbit and path.policer_burst_kb go together");
        }
        if self.mtu_blackhole_after_s.is_some() && self.mtu_blackhole_bytes.is_none() {
            bail!("path.mtu_blackhole_after_s needs path.mtu_blackhole_bytes");
        }
        if self.mode == Mode::SuperPackets && self.per_packet() {
            bail!("path.mode = \"super_packets\" cannot shape, police or lose: each must see single packets");
        }
        Ok(())
    }

    /// What happens to the path, and at which second of the flow; in order.
    pub fn events(&self) -> Vec<(f64, Event)> {
        let cut = self.stall_after_s.map(|second| (second, Event::Cut));
        let blackhole = self
            .mtu_blackhole_after_s
            .zip(self.mtu_blackhole_bytes)
            .map(|(second, bytes)| (second, Event::MtuBlackhole { bytes }));
        let mut events: Vec<_> = cut.into_iter().chain(blackhole).collect();
        events.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        events
    }

    fn per_packet(&self) -> bool {
        self.rate_mbit.is_some()
            || self.loss_percent > 0.0
            || self.policer_mbit.is_some()
            || self.mtu_blackhole_bytes.is_some()
    }

    fn framing(&self) -> Framing {
        match self.mode {
            Mode::Packets => Framing::Packets,
            Mode::SuperPackets => Framing::SuperPackets,
        }
    }

    fn link(&self, direction: Direction) -> LinkSpec {
        let forward = direction == Direction::Forward;
        let bits = |mbit: f64| (mbit * 1e6) as u64;
        let bytes = |kb: f64| (kb * 1000.0) as u64;
        LinkSpec {
            delay_ns: seconds_ns(self.rtt_ms / 2000.0),
            rate_bps: self.rate_mbit.map(bits),
            queue_bytes: self.queue_kb.map(bytes),
            loss: if forward { self.loss_percent / 100.0 } else { 0.0 },
            policer: match (self.policer_mbit, self.policer_burst_kb) {
                (Some(rate), Some(burst)) if forward => Some(Policer {
                    rate_bps: bits(rate),
                    burst_bytes: bytes(burst),
                }),
                _ => None,
            },
            largest_bytes: match self.mtu_blackhole_after_s {
                None if forward => self.mtu_blackhole_bytes,
                _ => None,
            },
            blackhole: false,
            syn_data_blackhole: false,
        }
    }
}

/// `[hosts.sender]` and `[hosts.receiver]` of a scenario: what the host is set to before anything connects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// `net.…` values.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Attributes of the route to the other host, as `ip route` takes them: `cwnd lock 20`, `initcwnd 32`.
    pub route: Option<String>,
    /// The queueing discipline of its one device, as `tc qdisc` takes it: `tbf rate 20mbit burst 10kb latency 200ms`.
    pub qdisc: Option<String>,
}

/// Which host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The one whose data fills the connection.
    Sender,
    /// The one that takes it.
    Receiver,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Two namespaces joined by a relay. Everything goes when it is dropped.
pub struct Net {
    // First, so that it lets go of the devices before the namespaces end.
    relay: Relay,
    sender: NetNs,
    receiver: NetNs,
    links: [LinkSpec; 2],
    number: u8,
}

/// Each `Net` of the process has its own number, for names and addresses.
static NUMBER: AtomicU8 = AtomicU8::new(0);

/// Kernel defaults, so that a host's own tuning does not change a scenario; and no memory of earlier connections.
const SYSCTLS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

impl Net {
    /// Makes both hosts and the path between them.
    pub fn new(path: &PathSpec) -> Result<Self> {
        path.check()?;
        cleanup::on_signals()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let sender = NetNs::create(&format!("{number}a"))?;
        let receiver = NetNs::create(&format!("{number}b"))?;
        let framing = path.framing();
        let devices = [
            sender.enter(|| tun::open(DEVICE, framing))?,
            receiver.enter(|| tun::open(DEVICE, framing))?,
        ];
        let links = [path.link(Direction::Forward), path.link(Direction::Reverse)];
        let relay = Relay::start(devices, framing, links, path.seed)?;
        let net = Self {
            relay,
            sender,
            receiver,
            links,
            number,
        };
        for side in [Side::Sender, Side::Receiver] {
            net.bring_up(side).context("cannot set a lab host up")?;
        }
        Ok(net)
    }

    fn bring_up(&self, side: Side) -> Result<()> {
        let host = self.host(side);
        for (name, value) in SYSCTLS {
            host.sysctl(name, value)?;
        }
        let (v4, v6) = (self.ipv4(side), self.ipv6(side));
        host.ip(&[
            "link set lo up".into(),
            format!("link set {DEVICE} addrgenmode none"),
            format!("link set {DEVICE} mtu 1500 txqueuelen 10000 up"),
            format!("addr add {v4}/24 dev {DEVICE}"),
            format!("addr add {v6}/64 dev {DEVICE} nodad"),
        ])
    }

    /// Sets a host as the scenario wants it.
    pub fn configure(&self, side: Side, spec: &HostSpec) -> Result<()> {
        let host = self.host(side);
        for (name, value) in &spec.sysctls {
            host.sysctl(name, value)?;
        }
        if let Some(route) = &spec.route {
            let (v4, v6) = (self.ipv4(side.other()), self.ipv6(side.other()));
            host.ip(&[
                format!("route replace {v4}/32 dev {DEVICE} {route}"),
                format!("-6 route replace {v6}/128 dev {DEVICE} {route}"),
            ])?;
        }
        if let Some(qdisc) = &spec.qdisc {
            host.tc(&format!("qdisc replace dev {DEVICE} root {qdisc}"))?;
        }
        Ok(())
    }

    /// Starts the flows and waits until every one is open.
    pub fn spawn_flow(&self, spec: &FlowSpec) -> Result<FlowHandle> {
        FlowHandle::start(self, spec)
    }

    /// A host's namespace.
    pub fn host(&self, side: Side) -> &NetNs {
        match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        }
    }

    /// A host's address in the family.
    pub fn address(&self, side: Side, ipv6: bool) -> IpAddr {
        if ipv6 {
            self.ipv6(side).into()
        } else {
            self.ipv4(side).into()
        }
    }

    fn ipv4(&self, side: Side) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.number, 1 + side as u8)
    }

    fn ipv6(&self, side: Side) -> Ipv6Addr {
        Ipv6Addr::new(0xfd77, self.number.into(), 0, 0, 0, 0, 0, 1 + side as u16)
    }

    /// Makes it happen, from now on.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Cut => {
                for direction in [Direction::Forward, Direction::Reverse] {
                    self.change(direction, |link| link.blackhole = true);
                }
            }
            Event::MtuBlackhole { bytes } => {
                self.change(Direction::Forward, |link| link.largest_bytes = Some(bytes));
            }
            Event::SynDataBlackhole => {
                for direction in [Direction::Forward, Direction::Reverse] {
                    self.change(direction, |link| link.syn_data_blackhole = true);
                }
            }
        }
    }

    fn change(&mut self, direction: Direction, change: impl FnOnce(&mut LinkSpec)) {
        let link = &mut self.links[direction as usize];
        change(link);
        self.relay.set(direction, *link);
    }

    /// What the path has carried, forward and in reverse.
    pub fn stats(&self) -> [LinkStats; 2] {
        [
            self.relay.stats(Direction::Forward),
            self.relay.stats(Direction::Reverse),
        ]
    }
}
