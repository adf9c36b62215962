use serde_json::json;

use super::*;
use crate::classify::Direction;
use crate::snapshot::Prevailing;

const SECOND: u64 = 1_000_000_000;

fn connection(id: &str, rate_bps: f64) -> Arc<Connection> {
    let told = json!({
        "id": id, "netns": 1, "local": "192.0.2.1:443", "peer": "203.0.113.9:50000", "direction": "send",
        "origin": "accept", "age_us": 5_000_000, "bound": "none", "limit": "none", "side": "nobody", "confidence": 1.0,
        "prevailing": {"bound": "none", "limit": "none", "since_us": 1_500_000},
        "rate_bps": rate_bps, "send_bps": rate_bps, "receive_bps": 0.0, "proof": "idle", "remedies": [], "tcp": {},
        "causes": [{"limit": "app", "seconds": 3.5, "bytes": 10}, {"limit": "none", "seconds": 1.5, "bytes": 0}],
    });
    serde_json::from_value(told).unwrap()
}

fn answer(at_s: u64, changes: Option<Changes>, connections: &[Arc<Connection>]) -> Snapshot {
    Snapshot {
        at_ns: at_s * SECOND,
        changes,
        connections: connections.to_vec(),
        ..Snapshot::default()
    }
}

fn changes(generation: u64, since: Option<u64>, gone: &[&str]) -> Option<Changes> {
    let gone = gone.iter().map(|id| Gone {
        id: (*id).to_owned(),
        netns: 1,
    });
    Some(Changes {
        generation,
        since,
        gone: gone.collect(),
    })
}

fn begun() -> Mirror {
    let mut mirror = Mirror::default();
    let all = [connection("2", 0.0), connection("7", 8.0), connection("10", 0.0)];
    mirror.fold(answer(10, changes(100, None, &[]), &all)).unwrap();
    mirror
}

fn shown(snapshot: &Snapshot) -> Vec<(&str, f64, u64)> {
    let row = |row: &Arc<Connection>| (row.rate_bps, row.age_us / 1_000_000);
    let rows = snapshot.connections.iter();
    rows.map(|each| (each.id.as_str(), row(each).0, row(each).1))
        .collect()
}

#[test]
fn what_is_told_of_replaces_joins_and_goes_and_the_rest_grows_older() {
    let mut mirror = begun();
    let told = [connection("7", 16.0), connection("9", 1.0)];
    let whole = mirror
        .fold(answer(12, changes(101, Some(100), &["10"]), &told))
        .unwrap();
    assert_eq!(shown(&whole), [("2", 0.0, 7), ("7", 16.0, 5), ("9", 1.0, 5)]);
    assert_eq!(whole.changes, None, "it is whole");
    let idle = &whole.connections[0];
    assert_eq!(idle.direction, Direction::Send);
    assert!(matches!(
        idle.prevailing,
        Some(Prevailing {
            since_us: 3_500_000,
            ..
        })
    ));
    let causes: Vec<_> = idle
        .causes
        .iter()
        .map(|cause| (cause.limit, cause.seconds))
        .collect();
    assert_eq!(causes, [(Limit::App, 3.5), (Limit::None, 3.5)]);
    assert_eq!(mirror.since(), 101);
}

#[test]
fn within_a_tick_nothing_grows_older() {
    let mut mirror = begun();
    for generation in 100..103 {
        let none = changes(generation + 1, Some(generation), &[]);
        let whole = mirror.fold(answer(10, none, &[])).unwrap();
        assert_eq!(whole.connections[0].age_us, 5_000_000);
    }
}

#[test]
fn a_row_that_a_reader_still_holds_is_left_as_it_is() {
    let mut mirror = begun();
    let mut held = Vec::new();
    for second in 1..6 {
        let none = changes(100 + second, Some(99 + second), &[]);
        held.push(mirror.fold(answer(10 + second, none, &[])).unwrap());
    }
    let ages: Vec<u64> = held
        .iter()
        .map(|whole| whole.connections[0].age_us / 1_000_000)
        .collect();
    assert_eq!(ages, [6, 7, 8, 9, 10]);
}

#[test]
fn what_does_not_fit_is_refused_and_the_next_answer_is_whole() {
    for (changes, connections) in [
        (changes(101, Some(99), &[]), vec![]),
        (changes(101, Some(100), &["x"]), vec![]),
        (changes(101, Some(100), &[]), vec![connection("-1", 0.0)]),
    ] {
        let mut mirror = begun();
        assert_eq!(mirror.fold(answer(11, changes, &connections)), Err(Misfit));
        assert_eq!(mirror.since(), 0);
    }
}

#[test]
fn who_knows_nothing_of_changes_tells_all() {
    let mut mirror = begun();
    let all = [connection("of another kind", 1.0)];
    let whole = mirror.fold(answer(11, None, &all)).unwrap();
    assert_eq!(whole.connections.len(), 1);
    assert_eq!(mirror.since(), 0);
}
