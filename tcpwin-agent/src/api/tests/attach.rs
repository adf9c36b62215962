//! What `top` and `trace` read over HTTP and unix sockets.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::{Served, served, site, snapshot};
use crate::api::{Place, Web, bind, routes, serve};
use crate::attach::{AttachError, Attached, Login};
use crate::exporter::Exporter;
use crate::snapshot::feed::{self, Told};
use crate::snapshot::{Feed as _, Process, Snapshot, TraceEvent, Watch, Whose};

#[test]
fn samples_come_to_who_watches() {
    let mut served = served(snapshot(0));
    let full = Arc::new(snapshot(0));
    let (status, answer) = served.ask("/api/v1/snapshot?watch=7&netns=9", &full);
    assert_eq!(status, 200, "{answer}");
    let watching: Snapshot = serde_json::from_str(&answer).unwrap();
    assert_eq!((watching.samples[0].at_ns, watching.samples[0].cwnd), (7, 9));
    let (_, answer) = served.ask("/api/v1/snapshot", &full);
    assert!(!answer.contains("samples"), "{answer}");
    for wrong in ["watch=7", "netns=9", "watch=x&netns=9", "match=7"] {
        let (status, why) = served.ask(&format!("/api/v1/snapshot?{wrong}"), &full);
        assert_eq!(status, 400, "{wrong}: {why}");
    }
    // As `top --connect` asks.
    let (url, handle) = (served.address.to_string(), full);
    let seen = served.playing(&handle, move || {
        let mut attached = Attached::connect(&url, &Login::default()).unwrap();
        attached.watch(Some(Watch {
            id: "7".to_owned(),
            netns: 9,
        }));
        let watching = attached.latest().unwrap().samples.len();
        attached.watch(None);
        (watching, attached.latest().unwrap().samples.len())
    });
    assert_eq!(seen, (1, 0));
}

#[test]
fn top_attaches_and_reads_what_the_loop_gave() {
    for count in [0, 1, 64, 65, 1_000] {
        let mut served = served(snapshot(0));
        let full = Arc::new(snapshot(count));
        let url = served.address.to_string();
        let read = served.playing(&full, move || {
            let mut agent = Attached::connect(&url, &Login::default()).unwrap();
            assert_eq!(agent.version_note(), None);
            agent.latest().unwrap()
        });
        assert_eq!(read, full);
    }
}

#[test]
fn trace_attaches_and_reads_events() {
    let mut served = served(snapshot(0));
    let url = served.address.to_string();
    let none = Arc::new(snapshot(0));
    let mut events = served.playing(&none, move || {
        let agent = Attached::connect(&url, &Login::default()).unwrap();
        agent
            .events(&"event = reset and proc = \"a b\"".parse().unwrap())
            .unwrap()
    });
    let of = |name: &str, ts_ns| TraceEvent::Reset {
        ts_ns,
        whose: Whose {
            id: "7".to_owned(),
            netns: 1,
            local: "a".to_owned(),
            peer: "b\nc".to_owned(),
            process: Some(Process {
                pid: 1,
                name: name.to_owned(),
            }),
            ..Whose::default()
        },
        sent: true,
    };
    let reset = |ts_ns| of("a b", ts_ns);
    for event in [reset(1), of("other", 1), reset(2)] {
        served.inlet.events.send(Arc::new(event)).unwrap();
    }
    for ts_ns in [1, 2] {
        let told = served.runtime.block_on(events.next()).unwrap();
        assert_eq!(told, Told::Event(Arc::new(reset(ts_ns))));
    }
}

#[test]
fn a_recording_is_served_as_it_comes() {
    let mut served = served(snapshot(0));
    let (status, body) = served.ask("/api/v1/recording", &Arc::new(snapshot(0)));
    assert_eq!((status, body.as_str()), (200, "what stood, what came"));
}

#[test]
fn a_unix_socket_shows_single_connections_and_goes_with_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tcpwin.sock");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let place = Place::Unix {
        path: path.clone(),
        mode: 0o600,
    };
    let listeners = bind(&[place]).unwrap();
    let url = listeners[0].to_string();
    let (inlet, handle) = feed::channel(snapshot(0));
    let routes = routes(handle.clone(), Exporter::new(handle.watch(), false), site());
    let server = runtime.block_on(async { serve(listeners, routes, Web::none()) });
    let address = "127.0.0.1:1".parse().unwrap();
    let mut served = Served {
        runtime,
        address,
        server,
        inlet,
        web: Web::none(),
    };
    let full = Arc::new(snapshot(70));
    let (read, mut events) = served.playing(&full, {
        let url = url.clone();
        move || {
            let mut agent = Attached::connect(&url, &Login::default()).unwrap();
            assert_eq!(agent.url(), url);
            agent.latest().unwrap();
            let events = agent.events(&"event = reset".parse().unwrap()).unwrap();
            (agent.latest().unwrap(), events)
        }
    });
    assert_eq!(read, full);
    let event = Arc::new(TraceEvent::Reset {
        ts_ns: 1,
        whose: Whose::default(),
        sent: false,
    });
    served.inlet.events.send(Arc::clone(&event)).unwrap();
    assert_eq!(served.runtime.block_on(events.next()), Some(Told::Event(event)));
    drop(events);
    drop(served.inlet);
    served
        .runtime
        .block_on(served.server.stop(Duration::from_secs(20)));
    assert!(!path.exists());
    let gone = Attached::connect(&url, &Login::default()).unwrap_err();
    assert!(matches!(gone, AttachError::Unreachable { .. }), "{gone}");
}

#[test]
fn somebody_else_is_no_agent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = listener.local_addr().unwrap().to_string();
    let stranger = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1_024];
        let _ = stream.read(&mut request).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            .unwrap();
    });
    let error = Attached::connect(&url, &Login::default()).unwrap_err();
    assert!(matches!(error, AttachError::Stranger { .. }), "{error}");
    stranger.join().unwrap();
}
