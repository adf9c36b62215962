//! What an agent serves is a recording from the moment it was asked for.

use super::host::{ROOMY, folder};
use super::*;
use crate::recording::{Copy, Sink};

/// Waits for nothing: what was sent is there.
fn all(mut sink: Sink) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(part) = sink.try_recv() {
        bytes.extend_from_slice(&part);
    }
    bytes
}

#[test]
fn a_reader_who_comes_later_gets_what_stands_and_what_comes() {
    let (_folder, file) = folder();
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), Choice::default());
    host.run(30);
    let now = host.table.ticked();
    let sink = host
        .recorder
        .as_mut()
        .unwrap()
        .subscribe(now, &mut host.table)
        .unwrap();
    host.run(30);
    host.end();
    let bytes = all(sink);

    let (_folder, copied) = folder();
    let copy = Copy::new(Segments::new(&copied, ROOMY).unwrap(), Choice::default());
    assert!(!copy.segment(bytes.as_slice()).unwrap());
    copy.finish().unwrap();
    let mut replay = Replay::open(&copied).unwrap();
    let mut ticks = Vec::new();
    while replay.step(&mut Vec::new()).is_some() {
        ticks.push(replay.snapshot());
    }
    assert_eq!(replay.faults(), &[] as &[String]);
    // The state at tick 30, and the 30 after it.
    assert_eq!(ticks.len(), 31);
    let live: Snapshot = serde_json::from_str(&host.shown[59]).unwrap();
    let last = ticks.last().unwrap();
    let ids = |snapshot: &Snapshot| -> Vec<_> {
        snapshot
            .connections
            .iter()
            .map(|each| (each.id.clone(), each.process.clone()))
            .collect()
    };
    assert_eq!(ids(last), ids(&live));
    assert_eq!(last.health.losses, live.health.losses);
}

#[test]
fn too_many_readers_are_refused_and_slow_ones_are_let_go() {
    let (_folder, file) = folder();
    let mut host = Host::new(Segments::new(&file, ROOMY).unwrap(), Choice::default());
    host.run(1);
    let now = host.table.ticked();
    let subscribe = |host: &mut Host| host.recorder.as_mut().unwrap().subscribe(now, &mut host.table);
    let sinks: Vec<_> = (0..5).map(|_| subscribe(&mut host)).collect();
    assert_eq!(sinks.iter().flatten().count(), 4);
    host.run(300);
    let [_, (cause, behind)] = host.recorder.as_ref().unwrap().losses();
    assert_eq!((cause, behind), ("recording_reader_behind", 4));
}
