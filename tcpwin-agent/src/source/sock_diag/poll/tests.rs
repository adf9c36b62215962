use super::*;
use crate::observation::Observation;
use crate::observation::tcp_info::TcpInfo;

fn record(cookie: u64, acked: u64) -> Record {
    let mut info = [0; 232];
    info[120..128].copy_from_slice(&acked.to_ne_bytes());
    Record {
        cookie,
        cgroup: 0,
        local: [0; 16],
        peer: [0; 16],
        congestion: [0; 16],
        interface: 0,
        inode: 0,
        rqueue: 0,
        wqueue: 0,
        local_port: 50_000,
        peer_port: 443,
        family: 2,
        state: TcpState::Established,
        memory: None,
        info: Some(TcpInfo::parse(&info)),
    }
}

/// What the sockets told, in short: `+` observed and `-` closed with the acknowledged bytes, `?` vanished.
fn told(step: impl FnOnce(&mut dyn FnMut(Update))) -> Vec<(char, u64, u64)> {
    let mut told = Vec::new();
    let short = |sign, seen: &Observation| (sign, seen.key.cookie, seen.totals.bytes_acked.unwrap());
    step(&mut |update| {
        told.push(match &update {
            Update::Observed(seen) => short('+', seen),
            Update::Closed(seen) => short('-', seen),
            Update::Vanished { key, .. } => ('?', key.cookie, 0),
            other => panic!("{other:?}"),
        });
    });
    told
}

fn dump(sockets: &mut Sockets, at: u64, records: &[Record]) -> Vec<(char, u64, u64)> {
    told(|sink| {
        sockets.begin();
        for record in records {
            sockets.observed(*record, Instant(at), sink);
        }
        sockets.complete(Instant(at), sink);
    })
}

#[test]
fn a_quiet_socket_is_told_once_more_and_then_no_more() {
    let mut sockets = Sockets::new(1);
    assert_eq!(dump(&mut sockets, 1, &[record(1, 10)]), [('+', 1, 10)]);
    assert_eq!(dump(&mut sockets, 2, &[record(1, 20)]), [('+', 1, 20)]);
    assert_eq!(dump(&mut sockets, 3, &[record(1, 20)]), [('+', 1, 20)]);
    assert_eq!(dump(&mut sockets, 4, &[record(1, 20)]), []);
    assert_eq!(dump(&mut sockets, 5, &[record(1, 30)]), [('+', 1, 30)]);
}

#[test]
fn a_destroyed_socket_is_closed_with_its_final_totals() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[record(1, 10), record(2, 10), record(3, 10)]);
    assert_eq!(
        told(|sink| sockets.destroyed(record(1, 99), Instant(2), sink)),
        [('-', 1, 99)]
    );
    // The others are still known.
    dump(&mut sockets, 3, &[record(2, 10), record(3, 10)]);
    assert_eq!(dump(&mut sockets, 4, &[record(2, 10), record(3, 10)]), []);
    assert_eq!(sockets.len(), 2);
}

#[test]
fn one_dump_may_miss_a_socket() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[record(1, 10), record(2, 10)]);
    dump(&mut sockets, 2, &[record(1, 10), record(2, 10)]);
    assert_eq!(dump(&mut sockets, 3, &[record(1, 10)]), []);
    assert_eq!(dump(&mut sockets, 4, &[record(1, 10), record(2, 10)]), []);
}

#[test]
fn a_socket_that_two_dumps_lack_has_vanished_and_its_late_end_is_not_told_again() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[record(1, 10), record(2, 10)]);
    dump(&mut sockets, 2, &[record(1, 10)]);
    assert_eq!(dump(&mut sockets, 3, &[record(1, 10)]), [('?', 2, 0)]);
    assert_eq!(
        told(|sink| sockets.destroyed(record(2, 10), Instant(4), sink)),
        []
    );
}

#[test]
fn a_broken_dump_closes_nothing() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[record(1, 10), record(2, 10)]);
    for at in 2..6 {
        let lost = told(|sink| {
            sockets.begin();
            sockets.observed(record(1, at), Instant(at), sink);
            sockets.incomplete();
        });
        assert_eq!(lost, [('+', 1, at)]);
    }
}

#[test]
fn a_connection_between_two_dumps_is_told_whole() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[]);
    assert_eq!(
        told(|sink| sockets.destroyed(record(5, 77), Instant(2), sink)),
        [('+', 5, 77), ('-', 5, 77)]
    );
}

#[test]
fn origin_is_told_by_the_listeners_ports() {
    let mut sockets = Sockets::new(1);
    let listener = Record {
        state: TcpState::Listen,
        local_port: 8080,
        peer_port: 0,
        ..record(1, 0)
    };
    let accepted = |cookie| Record {
        local_port: 8080,
        ..record(cookie, 0)
    };
    let mut origins = Vec::new();
    for records in [
        [listener, accepted(2)].as_slice(),
        &[listener, accepted(2), accepted(3), record(4, 0)],
    ] {
        sockets.begin();
        for record in records {
            sockets.observed(*record, Instant(1), &mut |update| {
                if let Update::Observed(seen) = update {
                    origins.push((seen.key.cookie, seen.origin));
                }
            });
        }
        sockets.complete(Instant(1), &mut |_| {});
    }
    assert_eq!(
        origins,
        [
            (2, Origin::Seeded),
            (2, Origin::Seeded),
            (3, Origin::Accept),
            (4, Origin::Connect)
        ]
    );
}

#[test]
fn the_sockets_of_an_unwatched_namespace_vanish() {
    let mut sockets = Sockets::new(1);
    dump(&mut sockets, 1, &[record(1, 10), record(2, 20)]);
    let mut gone = told(|sink| sockets.close_all(Instant(2), sink));
    gone.sort_unstable();
    assert_eq!(gone, [('?', 1, 0), ('?', 2, 0)]);
    assert_eq!(sockets.len(), 0);
}
