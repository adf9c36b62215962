//! Which connections, in which order, and which part of them.

use std::sync::Arc;

use serde_json::Value;

use super::{ids, served, snapshot};
use crate::classify::{Bound, Limit};
use crate::snapshot::Connection;

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
fn bounds_have_the_names_of_the_query() {
    for bound in Bound::ALL {
        assert_eq!(serde_json::to_value(bound).unwrap(), bound.name());
    }
    for limit in Limit::ALL {
        assert_eq!(serde_json::to_value(limit).unwrap(), limit.name());
    }
}
