//! What only metrics tell, as the table's intervals end and its connections close.

use tcpwin_common::BUDGET_RWND;

use super::tests::{SECOND, observation};
use super::*;
use crate::classify::Limit;
use crate::observation::{CallCounts, FastOpen};
use crate::snapshot::{Group, Held};
use crate::units::BytesPerSec;

const SCALE: Held = (Limit::RwndScale, Some(Direction::Send));

fn table(grouping: Grouping) -> Table {
    Table::new(TableConfig { capacity: 10 }).with_grouping(grouping)
}

/// One connection, held by a window of 65,535 B for a second, then idle for two.
fn run(table: &mut Table) {
    let mut events = Vec::new();
    let mut seen = observation(7, SECOND, 655_350);
    seen.owner.name = Some("nginx".into());
    seen.tcp.unsent = Some(65_535);
    seen.calls = Some(CallCounts {
        sends: 10,
        sent_bytes: 81_600,
        ..CallCounts::default()
    });
    table.apply(Update::Observed(seen), &mut events);
    for second in 1..=4 {
        table.tick(Instant(second * SECOND), &mut events);
    }
}

#[test]
fn time_and_bytes_have_a_direction_where_something_holds_them() {
    let mut table = table(Grouping::default());
    run(&mut table);
    let tally = table.tally();
    assert_eq!(tally.spent[&SCALE].seconds, 1.0);
    assert_eq!(tally.spent[&SCALE].bytes, 655_350);
    assert_eq!(tally.connections[&SCALE], 0);
    assert_eq!(tally.connections[&(Limit::None, None)], 1);
    assert!(tally.spent[&(Limit::None, None)].seconds >= 2.0);
    assert_eq!(tally.budget[BUDGET_RWND], 1.0);
    assert!(tally.groups.is_empty());
    // What the summary says by limit is the same.
    let summary = table.summary();
    assert_eq!(summary.bytes[&SCALE.0], tally.spent[&SCALE].bytes);
    assert_eq!(summary.seconds[&SCALE.0], tally.spent[&SCALE].seconds);
}

#[test]
fn figures_are_sampled_once_an_interval_that_moved_data() {
    let mut table = table(Grouping::default());
    run(&mut table);
    let tally = table.tally();
    let distributions = &tally.distributions;
    for figure in [&distributions.srtt, &distributions.min_rtt] {
        assert_eq!((figure.count(), figure.sum()), (1, 0.1));
    }
    // 655,350 B/s over 100 ms.
    assert_eq!(
        (distributions.bdp.count(), distributions.bdp.sum()),
        (1, 65_535.0)
    );
    assert_eq!(distributions.queue_delay.sum(), 0.1);
    assert_eq!(distributions.write.sum(), 8_160.0);
    assert_eq!(distributions.life.count(), 0);
}

#[test]
fn groups_beyond_the_most_are_others() {
    let grouping = Grouping {
        process: true,
        cgroup: false,
        listener: true,
        peers: vec!["203.0.113.0/24".parse().unwrap()],
        most: 1,
    };
    let mut table = table(grouping);
    run(&mut table);
    let mut other = observation(8, 5 * SECOND, 655_350);
    other.owner.name = Some("sshd".into());
    table.apply(Update::Observed(other), &mut Vec::new());
    table.tick(Instant(5 * SECOND), &mut Vec::new());
    let group = |process: &str, listener: &str, peer: &str| Group {
        process: process.to_owned(),
        cgroup: String::new(),
        listener: listener.to_owned(),
        peer: peer.to_owned(),
    };
    let tally = table.tally();
    assert_eq!(tally.groups.len(), 2);
    let nginx = &tally.groups[&group("nginx", "443", "203.0.113.0/24")];
    assert_eq!(nginx[&Limit::RwndScale].bytes, 655_350);
    let others = &tally.groups[&group("other", "other", "other")];
    assert_eq!(others.values().map(|spent| spent.bytes).sum::<u64>(), 655_350);
}

#[test]
fn a_life_is_told_at_its_end() {
    let mut table = table(Grouping::default());
    let mut events = Vec::new();
    let mut asked = observation(1, 2 * SECOND, 1);
    asked.origin = Origin::Connect;
    asked.tcp.fastopen = Some(FastOpen::CookieRequested);
    let mut served = observation(2, SECOND, 500);
    served.tcp.fastopen = Some(FastOpen::DataAccepted);
    let mut older = observation(3, SECOND, 0);
    older.origin = Origin::Seeded;
    older.tcp.fastopen = Some(FastOpen::DataAccepted);
    for last in [asked, served, older] {
        table.apply(Update::Closed(last), &mut events);
    }
    let tally = table.tally();
    let distributions = &tally.distributions;
    assert_eq!((distributions.life.count(), distributions.life.sum()), (2, 3.0));
    // Our SYN is no data.
    assert_eq!((distributions.sent.count(), distributions.sent.sum()), (3, 500.0));
    assert_eq!((distributions.sent.zero(), distributions.received.zero()), (2, 3));
    let outcomes = tally.fastopen;
    assert_eq!(
        (
            outcomes.requested,
            outcomes.taken,
            outcomes.refused,
            outcomes.accepted
        ),
        (1, 0, 0, 1)
    );
}

#[test]
fn a_handshake_is_told_once_as_soon_as_it_is_known() {
    let mut table = table(Grouping::default());
    let mut events = Vec::new();
    let seen = |cookie, at, origin, handshake_us| {
        let mut seen = observation(cookie, at, 1);
        seen.origin = origin;
        seen.tcp.handshake_us = handshake_us;
        seen
    };
    // Seen connecting first, then idle, then closing.
    let connecting = seen(1, SECOND / 2, Origin::Connect, None);
    table.apply(Update::Observed(connecting), &mut events);
    table.tick(Instant(SECOND), &mut events);
    let connected = seen(1, SECOND, Origin::Connect, Some(500_000));
    table.apply(Update::Observed(connected.clone()), &mut events);
    for second in 2..5 {
        table.tick(Instant(second * SECOND), &mut events);
    }
    table.apply(Update::Closed(connected), &mut events);
    // All that there is of it is its end; and one whose SYN-ACK was sent again.
    let accepted = seen(2, SECOND, Origin::Accept, Some(250_000));
    table.apply(Update::Closed(accepted), &mut events);
    table.apply(Update::Closed(seen(3, SECOND, Origin::Accept, None)), &mut events);
    let tally = table.tally();
    let of = |figure: &crate::snapshot::Distribution| (figure.count(), figure.sum());
    assert_eq!(of(&tally.distributions.handshake_connect), (1, 0.5));
    assert_eq!(of(&tally.distributions.handshake_accept), (1, 0.25));
}

/// One held by the peer's window over a round trip of 100 µs, where the next window would be 4 MiB: 42 GB/s.
fn near(table: &mut Table, cookie: u64, second: u64, acked: u64) {
    let mut seen = observation(cookie, second * SECOND, acked);
    seen.tcp.srtt_us = Some(100);
    seen.tcp.min_rtt_us = Some(100);
    seen.tcp.sndbuf = Some(8 << 20);
    seen.tcp.sndbuf_locked = Some(true);
    table.apply(Update::Observed(seen), &mut Vec::new());
    table.tick(Instant(second * SECOND), &mut Vec::new());
}

#[test]
fn where_the_path_is_not_known_nothing_is_missed_that_this_host_never_moved() {
    const RATE: u64 = 655_350_000;
    let mut table = table(Grouping::default());
    near(&mut table, 1, 1, RATE);
    near(&mut table, 1, 2, 2 * RATE);
    let limit = table.connections(Instant(2 * SECOND))[0].limit;
    let next = table.connections(Instant(2 * SECOND))[0].next.clone().unwrap();
    assert_eq!(limit, Limit::RwndScale);
    assert!(next.rate_bps > 100e9, "{next:?}");
    let held = (limit, Some(Direction::Send));
    assert_eq!(
        table.tally().spent[&held].not_moved,
        0,
        "it is the fastest there was"
    );
    // Half as fast: what it did before is missed.
    near(&mut table, 1, 3, 2 * RATE + RATE / 2);
    let tally = table.tally();
    assert_eq!(tally.spent[&held].not_moved, RATE / 2);
    let witness = tally.witnesses[&held];
    assert_eq!((witness.key.cookie, witness.not_moved), (1, RATE / 2));
    assert_eq!(tally.distributions.gain.sum(), 4.0, "1, 1 and 2");
    // A path that is known bounds it by itself.
    let known = Paths::new([(None, BytesPerSec(2.0 * RATE as f64))]);
    let mut table = Table::new(TableConfig { capacity: 10 }).with_paths(known);
    near(&mut table, 1, 1, RATE);
    near(&mut table, 1, 2, 2 * RATE);
    assert_eq!(table.tally().spent[&held].not_moved, 2 * RATE, "in two seconds");
}
