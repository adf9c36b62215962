//! Listening sockets, and the connections that came in at each.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Connection, Process};
use crate::observation::Origin;

/// A listening socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listener {
    /// Socket cookie as a decimal string.
    pub id: String,
    /// Network namespace.
    pub netns: u32,
    /// `ip:port`, `[ip6]:port`.
    pub local: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// cgroup path of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// Connections that wait for `accept` (`sk_ack_backlog`).
    pub accept_queue: u32,
    /// Most that may wait (`sk_max_ack_backlog`: `listen`'s backlog, cut to `net.core.somaxconn`).
    pub backlog: u32,
    /// Congestion control that accepted connections begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Connections open on it now, as far as they are watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
}

type Place = (u32, SocketAddr);

/// Counts the connections that came in at each listener. Those of listeners that share a place (SO_REUSEPORT,
/// SO_BINDTODEVICE) stay unknown: whose a connection is cannot be told then.
pub fn count_connections(listeners: &mut [Listener], connections: &[Arc<Connection>]) {
    let mut counts: HashMap<Place, Option<u64>> = HashMap::new();
    for place in listeners.iter().filter_map(place) {
        counts
            .entry(place)
            .and_modify(|count| *count = None)
            .or_insert(Some(0));
    }
    let mut ports: Vec<u16> = counts.keys().map(|(_, local)| local.port()).collect();
    ports.sort_unstable();
    // Many connections came in at the same place: each text is read once.
    let mut places: HashMap<(u32, &str), Option<Place>> = HashMap::new();
    let accepted = |connection: &&Arc<Connection>| {
        connection.origin != Origin::Connect
            && port(&connection.local).is_some_and(|port| ports.binary_search(&port).is_ok())
    };
    for connection in connections.iter().filter(accepted) {
        let place = places
            .entry((connection.netns, &connection.local))
            .or_insert_with(|| {
                let local: SocketAddr = connection.local.parse().ok()?;
                // As the kernel looks a listener up: the exact address before any (`compute_score`).
                addresses(local.ip())
                    .map(|ip| (connection.netns, SocketAddr::new(ip, local.port())))
                    .find(|place| counts.contains_key(place))
            });
        if let Some(Some(count)) = place.and_then(|place| counts.get_mut(&place)) {
            *count += 1;
        }
    }
    for listener in listeners {
        listener.connections = place(listener).and_then(|place| counts.get(&place).copied().flatten());
    }
}

fn place(listener: &Listener) -> Option<Place> {
    Some((listener.netns, listener.local.parse().ok()?))
}

fn port(endpoint: &str) -> Option<u16> {
    endpoint.rsplit_once(':')?.1.parse().ok()
}

/// Where a connection to this address may have come in.
fn addresses(ip: IpAddr) -> impl Iterator<Item = IpAddr> {
    let any_v4 = ip.is_ipv4().then_some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let any = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    [Some(ip), any_v4, Some(any)].into_iter().flatten()
}
