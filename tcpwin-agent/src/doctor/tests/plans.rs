//! Plans on their way to a file and back.

use super::fixture::{connection, namespace, report};
use crate::classify::Limit;
use crate::doctor::plan::{Plan, PlanError};
use crate::doctor::{Machine, SettingEdit};
use crate::snapshot::TcpFields;

#[test]
fn a_plan_reads_back_as_it_was_written() {
    let set = [
        ("net.ipv4.tcp_wmem", "4096 16384 65536"),
        ("net.ipv4.tcp_sack", "0"),
    ];
    let tcp = TcpFields {
        sndbuf_bytes: Some(65_536),
        sndbuf_locked: Some(false),
        ..TcpFields::default()
    };
    let held = connection(Limit::Sndbuf, tcp);
    let plan = Plan::of(&report(&Machine::default(), namespace(&set), vec![held]));
    let tried: Vec<&str> = plan
        .changes
        .iter()
        .map(|change| change.finding.as_str())
        .collect();
    assert_eq!(tried, ["tcp-wmem-max", "sack-off"], "and no note");
    assert_eq!(plan.changes[0].predicted_bps, Some(30e6));
    assert_eq!(plan.changes[0].connections, ["77"]);
    assert_eq!(Plan::parse(&plan.text().unwrap()).unwrap(), plan);
}

#[test]
fn what_is_no_plan_is_refused() {
    let nothing = Plan::of(&report(&Machine::default(), namespace(&[]), Vec::new()));
    let text = nothing.text().unwrap();
    assert!(matches!(Plan::parse(&text), Err(PlanError::Empty)), "{text}");
    let later = text.replace("version = 1", "version = 2");
    assert!(matches!(Plan::parse(&later), Err(PlanError::Version(2))));
    assert!(matches!(
        Plan::parse("version = 1\nnetns = 1\nwhat = 2"),
        Err(PlanError::Malformed(_))
    ));
}

#[test]
fn the_way_back_leads_to_where_it_began() {
    let edit = SettingEdit::Sysctl {
        name: "net.ipv4.tcp_sack".to_owned(),
        old: "0".to_owned(),
        new: "1".to_owned(),
    };
    assert_ne!(edit.reversed(), edit);
    assert_eq!(edit.reversed().reversed(), edit);
}
