//! What is told of real connections, as `tcpwin trace --json` writes it, is what docs/trace.schema.json says it is. Needs root and BPF.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::Value;
use tcpwin_agent::config::{Config, File, Overrides, SourceChoice};
use tcpwin_agent::daemon;
use tcpwin_agent::query::Filter;
use tcpwin_agent::snapshot::TraceEvent;
use tcpwin_agent::snapshot::feed::Told;

#[path = "support/netns.rs"]
mod netns;
#[path = "support/schema.rs"]
mod schema;

/// Connections made; both ends of each are told opening and closing.
const CONNECTIONS: usize = 10;

/// Far beyond what a loaded machine takes: only a test that hangs meets it.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn real_events_keep_to_the_schema() {
    if let Some(reason) = netns::not_root() {
        println!("skipped: {reason}");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let config = Config::merge(File::default(), Overrides::default());
    let opened = daemon::open_source(SourceChoice::Ebpf, &config).expect("the probes attach");
    let pipeline = daemon::start_pipeline(opened, &config).expect("a thread");
    let mut events = pipeline.handle().subscribe().await.expect("it runs");
    for _ in 0..CONNECTIONS {
        talk(&listener);
    }
    let ours: Filter = format!("local = :{port} or peer = :{port}")
        .parse()
        .expect("a filter");
    let mut told: Vec<Value> = Vec::new();
    let closed = |told: &[Value]| told.iter().filter(|event| event["event"] == "close").count();
    while closed(&told) < 2 * CONNECTIONS {
        let next = tokio::time::timeout(PATIENCE, events.next()).await;
        match next.unwrap_or_else(|_| panic!("only these came: {told:?}")) {
            Some(Told::Event(event)) if ours.matches_event(&event) => {
                let json = serde_json::to_string(&event).expect("JSON");
                // Not compared: the last digit of a rate may differ.
                serde_json::from_str::<TraceEvent>(&json).expect("it reads back");
                told.push(serde_json::from_str(&json).expect("JSON"));
            }
            Some(Told::Event(_)) => {}
            other => panic!("no event: {other:?}"),
        }
    }
    pipeline.stop().expect("it ends well");

    let text = include_str!("../../docs/trace.schema.json");
    let schema: Value = serde_json::from_str(text).expect("JSON");
    let opens = told.iter().filter(|event| event["event"] == "open").count();
    assert_eq!(opens, 2 * CONNECTIONS);
    let port = format!(":{port}");
    for event in &told {
        assert_eq!(schema::fault(&schema, event), None, "{event}");
        let of = event.get("connection").unwrap_or(event);
        // Who accepts is known once it does; who connects is from the start.
        let connected = of["peer"].as_str().is_some_and(|peer| peer.ends_with(&port));
        match of.get("process") {
            Some(process) => assert_eq!(process["pid"], std::process::id(), "{event}"),
            None => assert!(!connected, "{event}"),
        }
    }
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
