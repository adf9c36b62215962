//! A reader that is told only of changes has the same rows as one that is told all.

use proptest::prelude::*;

use super::tests::{SECOND, observation};
use super::*;
use crate::snapshot::{Changes, Connection, Gone, Mirror, Snapshot};

/// What happens to a connection in an interval.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Nothing,
    Moves,
    IsFound,
    Closes,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Nothing),
        3 => Just(Fate::Moves),
        1 => Just(Fate::IsFound),
        1 => Just(Fate::Closes),
    ]
}

fn befall(table: &mut Table, cookie: u64, at: u64, fate: Fate) {
    let seen = observation(cookie, at, at / 1_000);
    let update = match fate {
        Fate::Nothing => return,
        Fate::Moves => Update::Observed(seen),
        Fate::IsFound => Update::Observed(Observation {
            origin: Origin::Seeded,
            ..seen
        }),
        Fate::Closes => Update::Closed(seen),
    };
    table.apply(update, &mut Vec::new());
}

/// Asks as an exit does, and gives what the copy shows then.
fn ask(table: &mut Table, mirror: &mut Mirror) -> (Option<u64>, usize, Vec<Arc<Connection>>) {
    let at = table.ticked();
    let changed = table.changed(mirror.since(), at);
    let (since, told) = (changed.since, changed.connections.len());
    let gone = changed.gone.iter().map(|key| Gone {
        id: key.cookie.to_string(),
        netns: key.netns,
    });
    let answer = Snapshot {
        at_ns: at.0,
        changes: Some(Changes {
            generation: changed.generation,
            since,
            gone: gone.collect(),
        }),
        connections: changed.connections,
        ..Snapshot::default()
    };
    let whole = mirror.fold(answer).unwrap();
    (since, told, whole.connections.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_copy_is_what_the_table_shows(
        intervals in prop::collection::vec((prop::collection::vec(fate(), 12), prop::collection::vec(fate(), 12), 0..4_u8), 1..20),
        capacity in 8..16_usize,
    ) {
        let mut table = Table::new(TableConfig { capacity });
        let mut mirrors = [Mirror::default(), Mirror::default()];
        table.tick(Instant(100 * SECOND), &mut Vec::new());
        for (number, (before, after, asks)) in (101..).zip(intervals) {
            let at = number * SECOND;
            for (cookie, fate) in (1..).zip(before) {
                befall(&mut table, cookie, at, fate);
            }
            table.tick(Instant(at), &mut Vec::new());
            if asks & 1 > 0 {
                let (_, _, shown) = ask(&mut table, &mut mirrors[0]);
                same(&shown, &table.connections(Instant(at)))?;
            }
            for (cookie, fate) in (1..).zip(after) {
                befall(&mut table, cookie, at + SECOND / 2, fate);
            }
            // The second one asks between ticks.
            let second = usize::from(asks & 2 > 0);
            let (_, _, shown) = ask(&mut table, &mut mirrors[second]);
            same(&shown, &table.connections(Instant(at)))?;
        }
    }
}

fn same(shown: &[Arc<Connection>], all: &[Arc<Connection>]) -> Result<(), TestCaseError> {
    for (shown, all) in shown.iter().zip(all) {
        prop_assert_eq!(shown, all);
    }
    prop_assert_eq!(shown.len(), all.len());
    Ok(())
}

#[test]
fn only_what_changed_is_told() {
    let mut table = Table::new(TableConfig { capacity: 100 });
    let mut mirror = Mirror::default();
    for cookie in 1..=50 {
        befall(&mut table, cookie, SECOND, Fate::Moves);
    }
    let mut told = Vec::new();
    for second in 1..=5 {
        befall(&mut table, 7, second * SECOND, Fate::Moves);
        table.tick(Instant(second * SECOND), &mut Vec::new());
        let (since, count, shown) = ask(&mut table, &mut mirror);
        assert_eq!(shown.len(), 50);
        told.push((since.is_some(), count));
    }
    // All at first; then those that fell idle; then the one that moves.
    assert_eq!(told, [(false, 50), (true, 50), (true, 1), (true, 1), (true, 1)]);
    befall(&mut table, 7, 6 * SECOND, Fate::Closes);
    let (_, count, shown) = ask(&mut table, &mut mirror);
    assert_eq!((count, shown.len()), (0, 49));
}
