//! The order of connections.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::fixture::{any_connection, connection};
use crate::query::Sort;
use crate::snapshot::Connection;

fn sort(text: &str) -> Sort {
    text.parse().unwrap()
}

fn with(id: &str, rate_bps: f64, peer: &str, srtt_us: Option<u32>) -> Arc<Connection> {
    let mut one = connection();
    (one.id, one.rate_bps, one.peer, one.tcp.srtt_us) = (id.to_owned(), rate_bps, peer.to_owned(), srtt_us);
    Arc::new(one)
}

fn ordered(text: &str, most: usize) -> String {
    let connections = [
        with("1", 5.0, "10.0.0.2:1", Some(3)),
        with("2", 9.0, "9.0.0.1:1", None),
        with("3", 5.0, "10.0.0.1:1", Some(7)),
    ];
    let arranged = sort(text).arrange(&connections, &[0, 1, 2], most);
    arranged
        .iter()
        .map(|at| connections[*at as usize].id.as_str())
        .collect()
}

#[test]
fn numbers_fall_texts_rise_and_a_sign_turns_them_round() {
    assert_eq!(ordered("rate", 3), "213");
    assert_eq!(ordered("-rate", 3), "132");
    assert_eq!(ordered("rate,peer", 3), "231");
    assert_eq!(ordered("-rate,-peer", 3), "132");
    // 9.0.0.1 is before 10.0.0.1 as an address, not as a text.
    assert_eq!(ordered("peer", 3), "231");
    assert_eq!(ordered("peer", 2), "23");
    assert_eq!(ordered("peer", 0), "");
}

#[test]
fn what_is_not_known_comes_last_either_way() {
    assert_eq!(ordered("rtt", 3), "312");
    assert_eq!(ordered("-rtt", 3), "132");
}

#[test]
fn errors_point_at_the_field() {
    let error = |text: &str| text.parse::<Sort>().unwrap_err().to_string();
    assert_eq!(
        error("rate, -pear"),
        "column 8: no field `pear`; did you mean peer?"
    );
    assert!(error("rate,").starts_with("column 6: a field name comes here"));
    assert!(error("").starts_with("column 1: a field name comes here"));
    assert!(error("rate,rate,rate,rate,rate,rate,rate,rate,rate").contains("more than 8 fields"));
}

#[test]
fn it_is_its_text() {
    assert_eq!(sort(" -srtt , peer").to_string(), "-rtt,peer");
    assert_eq!(Sort::default().to_string(), "limit");
    let read: Sort = serde_json::from_str("\"-rate\"").unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), "\"-rate\"");
    assert_eq!(read.fields().collect::<Vec<_>>(), [("rate", true)]);
}

proptest! {
    #[test]
    fn the_first_few_are_the_head_of_all(
        mut connections in vec(any_connection(), 0..12),
        most in 0_usize..14,
        text in select(vec!["limit", "-limit,rate", "peer,-rtt", "proc", "rtt,cwnd,id", "-sick"]),
    ) {
        for (at, connection) in connections.iter_mut().enumerate() {
            Arc::make_mut(connection).id = at.to_string();
        }
        let all: Vec<u32> = (0..).take(connections.len()).collect();
        let whole = sort(text).arrange(&connections, &all, usize::MAX);
        let head = sort(text).arrange(&connections, &all, most);
        prop_assert_eq!(&head, &whole[..most.min(whole.len())]);
        let mut each = whole.clone();
        each.sort_unstable();
        prop_assert_eq!(each, all);
    }
}
