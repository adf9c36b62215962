//! What `tcpwin trace --json` says of real connections is what docs/trace.schema.json says it is. Needs root and BPF.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::Value;

#[path = "support/netns.rs"]
mod netns;
#[path = "support/schema.rs"]
mod schema;

/// Events looked at.
const EVENTS: usize = 40;

#[test]
fn real_events_keep_to_the_schema() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let filter = format!("local = :{0} or peer = :{0}", address.port());
    let count = EVENTS.to_string();
    let mut trace = Command::new(env!("CARGO_BIN_EXE_tcpwin"))
        .args(["trace", "--json", "--no-connect", "--source", "ebpf"])
        .args(["--filter", &filter, "--count", &count, "--duration", "5m"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("trace starts");
    // As many connections as it takes: when the probes are in place is nobody's to know.
    while trace.try_wait().expect("our child").is_none() {
        talk(&listener);
    }
    let status = trace.wait().expect("our child");
    let mut told = String::new();
    let mut out = trace.stdout.take().expect("piped");
    out.read_to_string(&mut told).expect("text");
    assert!(status.success(), "{status}: {told}");

    let text = include_str!("../../docs/trace.schema.json");
    let schema: Value = serde_json::from_str(text).expect("JSON");
    let events: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect();
    assert_eq!(events.len(), EVENTS);
    for event in &events {
        assert_eq!(schema::fault(&schema, event), None, "{event}");
    }
    for kind in ["open", "close"] {
        assert!(
            events.iter().any(|event| event["event"] == kind),
            "{kind} in {told}"
        );
    }
    let ours = std::process::id();
    let named = events.iter().filter(|event| {
        let process = event
            .get("process")
            .or_else(|| event["connection"].get("process"));
        process.is_some_and(|process| process["pid"] == ours)
    });
    assert_eq!(named.count(), EVENTS, "every event says whose it is: {told}");
}

/// A question and its answer on a connection of their own.
fn talk(listener: &TcpListener) {
    let address = listener.local_addr().expect("bound");
    let mut client = TcpStream::connect(address).expect("a listener");
    let (mut server, _) = listener.accept().expect("the client");
    let mut word = [0; 4];
    client.write_all(b"ping").expect("open");
    server.read_exact(&mut word).expect("a question");
    server.write_all(b"pong").expect("open");
    client.read_exact(&mut word).expect("an answer");
}
