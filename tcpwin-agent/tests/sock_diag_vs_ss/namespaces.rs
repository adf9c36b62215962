//! The sock_diag source and its namespaces.

use std::collections::HashSet;

use tcpwin_agent::observation::{Endpoints, Key};
use tcpwin_agent::source::sock_diag::{Lookup, SockDiag};
use tcpwin_agent::source::{Source, Update, kernel_clock};

use super::connections::{self, Family};
use super::netns;

fn poll(source: &mut SockDiag) -> Vec<Update> {
    let mut updates = Vec::new();
    source
        .poll(kernel_clock(), &mut |update| updates.push(update))
        .expect("the source polls");
    updates
}

#[test]
fn a_namespace_comes_into_view_and_is_let_go() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let mut source = SockDiag::new().expect("sock_diag opens");
    let place = netns::Namespace::new();
    let held = place.inside(|| connections::open(Family::V6, 3));
    source.hasten_discovery();
    let netns = place.inum;
    let keys: HashSet<Key> = held
        .iter()
        .flat_map(connections::Connection::ends)
        .map(|end| Key {
            cookie: connections::cookie(end),
            netns,
        })
        .collect();
    let seen: HashSet<Key> = poll(&mut source)
        .into_iter()
        .filter_map(|update| match update {
            Update::Observed(seen) if seen.key.netns == netns => Some(seen.key),
            _ => None,
        })
        .collect();
    assert_eq!(seen, keys);

    // No process is in it any more, though the test holds its sockets: it is let go.
    drop(place);
    source.hasten_discovery();
    let gone: HashSet<Key> = poll(&mut source)
        .into_iter()
        .filter_map(|update| match update {
            Update::Vanished { key, .. } if key.netns == netns => Some(key),
            _ => None,
        })
        .collect();
    assert_eq!(gone, keys);
}

#[test]
fn one_socket_is_found_by_name() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let place = netns::Namespace::new();
    let mut lookup = Lookup::new().expect("/proc");
    for family in Family::ALL {
        let mut held = place.inside(|| connections::open(family, 1)).remove(0);
        held.exchange(1000, 3000);
        let key = Key {
            cookie: connections::cookie(&held.client),
            netns: place.inum,
        };
        let canonical = |address: std::net::SocketAddr| {
            std::net::SocketAddr::new(address.ip().to_canonical(), address.port())
        };
        let endpoints = Endpoints {
            local: canonical(held.client.local_addr().expect("connected")),
            peer: canonical(held.client.peer_addr().expect("connected")),
        };
        let seen = lookup
            .socket(key, &endpoints)
            .expect("the kernel answers")
            .expect("it is there");
        assert_eq!((seen.key, seen.endpoints), (key, endpoints));
        assert_eq!(seen.totals.bytes_received, Some(3000));

        let mut inode = None;
        lookup
            .inodes(&mut |found, number| {
                if found == key {
                    inode = Some(number);
                }
            })
            .expect("the kernel answers");
        assert_eq!(inode, seen.owner.inode);
        assert!(inode.is_some());

        // Another cookie between the same ends is another socket.
        let other = Key {
            cookie: key.cookie + (1 << 40),
            ..key
        };
        assert_eq!(
            lookup.socket(other, &endpoints).expect("the kernel answers"),
            None
        );
        let nowhere = Key { netns: 1, ..key };
        assert_eq!(
            lookup.socket(nowhere, &endpoints).expect("no way leads there"),
            None
        );
    }
}
