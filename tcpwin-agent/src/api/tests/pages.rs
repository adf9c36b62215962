//! Pages that tell of the host and the agent.

use std::sync::Arc;

use serde_json::Value;

use super::{raw, served, snapshot};
use crate::classify::group::FindingKind;
use crate::classify::{Bound, Limit};
use crate::snapshot::{Finding, HostFacts, Listener, Snapshot};

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
fn the_page_and_its_files_hold_the_browser_to_this_host() {
    let served = served(snapshot(0));
    for (path, kind) in [
        ("/", "text/html"),
        ("/page/main.js", "text/javascript"),
        ("/page/page.css", "text/css"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a.name\r\nConnection: close\r\n\r\n");
        let answer = raw(served.address, &request);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains(&format!("content-type: {kind}")), "{answer}");
        assert!(
            answer.contains("content-security-policy: default-src 'none';"),
            "{answer}"
        );
        assert!(answer.contains("x-content-type-options: nosniff"), "{answer}");
    }
    let mut served = served;
    let none = Arc::new(snapshot(0));
    let (status, words) = served.ask("/page/words.json", &none);
    let words: Value = serde_json::from_str(&words).unwrap();
    assert_eq!((status, &words["telemetry_path"]), (200, &"/metrics".into()));
    assert_eq!(served.ask("/page/nothing.js", &none).0, 404);
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
