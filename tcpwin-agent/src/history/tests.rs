use std::time::Duration;

use super::*;
use crate::connection::{Paths, Spent, Table, TableConfig};
use crate::observation::{
    BudgetTotals, Endpoints, Key, Observation, Origin, OwnerHint, Tcp, TcpState, Totals,
};
use crate::source::Update;
use crate::units::Instant;

const SECOND: u64 = 1_000_000_000;
/// 2026-11-30 03:00 UTC.
const THREE: i64 = 1_796_007_600;

const LIMITS: Limits = Limits {
    size: 64 << 20,
    age: Duration::from_secs(86_400),
};

/// A connection that its peer's window of 65,535 bytes holds, or one that has little to send.
fn observation(cookie: u64, second: u64, held: bool) -> Observation {
    let life = second * SECOND;
    let mut budget = BudgetTotals::default();
    let state = if held {
        tcpwin_common::BUDGET_RWND
    } else {
        tcpwin_common::BUDGET_APP
    };
    budget.ns[state] = life;
    budget.flight[state] = life / 1_024 * 65_535;
    Observation {
        key: Key { cookie, netns: 1 },
        at: Instant(100 * SECOND + life),
        since: Instant(100 * SECOND),
        origin: Origin::Connect,
        endpoints: Endpoints {
            local: format!("192.0.2.1:{}", 40_000 + cookie).parse().unwrap(),
            peer: format!("203.0.113.{}:443", 1 + cookie % 2).parse().unwrap(),
        },
        state: TcpState::Established,
        owner: OwnerHint {
            pid: Some(7),
            name: Some(["nginx", "backup"][cookie as usize % 2].into()),
            ..OwnerHint::default()
        },
        tcp: Tcp {
            srtt_us: Some(100_000 * cookie as u32),
            min_rtt_us: Some(100_000 * cookie as u32),
            mss: Some(1_448),
            cwnd: Some(1_000),
            snd_wnd: Some(65_535),
            max_window: Some(65_535),
            wscale_ok: Some(false),
            in_flight: Some(65_000),
            sndbuf: Some(2_626_560),
            ..Tcp::default()
        },
        totals: Totals {
            bytes_acked: Some(if held {
                second * 655_350 / cookie
            } else {
                second * 100
            }),
            bytes_received: Some(0),
            retransmits: Some(0),
            delivered: Some(second as u32 * 450),
            ..Totals::default()
        },
        budget: Some(budget),
        calls: None,
    }
}

/// A minute in which connections 1 to 3 are held, and 4 is not.
fn spent() -> Spent {
    let path = (None, crate::units::BytesPerSec(1.25e7));
    let mut table = Table::new(TableConfig { capacity: 100 }).with_paths(Paths::new([path]));
    let mut events = Vec::new();
    table.take_spent();
    for second in 0..=60 {
        for cookie in 1..=4 {
            table.apply(
                Update::Observed(observation(cookie, second, cookie < 4)),
                &mut events,
            );
        }
        table.tick(Instant((100 + second) * SECOND), &mut events);
    }
    table.take_spent()
}

fn minute(at: i64) -> Minute {
    Minute {
        at,
        seconds: 60.0,
        host: "box".to_owned(),
        spent: spent(),
    }
}

fn question(from: i64, to: i64) -> Question {
    Question {
        from,
        to,
        ..Question::default()
    }
}

#[test]
fn which_were_window_bound_at_three_and_what_did_it_cost() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::new(folder.path(), LIMITS).unwrap();
    for at in [THREE - 60, THREE, THREE + 60] {
        store.write(&minute(at)).unwrap();
    }
    // Asked while the agent has the file open.
    let answer = ask(folder.path(), &question(THREE, THREE + 60)).unwrap();
    assert_eq!((answer.watched_seconds, answer.cut), (60.0, 0));
    assert_eq!(answer.faults, &[] as &[String]);
    let mut ids: Vec<_> = answer.lines.iter().map(|line| line.id.clone().unwrap()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "3"]);
    assert!(answer.lines.iter().all(|line| line.limit.name() == "rwnd_scale"));
    assert!(
        answer
            .lines
            .iter()
            .all(|line| (50.0..=61.0).contains(&line.seconds))
    );
    insta::assert_snapshot!(text(&answer, By::Connection, None, |_| 0));

    let three_minutes = question(THREE - 60, THREE + 120);
    let by = |by| {
        let question = Question {
            by,
            ..three_minutes.clone()
        };
        ask(folder.path(), &question).unwrap()
    };
    let by_process = by(By::Process);
    let counts: Vec<_> = by_process
        .lines
        .iter()
        .map(|line| (line.process.clone().unwrap(), line.connections))
        .collect();
    assert_eq!(counts, [("backup".to_owned(), 2), ("nginx".to_owned(), 1)]);
    insta::assert_snapshot!("by_peer", text(&by(By::Peer), By::Peer, None, |_| 0));
    assert_eq!(by(By::Limit).lines.len(), 1);
    let filtered = Question {
        filter: "proc = nginx".parse().unwrap(),
        ..three_minutes
    };
    let filtered = ask(folder.path(), &filtered).unwrap();
    assert_eq!(filtered.lines.len(), 1);
    assert_eq!(filtered.lines[0].id.as_deref(), Some("2"));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&filtered).unwrap());
}

#[test]
fn what_is_old_goes_and_so_do_hours_of_the_future() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        age: Duration::from_secs(2 * 3_600),
        ..LIMITS
    };
    let mut store = Store::new(folder.path(), limits).unwrap();
    for hour in [9, 0, 1, 2, 3, 4] {
        store.write(&minute(THREE + hour * 3_600)).unwrap();
    }
    let hours: Vec<i64> = schema::files(folder.path())
        .unwrap()
        .into_iter()
        .map(|(hour, _)| (hour - THREE) / 3_600)
        .collect();
    assert_eq!(hours, [2, 3, 4]);
}

#[test]
fn a_minute_watched_in_two_parts_is_one() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut store = Store::new(folder.path(), LIMITS).unwrap();
        let part = Minute {
            seconds: 20.0,
            ..minute(THREE)
        };
        store.write(&part).unwrap();
    }
    let answer = ask(folder.path(), &question(THREE, THREE + 60)).unwrap();
    assert_eq!(answer.watched_seconds, 40.0);
    assert_eq!(answer.lines.len(), 3);
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::new(folder.path(), LIMITS).unwrap();
    store.write(&minute(THREE)).unwrap();
    store.write(&minute(THREE + 3_600)).unwrap();
    drop(store);
    std::fs::write(
        schema::file(folder.path(), THREE),
        b"no database at all, but long enough to be looked at",
    )
    .unwrap();
    let answer = ask(folder.path(), &question(THREE, THREE + 7_200)).unwrap();
    assert_eq!(answer.lines.len(), 3);
    assert_eq!(answer.faults.len(), 1);
    assert!(answer.faults[0].contains("T03Z.sqlite"), "{:?}", answer.faults);
    assert!(ask(&folder.path().join("nowhere"), &question(0, 1)).is_err());
}

#[test]
fn the_writer_has_written_all_when_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path(), LIMITS).unwrap();
    let mut writer = Writer::start(store).unwrap();
    writer.write(minute(THREE));
    assert_eq!((writer.lost(), writer.take_failure()), (0, None));
    drop(writer);
    let answer = ask(folder.path(), &question(THREE, THREE + 60)).unwrap();
    assert_eq!(answer.lines.len(), 3);
    let nothing = ask(folder.path(), &question(THREE + 60, THREE + 120)).unwrap();
    let said = text(&nothing, By::Connection, None, |_| 0);
    assert!(said.contains("nothing was watched then"), "{said}");
}
