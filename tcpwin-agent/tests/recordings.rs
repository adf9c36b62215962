//! Recordings of the lab's scenarios: a replay tells what the live agent told, byte for byte.
//!
//! Made by `cargo xtask lab SCENARIO --record tcpwin-agent/tests/recordings`: `NAME.tcpwin` is what went into the table,
//! `NAME.jsonl` what was told while it was made. Any change of what is told for the same inputs shows here; if it is meant,
//! make them anew.

use std::fs;
use std::path::{Path, PathBuf};

use tcpwin_agent::replay::Replay;
use tcpwin_agent::snapshot::TraceEvent;

/// Small enough to be read by git.
const MOST: u64 = 100_000;

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let files = fs::read_dir(folder).expect("the recordings are there");
    let mut files: Vec<PathBuf> = files
        .map(|file| file.expect("the recordings are there").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "tcpwin"))
        .collect();
    files.sort();
    files
}

#[test]
fn a_replay_tells_what_was_told_live() {
    let recordings = recordings();
    assert!(recordings.len() >= 3, "{recordings:?}");
    for path in recordings {
        let size = fs::metadata(&path).expect("it is there").len();
        assert!(size <= MOST, "{}: {size} bytes", path.display());
        let mut replay = Replay::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let mut events = Vec::new();
        while replay.step(&mut events).is_some() {}
        assert_eq!(replay.faults(), &[] as &[String]);
        let told: String = events
            .iter()
            .map(|event| serde_json::to_string(event).expect("plain data") + "\n")
            .collect();
        let live = fs::read_to_string(path.with_extension("jsonl")).expect("told live");
        assert!(told == live, "{}: {}", path.display(), difference(&told, &live));
        assert!(
            has_verdict(&path, &events),
            "{}: not the scenario's limit",
            path.display()
        );
    }
}

/// If a limit that the scenario is named after is told.
fn has_verdict(path: &Path, events: &[TraceEvent]) -> bool {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    events.iter().any(|event| match event {
        TraceEvent::Verdict { to, .. } => name.contains(to.name()),
        _ => false,
    })
}

fn difference(told: &str, live: &str) -> String {
    let mut pairs = told.lines().zip(live.lines()).enumerate();
    match pairs.find(|(_, (one, other))| one != other) {
        Some((at, (one, other))) => format!("line {}\nreplayed {one}\nlive     {other}", at + 1),
        None => format!(
            "{} lines replayed, {} told live",
            told.lines().count(),
            live.lines().count()
        ),
    }
}
