use std::fs;

use super::*;
use crate::recording::{Choice, Limits, Mask, Segments};
use crate::snapshot::Feed as _;
use crate::snapshot::playback::{Jump, Playback};

mod bytes;
mod copy;
mod host;
mod refusal;

use host::{Host, ROOMY, SECOND, folder, recorded};

fn shown(replay: &Replay) -> String {
    serde_json::to_string(&replay.snapshot()).unwrap()
}

fn lines(events: &[TraceEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect()
}

#[test]
fn a_replay_shows_what_was_shown_byte_for_byte() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 180);
    let mut replay = Replay::open(&file).unwrap();
    let mut events = Vec::new();
    for (tick, expected) in host.shown.iter().enumerate() {
        assert!(replay.step(&mut events).is_some(), "tick {tick}");
        assert_eq!(&shown(&replay), expected, "tick {tick}");
    }
    assert_eq!(replay.step(&mut events), None);
    assert_eq!(replay.faults(), &[] as &[String]);
    assert_eq!(lines(&events), lines(&host.events));
    assert_eq!(host.failures, &[] as &[String]);
    let limits: std::collections::BTreeSet<_> = replay
        .snapshot()
        .connections
        .iter()
        .map(|connection| connection.limit)
        .collect();
    assert!(limits.len() > 2, "a host on which little happens: {limits:?}");
}

#[test]
fn segments_are_one_run_and_each_stands_by_itself() {
    let (_folder, file) = folder();
    // Small, so that there are several.
    let limits = Limits {
        size: 4 << 20,
        age: Some(std::time::Duration::from_secs(480)),
    };
    let host = recorded(&file, limits, 200);
    let segments = crate::recording::segments_of(&file);
    assert!(segments.len() >= 3, "{segments:?}");
    let mut replay = Replay::open(&file).unwrap();
    let mut events = Vec::new();
    for (tick, expected) in host.shown.iter().enumerate() {
        assert!(replay.step(&mut events).is_some(), "tick {tick}");
        assert_eq!(&shown(&replay), expected, "tick {tick}");
    }
    assert_eq!(replay.step(&mut events), None);
    assert_eq!(lines(&events), lines(&host.events));

    // The newest alone: the same connections, and once they have been seen for a while the same verdicts.
    for old in &segments[1..] {
        fs::remove_file(old).unwrap();
    }
    let mut alone = Replay::open(&file).unwrap();
    let mut last = None;
    while alone.step(&mut Vec::new()).is_some() {
        last = Some(alone.snapshot());
    }
    let last = last.unwrap();
    let whole: Snapshot = serde_json::from_str(host.shown.last().unwrap()).unwrap();
    let verdicts = |snapshot: &Snapshot| -> Vec<_> {
        let told = |connection: &Arc<crate::snapshot::Connection>| {
            (
                connection.id.clone(),
                connection.process.clone(),
                connection.causes.len(),
            )
        };
        snapshot.connections.iter().map(told).collect()
    };
    assert_eq!(last.connections.len(), whole.connections.len());
    let same = verdicts(&last)
        .iter()
        .zip(&verdicts(&whole))
        .filter(|(one, other)| one == other)
        .count();
    assert!(same * 10 >= whole.connections.len() * 9, "{same}");
}

#[test]
fn other_addresses_give_the_same_verdicts() {
    let (_folder, file) = folder();
    let masked = Choice {
        mask: Some(Mask::random()),
        ..Choice::default()
    };
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), masked);
    host.run(100);
    host.end();
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.windows(3).any(|window| window == b"box"));
    let mut replay = Replay::open(&file).unwrap();
    for expected in &host.shown {
        assert!(replay.step(&mut Vec::new()).is_some());
        let expected: Snapshot = serde_json::from_str(expected).unwrap();
        // Both by way of JSON, which need not give the last bit back.
        let replayed: Snapshot = serde_json::from_str(&shown(&replay)).unwrap();
        for (one, other) in replayed.connections.iter().zip(&expected.connections) {
            assert_eq!(
                (one.limit, &one.ledger, one.rate_bps),
                (other.limit, &other.ledger, other.rate_bps)
            );
        }
    }
    let last = replay.snapshot();
    assert_eq!(last.health.host, "anonymised");
    assert!(
        last.connections
            .iter()
            .any(|connection| !connection.local.starts_with("192.0.2.1:"))
    );
}

#[test]
fn only_what_was_asked_for_is_recorded() {
    let (_folder, file) = folder();
    let chosen = Choice {
        only: vec![1],
        ..Choice::default()
    };
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), chosen);
    host.run(100);
    host.end();
    let mut replay = Replay::open(&file).unwrap();
    for expected in &host.shown {
        assert!(replay.step(&mut Vec::new()).is_some());
        let expected: Snapshot = serde_json::from_str(expected).unwrap();
        let of = |snapshot: &Snapshot, netns| -> Vec<(String, crate::classify::Limit, u64)> {
            let ours = snapshot.connections.iter().filter(|each| each.netns == netns);
            ours.map(|each| (each.id.clone(), each.limit, each.age_us))
                .collect()
        };
        let replayed = replay.snapshot();
        assert_eq!(of(&replayed, 1), of(&expected, 1));
        assert_eq!(of(&replayed, 2), []);
    }
}

#[test]
fn a_killed_recorder_loses_what_came_after_its_last_frame_alone() {
    let (_folder, file) = folder();
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), Choice::default());
    host.run(20);
    // As after kill -9: no end is written.
    std::mem::forget(host.recorder.take());
    let mut replay = Replay::open(&file).unwrap();
    for expected in &host.shown {
        assert!(replay.step(&mut Vec::new()).is_some());
        assert_eq!(&shown(&replay), expected);
    }
    assert_eq!(replay.step(&mut Vec::new()), None);
    assert_eq!(replay.faults().len(), 1);
    assert!(
        replay.faults()[0].contains("without its end mark"),
        "{:?}",
        replay.faults()
    );
}

#[test]
fn what_is_whole_before_a_fault_is_replayed() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 40);
    let bytes = fs::read(&file).unwrap();
    for (damage, said) in [(true, "damaged"), (false, "ends within a frame")] {
        let mut bytes = bytes.clone();
        let middle = bytes.len() / 2;
        if damage {
            bytes[middle] ^= 0x10;
        } else {
            bytes.truncate(middle);
        }
        fs::write(&file, &bytes).unwrap();
        let mut replay = Replay::open(&file).unwrap();
        let mut ticks = 0;
        while replay.step(&mut Vec::new()).is_some() {
            assert_eq!(shown(&replay), host.shown[ticks]);
            ticks += 1;
        }
        assert!((10..35).contains(&ticks), "{ticks}");
        let faults = replay.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].contains(said) && faults[0].contains("at byte"),
            "{faults:?}"
        );
    }
}

#[test]
fn a_player_is_steered_through_time() {
    let (_folder, file) = folder();
    let host = recorded(&file, ROOMY, 120);
    let playback = Playback::default();
    // The reader asks once a second.
    let mut now = 0;
    let clock = Box::new(move || {
        now += SECOND;
        Instant(now)
    });
    let mut player = Player::new(Replay::open(&file).unwrap(), playback.clone(), clock);
    let mut at = || player.latest().unwrap().tick;
    assert_eq!((at(), at(), at()), (1, 1, 2));
    playback.faster();
    assert_eq!((at(), at()), (4, 6));
    playback.pause();
    assert_eq!((at(), at()), (6, 6));
    playback.jump(Jump::Step);
    assert_eq!((at(), at()), (7, 7));
    playback.jump(Jump::By(60));
    assert_eq!(at(), 67);
    playback.jump(Jump::By(-10));
    assert_eq!(at(), 57);
    playback.jump(Jump::End);
    assert_eq!(at(), 120);
    playback.jump(Jump::Start);
    assert_eq!(at(), 1);
    playback.jump(Jump::By(30));
    assert_eq!(at(), 30);
    let shown = serde_json::to_string(&*player.latest().unwrap()).unwrap();
    assert_eq!(shown, host.shown[29]);
    assert!(
        playback.text().0.starts_with("replay 00:37:10 paused, 25 %"),
        "{:?}",
        playback.text()
    );
}
