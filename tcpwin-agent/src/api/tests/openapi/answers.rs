//! Answers of every path of the API against the document.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::contract::Contract;
use super::document;
use crate::api::tests::{served, snapshot};
use crate::classify::group::FindingKind;
use crate::classify::{Bound, Limit, Remedy, Side};
use crate::observation::HookState;
use crate::snapshot::{
    Budget, Calls, Cause, Finding, HostFacts, Hour, Interface, Listener, Prevailing, Snapshot, Summary,
};

/// A host where all is known that can be.
fn full() -> Arc<Snapshot> {
    let mut full = snapshot(4);
    let connection = Arc::make_mut(&mut full.connections[3]);
    connection.prevailing = Some(Prevailing {
        bound: Bound::App,
        limit: Limit::App,
        since_us: 5,
    });
    connection.budget = Some(Budget::default());
    connection.calls = Some(Calls::default());
    connection.gain = Some(2.0);
    connection.ledger = connection.next.iter().cloned().collect();
    connection.causes = vec![Cause {
        limit: Limit::Rwnd,
        seconds: 1.0,
        bytes: 2,
        bytes_not_moved: Some(3),
    }];
    let remedy = Remedy::new(Side::PeerKernel, "sysctl -w a=b", "since").costing(5);
    connection.remedies = vec![remedy.for_new_connections().but("not that")];
    connection.tcp.srtt_us = Some(5);
    connection.tcp.congestion = Some("cubic".to_owned());
    let summary = Summary {
        connections: BTreeMap::from([(Limit::RwndScale, 2), (Limit::App, 2)]),
        seconds: BTreeMap::from([(Limit::RwndScale, 0.5)]),
        bytes: BTreeMap::from([(Limit::RwndScale, 7)]),
        ..Summary::default()
    };
    let mut hour = Hour::default();
    hour.tick(0, &Summary::default());
    hour.tick(10_000_000_000, &summary);
    full.health.hooks = vec![HookState {
        hook: "tcp_probe".to_owned(),
        missing: Some("no BTF".to_owned()),
    }];
    full.health.losses = BTreeMap::from([("ring_full".to_owned(), 3)]);
    Arc::new(Snapshot {
        summary,
        hour,
        findings: vec![finding()],
        listeners: vec![listener()],
        facts: HostFacts {
            uptime_s: Some(9),
            interfaces: vec![Interface::default()],
            ..HostFacts::default()
        },
        ..full
    })
}

fn finding() -> Finding {
    Finding {
        kind: FindingKind::SharedLimit,
        bound: Bound::Window,
        limit: Limit::Rwnd,
        netns: 1,
        process: Some("nginx".to_owned()),
        peer: None,
        connections: 2,
        ids: vec!["7".to_owned()],
        rate_bps: 37e6,
        gain: None,
        proof: String::new(),
        remedies: Vec::new(),
    }
}

fn listener() -> Listener {
    Listener {
        id: "7".to_owned(),
        netns: 1,
        local: "[::]:80".to_owned(),
        process: None,
        cgroup: None,
        accept_queue: 2,
        backlog: 128,
        congestion: None,
        connections: Some(9),
    }
}

/// Each path, the status, and the schema of what it answers.
const ASKED: &[(&str, u16, &str)] = &[
    ("/healthz", 200, "Healthz"),
    ("/api/v1/overview", 200, "Overview"),
    ("/api/v1/bounds", 200, "Bounds"),
    ("/api/v1/connections", 200, "Connections"),
    ("/api/v1/connections?count=2&sort=-rate", 200, "Connections"),
    ("/api/v1/connections/3", 200, "Connection"),
    ("/api/v1/findings", 200, "Findings"),
    ("/api/v1/listeners", 200, "Listeners"),
    ("/api/v1/host", 200, "Host"),
    ("/api/v1/snapshot", 200, "Snapshot"),
    ("/api/v1/snapshot?watch=3&netns=1", 200, "Snapshot"),
    ("/api/v1/connections/99", 404, "Error"),
    ("/api/v1/connections?sort=nothing", 400, "Error"),
    ("/api/v1/connections?count=-1", 400, "Error"),
    ("/api/v1/snapshot?watch=3", 400, "Error"),
    ("/page/nothing", 404, "Error"),
];

#[test]
fn answers_are_as_the_document_says() {
    let document = document::made();
    let contract = Contract::of(&document);
    let full = full();
    let mut served = served((*full).clone());
    for (path, status, schema) in ASKED {
        let (answered, text) = served.ask(path, &full);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (answered, contract.fault(schema, &answer)),
            (*status, None),
            "{path}"
        );
        let described = path.split('?').next().unwrap();
        let described = match described.rsplit_once('/') {
            Some(("/api/v1/connections", _)) => "/api/v1/connections/{id}",
            Some(("/page", _)) => "/page/{file}",
            _ => described,
        };
        let of_status = &document["paths"][described]["get"]["responses"][status.to_string()];
        let told = &of_status["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(*told, format!("#/components/schemas/{schema}"), "{path}");
    }
    let (_, text) = served.ask("/api/v1/connections?fields=id,process.name", &full);
    let answer: Value = serde_json::from_str(&text).unwrap();
    for part in answer["connections"].as_array().unwrap() {
        assert_eq!(contract.fault("ConnectionPart", part), None);
    }
    let (status, said) = served.ask("/api/v1/openapi.json", &full);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((status, &said["openapi"]), (200, &document["openapi"]));
}

#[test]
fn what_the_document_does_not_name_is_a_fault() {
    let contract = Contract::of(&document::made());
    let right = json!({ "at_ns": 5, "findings": [] });
    assert_eq!(contract.fault("Findings", &right), None);
    for wrong in [
        json!({ "at_ns": 5, "findings": [], "more": 1 }),
        json!({ "at_ns": "5", "findings": [] }),
        json!({ "at_ns": 5 }),
        json!({ "at_ns": 5, "findings": null }),
    ] {
        assert!(contract.fault("Findings", &wrong).is_some(), "{wrong}");
    }
    let mut connection = serde_json::to_value(&snapshot(1).connections[0]).unwrap();
    assert_eq!(contract.fault("Connection", &connection), None);
    connection["tcp"]["speed"] = 5.into();
    assert!(
        contract
            .fault("Connection", &connection)
            .unwrap()
            .contains("speed")
    );
}
