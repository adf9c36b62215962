use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;

use super::*;
use crate::attach::{AttachError, Attached};
use crate::classify::group::FindingKind;
use crate::classify::{Bound, Direction, Limit, Side};
use crate::observation::Origin;
use crate::snapshot::feed::{self, Request, Told};
use crate::snapshot::{
    Ceiling, Connection, Feed as _, Finding, Health, HostFacts, Listener, Process, Sample, Snapshot,
    TcpFields, TraceEvent, Watch, Whose,
};

fn connection(id: u32, limit: Limit, rate_bps: f64) -> Arc<Connection> {
    Arc::new(Connection {
        id: id.to_string(),
        netns: 4_026_531_840 + id % 2,
        local: format!("192.0.2.1:{}", 1_000 + id),
        peer: format!("198.51.100.{}:443", id % 250),
        direction: Direction::Send,
        process: (id.is_multiple_of(2)).then(|| Process {
            pid: id,
            name: "curl".to_owned(),
        }),
        cgroup: None,
        origin: Origin::Accept,
        age_us: id.into(),
        bound: limit.bound(),
        limit,
        side: Side::Nobody,
        confidence: 0.5,
        prevailing: None,
        rate_bps,
        send_bps: rate_bps,
        receive_bps: 0.0,
        ceiling_bps: None,
        ceiling_formula: None,
        next: (id == 3).then(|| Ceiling {
            limit: Limit::Bandwidth,
            rate_bps: 1e9,
            formula: String::new(),
        }),
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: Vec::new(),
        proof: String::new(),
        remedies: Vec::new(),
        tcp: TcpFields::default(),
        calls: None,
    })
}

fn snapshot(connections: u32) -> Snapshot {
    let limit = |id: u32| {
        if id.is_multiple_of(2) {
            Limit::RwndScale
        } else {
            Limit::App
        }
    };
    Snapshot {
        at_ns: 5,
        tick: 1,
        health: Health {
            source: "scripted".to_owned(),
            host: "<host>".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Health::default()
        },
        connections: (0..connections)
            .map(|id| connection(id, limit(id), f64::from(id)))
            .collect(),
        ..Snapshot::default()
    }
}

/// A server on a free port and the loop's end of its feed. Requests go over real sockets.
struct Served {
    runtime: Runtime,
    address: SocketAddr,
    server: Server,
    inlet: feed::Inlet,
}

fn served(first: Snapshot) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listeners = bind(&[Place::Tcp("127.0.0.1:0".parse().unwrap())]).unwrap();
    let address = listeners[0].address().unwrap();
    let (inlet, handle) = feed::channel(first);
    let routes = routes(handle.clone(), Exporter::new(handle.watch(), false), "/metrics");
    let server = runtime.block_on(async { serve(listeners, routes) });
    Served {
        runtime,
        address,
        server,
        inlet,
    }
}

impl Served {
    /// The answer while the loop, played here, gives `full` and takes subscriptions.
    fn ask(&mut self, path: &str, full: &Arc<Snapshot>) -> (u16, String) {
        let address = self.address;
        let path = path.to_owned();
        self.playing(full, move || get(address, &path))
    }

    fn playing<T: Send + 'static>(
        &mut self,
        full: &Arc<Snapshot>,
        client: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let mut client = self.runtime.spawn_blocking(client);
        self.runtime.block_on(async {
            loop {
                tokio::select! {
                    done = &mut client => return done.unwrap(),
                    Some(request) = self.inlet.requests.recv() => match request {
                        Request::Full(None, answer) => drop(answer.send(Arc::clone(full))),
                        Request::Full(Some(watch), answer) => drop(answer.send(Arc::new(Snapshot {
                            samples: vec![Sample {
                                at_ns: watch.id.parse().unwrap(),
                                cwnd: watch.netns,
                                ..Sample::default()
                            }],
                            ..(**full).clone()
                        }))),
                        Request::Subscribe(answer) => drop(answer.send(self.inlet.events.subscribe())),
                        Request::Record(answer) => {
                            let (tell, told) = tokio::sync::mpsc::channel(2);
                            for part in ["what stood", ", what came"] {
                                tell.send(part.as_bytes().into()).await.unwrap();
                            }
                            drop(answer.send(Some(told)));
                        }
                        Request::Interval(_) => {}
                    }
                }
            }
        })
    }
}

fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let url = format!("http://{address}{path}");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut response = agent.get(url).call().unwrap();
    (
        response.status().as_u16(),
        response.body_mut().read_to_string().unwrap(),
    )
}

fn ids(answer: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(answer).unwrap();
    let connections = value["connections"].as_array().unwrap();
    connections
        .iter()
        .map(|each| each["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn not_ready_before_the_first_tick() {
    let mut served = served(Snapshot {
        tick: 0,
        ..snapshot(0)
    });
    let none = Arc::new(snapshot(0));
    let (status, why) = served.ask("/-/ready", &none);
    assert_eq!(status, 503);
    assert!(why.contains("first interval"), "{why}");
    assert_eq!(served.ask("/-/healthy", &none).0, 200);
    let (_, health) = served.ask("/healthz", &none);
    assert_eq!(
        serde_json::from_str::<Value>(&health).unwrap()["status"],
        "starting"
    );

    served.inlet.latest.send_replace(Arc::new(snapshot(0)));
    assert_eq!(served.ask("/-/ready", &none).0, 200);
}

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
        let mut attached = Attached::connect(&url).unwrap();
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
fn metrics_in_the_format_asked_for() {
    let mut served = served(snapshot(0));
    let address = served.address;
    let (status, page) = served.ask("/metrics", &Arc::new(snapshot(0)));
    assert_eq!(status, 200);
    assert!(page.contains("# TYPE tcpwin_build_info gauge"), "{page}");
    let request = "GET /metrics HTTP/1.1\r\nHost: a.name\r\nAccept: application/openmetrics-text\r\nConnection: close\r\n\r\n";
    let page = raw(address, request);
    assert!(
        page.contains("application/openmetrics-text; version=1.0.0"),
        "{page}"
    );
    assert!(page.contains("# EOF"), "{page}");
    assert!(page.contains("tcpwin_scrapes_total 1\n"), "{page}");
}

#[test]
fn landing_page_escapes_and_links() {
    let mut served = served(snapshot(0));
    let (_, page) = served.ask("/", &Arc::new(snapshot(0)));
    assert!(
        page.contains("&lt;host&gt;") && !page.contains("<host>"),
        "{page}"
    );
    assert!(page.contains("href=\"/metrics\""), "{page}");
}

#[test]
fn connections_are_chosen_sorted_and_cut() {
    let mut served = served(snapshot(0));
    let full = Arc::new(snapshot(200));
    let (_, all) = served.ask("/api/v1/connections", &full);
    assert_eq!(ids(&all).len(), 200);
    assert_eq!(ids(&all)[..2], ["199", "198"]);
    let value: Value = serde_json::from_str(&all).unwrap();
    assert_eq!((&value["total"], &value["matched"]), (&200.into(), &200.into()));

    for (query, expected) in [
        ("limit=rwnd_scale&count=2", vec!["198", "196"]),
        ("bound=app&count=1", vec!["199"]),
        ("process=curl&count=1", vec!["198"]),
        ("process=42", vec!["42"]),
        ("peer=198.51.100.7:443", vec!["7"]),
        ("peer=198.51.100.8", vec!["8"]),
        ("netns=4026531840&count=1", vec!["198"]),
        ("sort=gain&count=1", vec!["3"]),
        ("sort=age&count=1", vec!["199"]),
        ("filter=limit%20in%20(rwnd,app)%20and%20rate%3C3", vec!["1"]),
        (
            "filter=proc%3Dcurl+or+peer+in+198.51.100.7/32&sort=-age&count=2&offset=1",
            vec!["2", "4"],
        ),
        ("sort=dir,-rate&count=1", vec!["0"]),
        ("offset=200", vec![]),
        ("limit=sndbuf", vec![]),
        ("count=0", vec![]),
    ] {
        let (status, answer) = served.ask(&format!("/api/v1/connections?{query}"), &full);
        assert_eq!(
            (status, ids(&answer)),
            (200, expected.into_iter().map(str::to_owned).collect()),
            "{query}"
        );
    }
}

#[test]
fn listeners_and_the_host_have_pages_of_their_own() {
    let facts = HostFacts {
        listen_overflows: Some(3),
        ..HostFacts::default()
    };
    let mut served = served(Snapshot {
        facts: facts.clone(),
        ..snapshot(0)
    });
    let full = Arc::new(Snapshot {
        listeners: vec![Listener {
            id: "7".to_owned(),
            netns: 1,
            local: "[::]:80".to_owned(),
            process: None,
            cgroup: None,
            accept_queue: 2,
            backlog: 128,
            congestion: Some("cubic".to_owned()),
            connections: Some(9),
        }],
        ..snapshot(1)
    });
    let (status, answer) = served.ask("/api/v1/listeners", &full);
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &value["at_ns"]), (200, &5.into()));
    let listeners: Vec<Listener> = serde_json::from_value(value["listeners"].clone()).unwrap();
    assert_eq!(listeners, full.listeners);

    let (status, answer) = served.ask("/api/v1/host", &full);
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &value["host"]), (200, &"<host>".into()));
    assert!(value.get("memory").is_none(), "{answer}");
    assert_eq!(serde_json::from_value::<HostFacts>(value).unwrap(), facts);
}

#[test]
fn findings_are_told_without_the_connections() {
    let mut served = served(snapshot(0));
    let finding = Finding {
        kind: FindingKind::SharedLimit,
        bound: Bound::Window,
        limit: Limit::Rwnd,
        netns: 1,
        process: Some("nginx".to_owned()),
        peer: Some("203.0.113.0/24".to_owned()),
        connections: 37,
        ids: vec!["7".to_owned()],
        rate_bps: 37e6,
        gain: Some(12.0),
        proof: "37 connections".to_owned(),
        remedies: Vec::new(),
    };
    let full = Arc::new(Snapshot {
        findings: vec![finding],
        ..snapshot(3)
    });
    let (status, answer) = served.ask("/api/v1/findings", &full);
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &value["at_ns"]), (200, &5.into()));
    assert_eq!(value["findings"][0]["kind"], "shared_limit");
    assert_eq!(value["findings"][0]["gain"], 12.0);
    assert!(value.get("connections").is_none());
}

#[test]
fn a_wrong_query_says_what_is_allowed() {
    let mut served = served(snapshot(0));
    let full = Arc::new(snapshot(1));
    for (query, named) in [
        ("limt=rwnd", "limt"),
        ("limit=rwind", "rwnd_scale"),
        ("count=-1", "invalid digit"),
    ] {
        let (status, why) = served.ask(&format!("/api/v1/connections?{query}"), &full);
        assert!(status == 400 && why.contains(named), "{query}: {status} {why}");
    }
}

#[test]
fn a_wrong_filter_or_sort_is_pointed_at() {
    let mut served = served(snapshot(0));
    let full = Arc::new(snapshot(1));
    for (path, parameter, column, pointed) in [
        (
            "connections?filter=bound%3Dwindo",
            "filter",
            7,
            "bound=windo\n      ^ `bound` is one of window ",
        ),
        (
            "connections?sort=rate,rat",
            "sort",
            6,
            "rate,rat\n     ^ no field `rat`; did you mean rate or rtt?",
        ),
        (
            "events?filter=rtt%3E",
            "filter",
            5,
            "rtt>\n    ^ a value comes after this",
        ),
    ] {
        let (status, answer) = served.ask(&format!("/api/v1/{path}"), &full);
        let body: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (status, &body["parameter"], &body["column"]),
            (400, &parameter.into(), &column.into())
        );
        assert!(body["pointed"].as_str().unwrap().starts_with(pointed), "{answer}");
        assert!(
            body["error"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{parameter}: column {column}: "))
        );
    }
}

#[test]
fn a_part_of_each_connection_by_the_names_of_the_json() {
    let mut served = served(snapshot(0));
    let mut full = snapshot(3);
    Arc::make_mut(&mut full.connections[2]).tcp.srtt_us = Some(5);
    let full = Arc::new(full);
    let (status, answer) = served.ask(
        "/api/v1/connections?fields=id,tcp.srtt_us,tcp.cwnd,process.name,cgroup&count=2",
        &full,
    );
    let body: Value = serde_json::from_str(&answer).unwrap();
    let expected = serde_json::json!([
        { "id": "2", "process": { "name": "curl" }, "tcp": { "srtt_us": 5 } },
        { "id": "1" },
    ]);
    assert_eq!((status, &body["connections"]), (200, &expected));
    for (name, says) in [
        ("rtt", "did you mean tcp.srtt_us?"),
        ("srtt_us", "did you mean tcp.srtt_us?"),
        ("tcp.speed", "there are id netns local "),
        ("", "there are id netns local "),
    ] {
        let (status, why) = served.ask(&format!("/api/v1/connections?fields=id,{name}"), &full);
        assert!(status == 400 && why.contains(says), "{why}");
    }
}

#[test]
fn one_connection_or_a_404_that_explains() {
    let mut served = served(snapshot(0));
    let full = Arc::new(snapshot(10));
    let (status, one) = served.ask("/api/v1/connections/7", &full);
    assert_eq!(
        (status, serde_json::from_str::<Connection>(&one).unwrap()),
        (200, (*full.connections[7]).clone())
    );
    let (status, why) = served.ask("/api/v1/connections/77", &full);
    assert!(status == 404 && why.contains("`77`"), "{why}");
    assert_eq!(served.ask("/nowhere", &full).0, 404);
}

#[test]
fn top_attaches_and_reads_what_the_loop_gave() {
    for count in [0, 1, 64, 65, 1_000] {
        let mut served = served(snapshot(0));
        let full = Arc::new(snapshot(count));
        let url = served.address.to_string();
        let read = served.playing(&full, move || {
            let mut agent = Attached::connect(&url).unwrap();
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
        let agent = Attached::connect(&url).unwrap();
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
    let routes = routes(handle.clone(), Exporter::new(handle.watch(), false), "/metrics");
    let server = runtime.block_on(async { serve(listeners, routes) });
    let address = "127.0.0.1:1".parse().unwrap();
    let mut served = Served {
        runtime,
        address,
        server,
        inlet,
    };
    let full = Arc::new(snapshot(70));
    let (read, mut events) = served.playing(&full, {
        let url = url.clone();
        move || {
            let mut agent = Attached::connect(&url).unwrap();
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
    let gone = Attached::connect(&url).unwrap_err();
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
    let error = Attached::connect(&url).unwrap_err();
    assert!(matches!(error, AttachError::Stranger { .. }), "{error}");
    stranger.join().unwrap();
}

#[test]
fn a_huge_head_is_refused_and_a_gone_pipeline_named() {
    let mut served = served(snapshot(0));
    let long = "x".repeat(40_000);
    let answer = raw(
        served.address,
        &format!("GET / HTTP/1.1\r\nHost: a\r\nLong: {long}\r\n\r\n"),
    );
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");

    let rebound = "GET /api/v1/snapshot HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(raw(served.address, rebound).starts_with("HTTP/1.1 403"));

    served.inlet.requests.close();
    let (status, why) = served.ask("/api/v1/connections", &Arc::new(snapshot(0)));
    assert!(
        status == 503 && why.contains("pipeline has ended"),
        "{status} {why}"
    );
}

#[test]
fn stopping_ends_idle_connections() {
    let served = served(snapshot(0));
    let mut idle = TcpStream::connect(served.address).unwrap();
    idle.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    let mut first = [0; 15];
    idle.read_exact(&mut first).unwrap();
    served
        .runtime
        .block_on(served.server.stop(Duration::from_secs(20)));
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(TcpStream::connect(served.address).is_err());
}

#[test]
fn bounds_have_the_names_of_the_query() {
    for bound in Bound::ALL {
        assert_eq!(serde_json::to_value(bound).unwrap(), bound.name());
    }
    for limit in Limit::ALL {
        assert_eq!(serde_json::to_value(limit).unwrap(), limit.name());
    }
}
