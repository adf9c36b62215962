//! The live agent recorded: a replay tells the same events, byte for byte, and a killed recorder has lost a second at most.
//! Needs root.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tcpwin_agent::replay::Replay;
use tcpwin_agent::snapshot::Snapshot;
use tcpwin_agent::source::kernel_clock;

#[path = "support/agent.rs"]
mod agent;
#[path = "support/netns.rs"]
mod netns;
#[path = "support/told.rs"]
mod told;

use agent::{Agent, TCPWIN};
use told::within_patience;

/// Bytes of a request and of its answer.
const TURN: usize = 20_000;
/// Turns of a connection.
const TURNS: usize = 200;

/// One connection after another, each of some turns, until told to end.
fn talk(over: &AtomicBool) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the namespace has a loopback");
    let address = listener.local_addr().expect("bound");
    while !over.load(Ordering::Relaxed) {
        let client = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).expect("the listener is there");
            let mut room = [0; TURN];
            for _ in 0..TURNS {
                stream.write_all(&room).expect("the server reads");
                stream.read_exact(&mut room).expect("the server answers");
            }
        });
        let (mut stream, _) = listener.accept().expect("the client connects");
        let mut room = [0; TURN];
        while stream.read_exact(&mut room).is_ok() {
            stream.write_all(&room).expect("the client reads");
        }
        client.join().expect("the client ends");
    }
}

/// Does `work` while connections are opened, used and closed in a namespace of their own.
fn beside_traffic<T>(work: impl FnOnce() -> T) -> T {
    let place = netns::Namespace::new();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| place.inside(|| talk(&over)));
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

fn replayed(file: &Path) -> String {
    let output = Command::new(TCPWIN)
        .args(["trace", "--json", "--replay"])
        .arg(file)
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_replay_tells_what_was_told_live() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("live.tcpwin");
    let live = beside_traffic(|| {
        let output = Command::new(TCPWIN)
            .args(["trace", "--no-connect", "--json", "--duration", "6s", "--record"])
            .arg(&file)
            .stderr(Stdio::inherit())
            .output()
            .expect("it starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    });
    let replayed = replayed(&file);
    // The recording begins before the reader of events, and ends after it.
    let first = live.lines().next().expect("something was told");
    let at = replayed
        .find(first)
        .unwrap_or_else(|| panic!("not replayed: {first}"));
    assert!(replayed[at..].starts_with(&live), "a replay tells other events");
    let closes = live.matches("\"event\":\"close\"").count();
    println!(
        "{} events, {closes} of them closings, are the same",
        live.lines().count()
    );
    assert!(closes > 0);
}

#[test]
fn a_killed_recorder_has_lost_a_second_at_most() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("killed.tcpwin");
    let path = file.to_str().expect("text");
    let (killed, shown) = beside_traffic(|| {
        let mut agent = Agent::start(&["--interval", "500ms", "--record", path]);
        agent.until_ready();
        let since = kernel_clock();
        let shown = loop {
            let shown: Snapshot = agent.json("/api/v1/snapshot");
            if shown.tick >= 6 {
                break shown;
            }
            within_patience(since, || "the agent does not tick".to_owned());
        };
        let killed = kernel_clock();
        agent.end(Signal::KILL);
        (killed, shown)
    });
    let mut replay = Replay::open(&file).expect("what is whole can be read");
    let mut same = None;
    while replay.step(&mut Vec::new()).is_some() {
        if replay.now().0 == shown.at_ns {
            same = Some(replay.snapshot());
        }
    }
    let lost = Duration::from_nanos(killed.since(replay.now()).0);
    println!("{lost:?} of the recording lost");
    assert!(lost <= Duration::from_secs(1), "{lost:?}");
    assert_eq!(replay.faults().len(), 1, "{:?}", replay.faults());
    // What was shown is in it: counters to the last bit.
    let same = same.expect("the tick that was shown");
    assert_eq!(same.tick, shown.tick);
    let text = |snapshot: &Snapshot| serde_json::to_string(&snapshot.summary).expect("plain data");
    let again: Snapshot =
        serde_json::from_str(&serde_json::to_string(&same).expect("plain data")).expect("its own");
    assert_eq!(text(&again), text(&shown));
}
