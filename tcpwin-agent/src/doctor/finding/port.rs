//! Ports for outgoing connections, and the table of connection tracking.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};

use super::super::place::{Place, peer};
use super::{Finding, Kind, Severity, kind};

const PORTS: Kind = kind("ephemeral-ports", "ports for outgoing connections run out");
const CONNTRACK: Kind = kind(
    "conntrack-full",
    "the table of connection tracking is nearly full",
);

pub(super) const KINDS: &[Kind] = &[PORTS, CONNTRACK];

const RANGE: &str = "net.ipv4.ip_local_port_range";
/// The kernel's default.
const GOOD: &str = "32768 60999";
/// As many as the kernel's default has, whatever is set.
const FEW: u32 = 4_096;
/// A table so full is nearly full.
const NEARLY: f64 = 0.8;

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    ports(place).into_iter().chain(conntrack(place)).collect()
}

fn ports(place: &Place<'_>) -> Option<Finding> {
    let (low, high) = place.settings().range(RANGE)?;
    let ports = high.checked_sub(low)? + 1;
    let (fullest, used) = fullest(place, low, high);
    let is_full = f64::from(used) >= f64::from(ports) * NEARLY;
    if !is_full && ports >= FEW {
        return None;
    }
    let new = if ports < FEW { GOOD } else { "1024 65535" };
    let why = match fullest.filter(|_| is_full) {
        Some(peer) => format!(
            "{used} of its {ports} ports are taken by connections to {peer}, those in TIME_WAIT included: connect() fails with EADDRNOTAVAIL once \
             all are"
        ),
        None => format!(
            "no port is short now: {used} of {ports} are taken towards one place. All connections to it share them"
        ),
    };
    let severity = if is_full { Severity::Hurts } else { Severity::Risk };
    let mut finding = Finding::setting(PORTS, place, RANGE)
        .because(why)
        .rated(severity)
        .reaching("the next connect()")
        .set_to(place, RANGE, new)
        .risking("a port of a program that listens within the range may be taken before it starts: name it in net.ipv4.ip_local_reserved_ports");
    if ports >= FEW {
        finding = finding.set_to(place, "net.ipv4.tcp_tw_reuse", "1");
    }
    Some(finding)
}

/// The place that most of the range's ports are taken towards, and how many.
fn fullest(place: &Place<'_>, low: u32, high: u32) -> (Option<SocketAddr>, u32) {
    let mut taken: HashMap<(IpAddr, SocketAddr), HashSet<u16>> = HashMap::new();
    for connection in &place.live {
        let (Ok(local), Some(peer)) = (connection.local.parse::<SocketAddr>(), peer(connection)) else {
            continue;
        };
        if (low..=high).contains(&local.port().into()) {
            let ports = taken.entry((local.ip().to_canonical(), peer)).or_default();
            ports.insert(local.port());
        }
    }
    let mut counts: HashMap<SocketAddr, u32> = HashMap::new();
    for ((_, peer), ports) in taken {
        let count = counts.entry(peer).or_default();
        *count = (*count).max(ports.len() as u32);
    }
    for (peer, waiting) in &place.namespace.time_wait {
        *counts.entry(*peer).or_default() += waiting;
    }
    let fullest = counts.into_iter().max_by_key(|(_, count)| *count);
    fullest.map_or((None, 0), |(peer, count)| (Some(peer), count))
}

fn conntrack(place: &Place<'_>) -> Option<Finding> {
    const MAX: &str = "net.netfilter.nf_conntrack_max";
    let most: u64 = place.settings().number(MAX).filter(|most| *most > 0)?;
    let count: u64 = place.settings().number("net.netfilter.nf_conntrack_count")?;
    if (count as f64) < most as f64 * NEARLY {
        return None;
    }
    let finding = Finding::setting(CONNTRACK, place, MAX)
        .because(format!(
            "{count} of {most} connections are tracked: once it is full, packets of new ones are dropped (`nf_conntrack: table full`)"
        ))
        .rated(Severity::Hurts)
        .reaching("the next connection")
        .set_to(place, MAX, &most.saturating_mul(4).to_string())
        .risking("some 320 bytes of kernel memory an entry; the hash grows with nf_conntrack_buckets");
    Some(finding)
}
