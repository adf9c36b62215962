//! Listeners as the snapshot has them, with the connections that came through each.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use crate::observation::Origin;
use crate::snapshot::{Connection, Listener};
use crate::source::sock_diag::Listening;

use super::holders::Holders;

type Place = (u32, SocketAddr);

pub(super) fn shown(
    listeners: &[Listening],
    holders: &Holders,
    connections: &[Arc<Connection>],
) -> Vec<Listener> {
    let counts = counted(listeners, connections);
    let show = |listener: &Listening| {
        let owner = holders.of(listener.key);
        Listener {
            id: listener.key.cookie.to_string(),
            netns: listener.key.netns,
            local: listener.local.to_string(),
            process: owner.and_then(|owner| owner.process.clone()),
            cgroup: owner.and_then(|owner| owner.cgroup.clone()),
            accept_queue: listener.accept_queue,
            backlog: listener.backlog,
            congestion: listener.congestion.as_deref().map(str::to_owned),
            connections: counts.get(&place(listener)).copied().flatten(),
        }
    };
    listeners.iter().map(show).collect()
}

/// Connections by the place they came in at. `None` where several listeners share it (SO_REUSEPORT, SO_BINDTODEVICE): whose
/// a connection is cannot be told then.
fn counted(listeners: &[Listening], connections: &[Arc<Connection>]) -> HashMap<Place, Option<u64>> {
    let mut counts: HashMap<Place, Option<u64>> = HashMap::new();
    for listener in listeners {
        counts
            .entry(place(listener))
            .and_modify(|count| *count = None)
            .or_insert(Some(0));
    }
    let ports: HashSet<u16> = listeners.iter().map(|listener| listener.local.port()).collect();
    for connection in connections {
        if connection.origin == Origin::Connect {
            continue;
        }
        let local = connection.local.parse::<SocketAddr>().ok();
        let Some(local) = local.filter(|local| ports.contains(&local.port())) else {
            continue;
        };
        // As the kernel looks a listener up: the exact address before any (`compute_score`).
        let nearest = addresses(local.ip())
            .map(|ip| (connection.netns, SocketAddr::new(ip, local.port())))
            .find(|place| counts.contains_key(place));
        if let Some(place) = nearest
            && let Some(Some(count)) = counts.get_mut(&place)
        {
            *count += 1;
        }
    }
    counts
}

fn place(listener: &Listening) -> Place {
    (listener.key.netns, listener.local)
}

/// Where a connection to this address may have come in.
fn addresses(ip: IpAddr) -> impl Iterator<Item = IpAddr> {
    let any_v4 = ip.is_ipv4().then_some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let any = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    [Some(ip), any_v4, Some(any)].into_iter().flatten()
}
