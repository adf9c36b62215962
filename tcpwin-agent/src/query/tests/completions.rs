//! What may be written next.

use crate::query::{Completion, complete};

fn at(text: &str) -> Completion {
    let cursor = text.find('|').unwrap_or(text.len());
    let seen = |field: &str| match field {
        "proc" => vec!["nginx".to_owned(), "node exporter".to_owned()],
        "peer" => vec!["203.0.113.9".to_owned()],
        _ => Vec::new(),
    };
    complete(&text.replace('|', ""), text[..cursor].chars().count(), seen)
}

fn texts(text: &str) -> Vec<String> {
    at(text)
        .candidates
        .into_iter()
        .map(|candidate| candidate.text)
        .collect()
}

#[test]
fn field_names_where_a_condition_begins() {
    assert_eq!(texts("rt|"), ["rtt", "rttvar"]);
    assert_eq!(at("nginx (rt|").from, 7);
    assert!(texts("").contains(&"limit".to_owned()));
    assert_eq!(texts("not bou"), ["bound"]);
    assert_eq!(texts("has min"), ["min_rtt"]);
    assert_eq!(texts("_wnd"), ["snd_wnd", "rcv_wnd"]);
}

#[test]
fn operators_after_a_field() {
    assert_eq!(texts("bound "), ["=", "!=", "~", "!~", "in", "not in"]);
    assert_eq!(texts("rtt n"), ["not in"]);
    assert_eq!(texts("rtt not "), ["in"]);
}

#[test]
fn values_after_an_operator() {
    assert_eq!(texts("bound=wi"), ["window"]);
    assert_eq!(texts("limit in (rwnd, rwnd_s"), ["rwnd_scale"]);
    assert_eq!(texts("limit in (rwnd "), [",", ")"]);
    assert_eq!(texts("limit in (rwnd) "), texts("nginx "));
    assert_eq!(texts("proc = n"), ["nginx", "\"node exporter\""]);
    assert_eq!(texts("proc = \"node e"), ["\"node exporter\""]);
    assert_eq!(at("proc = \"node e").from, 7);
    assert_eq!(texts("peer in 2"), ["203.0.113.9"]);
    assert_eq!(at("rtt > ").hint.unwrap(), "a time such as 50ms or 300us");
    assert!(texts("rtt > ").is_empty());
}

#[test]
fn joints_after_a_condition() {
    assert_eq!(texts("rtt > 5 a"), ["and", "age", "acked"]);
    assert_eq!(texts("(nginx) o"), ["or", "origin"]);
    assert_eq!(texts("\"rtt\""), Vec::<String>::new());
}
