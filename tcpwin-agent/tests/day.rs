//! A host with a thousand new connections a second, recorded and remembered for a day: disk and memory stay within the bounds.
//!
//! Scaled down for a debug build: the recording is of a minute against a bound of 1 MiB, which is as many times more than fits
//! as a day is against 1 GiB; the history is of five hours of which four are kept, minute by minute, against 8 MiB, with as many
//! connections in each minute as it has room for ten times over.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tcpwin_agent::connection::{Spent, Table, TableConfig};
use tcpwin_agent::history::{self, By, Minute, Question, Store};
use tcpwin_agent::observation::{
    BudgetTotals, Endpoints, Key, Observation, Origin, OwnerHint, Tcp, TcpState, Totals,
};
use tcpwin_agent::recording::{About, Choice, Clocks, Limits, Recorder, Segments, segments_of};
use tcpwin_agent::replay::Replay;
use tcpwin_agent::snapshot::Snapshot;
use tcpwin_agent::source::{HostCounts, Update};
use tcpwin_agent::units::Instant;

const SECOND: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;
const A_SECOND: u64 = 1_000;
/// Connections held in a minute of the history.
const HELD: u64 = 400;
/// How long the history is kept, s.
const KEPT: i64 = 4 * 3_600;

/// A connection that is opened and closed within a second, held by its peer's window of 65,535 bytes all the while.
fn short_lived(number: u64, second: u64) -> [Update; 2] {
    let opened = second * SECOND + number % A_SECOND * 100_000;
    let peer = SocketAddr::from(([203, 0, 113, (number % 250) as u8], 443));
    let local = SocketAddr::from(([192, 0, 2, 1], 1_024 + (number % 60_000) as u16));
    let program = ["nginx", "envoy", "curl", "postgres"][number as usize % 4];
    let seen = |at: u64| {
        let life = at - opened;
        let mut budget = BudgetTotals::default();
        budget.ns[tcpwin_common::BUDGET_RWND] = life;
        budget.flight[tcpwin_common::BUDGET_RWND] = life / 1_024 * 65_535;
        Observation {
            key: Key {
                cookie: 1 + number,
                netns: 1,
            },
            at: Instant(at),
            since: Instant(opened),
            origin: Origin::Connect,
            endpoints: Endpoints { local, peer },
            state: TcpState::Established,
            owner: OwnerHint {
                pid: Some(1_000 + (number % 4) as u32),
                name: Some(program.into()),
                ..OwnerHint::default()
            },
            tcp: Tcp {
                srtt_us: Some(50_000 + (number % 977) as u32),
                rttvar_us: Some(500),
                min_rtt_us: Some(50_000),
                cwnd: Some(100),
                mss: Some(1_448),
                snd_wnd: Some(65_535),
                max_window: Some(65_535),
                wscale_ok: Some(false),
                in_flight: Some(65_000),
                sndbuf: Some(2_626_560),
                congestion: Some("cubic".into()),
                ..Tcp::default()
            },
            totals: Totals {
                bytes_acked: Some(life / 50_000_000 * 65_535),
                bytes_received: Some(number % 4_096),
                retransmits: Some(0),
                delivered: Some((life / 50_000_000 * 45) as u32),
                ..Totals::default()
            },
            budget: Some(budget),
            calls: None,
        }
    };
    [
        Update::Observed(seen(opened)),
        Update::Closed(seen(opened + 850_000_000)),
    ]
}

fn table() -> Table {
    Table::new(TableConfig { capacity: 131_072 })
}

/// All files together, bytes.
fn on_disk(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

/// Resident memory, bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1_024
}

#[test]
fn a_recording_stays_within_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("day.tcpwin");
    let limits = Limits { size: MIB, age: None };
    let about = About {
        capacity: 131_072,
        ..About::default()
    };
    let segments = Segments::new(&file, limits).unwrap();
    let mut recorder = Recorder::new(about, Clocks::default()).with_file(segments, Choice::default());
    let mut table = table();
    recorder.begin(Instant(SECOND), &mut table);
    let mut events = Vec::new();
    let (mut written, mut before, mut early) = (0, 0, 0);
    for second in 1..=60 {
        for number in (second - 1) * A_SECOND..second * A_SECOND {
            for update in short_lived(number, second) {
                recorder.update(&update);
                table.apply(update, &mut events);
                recorder.answers(&mut table);
            }
        }
        let now = Instant((second + 1) * SECOND);
        recorder.tick(now, 0);
        table.tick(now, &mut events);
        recorder.answers(&mut table);
        let snapshot = Snapshot {
            tick: second,
            ..Snapshot::default()
        };
        recorder.laid(&snapshot, (HostCounts::default(), None), &mut table);
        events.clear();
        assert_eq!(recorder.take_failure(), None);
        let size = on_disk(folder.path());
        assert!(size <= limits.size, "{size} bytes after {second} s");
        written += size.saturating_sub(before);
        before = size;
        if second == 20 {
            early = resident();
        }
    }
    drop(recorder);
    println!(
        "at least {} kB a second, {} segments, {} kB on disk",
        written / 60 / 1_000,
        segments_of(&file).len(),
        before / 1_000
    );
    assert!(
        written > 2 * limits.size,
        "the bound was hardly reached: {written} bytes"
    );
    let grown = resident().saturating_sub(early);
    assert!(grown < 32 * MIB, "{grown} bytes more than a minute before");

    // What is left can be read, to its end.
    let mut replay = Replay::open(&file).unwrap();
    let mut last = 0;
    while replay.step(&mut Vec::new()).is_some() {
        last = replay.now().0;
    }
    assert_eq!(replay.faults(), &[] as &[String]);
    assert_eq!(last, 61 * SECOND);
}

/// What a minute held, a few seconds of it: more connections than a minute has room for.
fn spent() -> Spent {
    let mut table = table();
    let mut events = Vec::new();
    table.take_spent();
    for second in 1..=2 {
        for number in second * A_SECOND..second * A_SECOND + HELD / 2 {
            for update in short_lived(number, second) {
                table.apply(update, &mut events);
            }
        }
        table.tick(Instant((second + 1) * SECOND), &mut events);
        events.clear();
    }
    table.take_spent()
}

#[test]
fn a_history_stays_within_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let limits = history::Limits {
        size: 8 * MIB,
        age: Duration::from_secs(KEPT.unsigned_abs()),
    };
    let mut store = Store::new(folder.path(), limits).unwrap();
    let spent = spent();
    assert_eq!(spent.held().len() as u64, HELD);
    let start = 1_796_000_400;
    let (mut most, mut early) = (0, 0);
    for minute in 0..5 * 60 {
        store
            .write(&Minute {
                at: start + minute * 60,
                seconds: 60.0,
                host: "box".to_owned(),
                spent: spent.clone(),
            })
            .unwrap();
        if minute % 10 == 0 {
            let size = on_disk(folder.path());
            most = most.max(size);
            assert!(size <= limits.size, "{size} bytes after {minute} minutes");
        }
        if minute == 100 {
            early = resident();
        }
    }
    let grown = resident().saturating_sub(early);
    assert!(grown < 32 * MIB, "{grown} bytes more than hours before");
    drop(store);

    let ask = |from: i64, to: i64, by: By| {
        let question = Question {
            from,
            to,
            by,
            ..Question::default()
        };
        history::ask(folder.path(), &question).unwrap()
    };
    let end = start + 5 * 3_600;
    let day = ask(end - KEPT, end, By::Limit);
    println!(
        "{} kB on disk at most; of the last four hours {} are there",
        most / 1_000,
        day.watched_seconds / 3_600.0
    );
    // All of it is there, and most of the room is used.
    assert_eq!(day.watched_seconds, KEPT as f64);
    assert!(most > limits.size / 3, "{most}");
    let at = ask(end - 7_200, end - 7_140, By::Connection);
    assert!(
        at.lines.len() > 20 && at.cut > 0,
        "{} lines, {} cut",
        at.lines.len(),
        at.cut
    );
    assert_eq!(at.lines.len() as u64 + at.cut, HELD);
    let worst = &at.lines[0];
    assert!(worst.bytes_not_moved > at.lines[19].bytes_not_moved || worst.seconds >= at.lines[19].seconds);
}
