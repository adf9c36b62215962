//! What is the machine's alone: no test may change it, so it is judged from facts.

use super::fixture::{connection, found, ids, namespace, only, report};
use crate::classify::Limit;
use crate::doctor::{Configured, Finding, Machine, Severity, Steering};
use crate::host::{Feature, Features, Qdisc, Route, Softnet};
use crate::snapshot::{HostFacts, MemoryPressure, TcpFields};

fn judged(machine: &Machine) -> Vec<Finding> {
    report(machine, namespace(&[]), Vec::new()).findings
}

fn facts(facts: HostFacts) -> Machine {
    Machine {
        facts,
        cpus: 4,
        ..Machine::default()
    }
}

#[test]
fn memory_under_pressure_hurts() {
    let memory = |used_bytes| HostFacts {
        memory: Some(MemoryPressure {
            used_bytes,
            pressure_bytes: 1 << 30,
            limit_bytes: 3 << 29,
        }),
        ..HostFacts::default()
    };
    let finding = only(judged(&facts(memory(1 << 30))), "tcp-mem-pressure");
    assert_eq!(finding.severity, Severity::Hurts);
    assert_eq!(
        finding.changes[0].command,
        "sysctl -w net.ipv4.tcp_mem=\"373704 498276 747408\""
    );
    assert_eq!(ids(&judged(&facts(memory(1 << 20)))), [""; 0]);
}

#[test]
fn one_core_that_receives_for_all_is_told() {
    let mut machine = facts(HostFacts {
        softirq_busiest: Some(0.97),
        ..HostFacts::default()
    });
    machine.steering = vec![Steering {
        device: "eth0".to_owned(),
        queues: 1,
        rps: false,
    }];
    let finding = only(judged(&machine), "softirq-one-core");
    assert_eq!(
        finding.changes[0].command,
        "echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus"
    );
    machine.steering[0].rps = true;
    assert_eq!(ids(&judged(&machine)), [""; 0]);
}

#[test]
fn drops_before_tcp_are_told_while_they_happen() {
    let mut machine = facts(HostFacts::default());
    machine.softnet = Some(Softnet {
        dropped: 12,
        squeezed: 0,
    });
    let finding = only(judged(&machine), "netdev-backlog-drops");
    assert_eq!(
        finding.changes[0].command,
        "sysctl -w net.core.netdev_max_backlog=4000"
    );
}

#[test]
fn files_are_held_against_the_kernel() {
    let line = |name: &str, value: &str, now: Option<&str>| Configured {
        at: "/etc/sysctl.d/90-tcp.conf:1".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
        now: now.map(str::to_owned),
    };
    let judged = |line: Configured| {
        judged(&Machine {
            configured: vec![line],
            ..Machine::default()
        })
    };
    let unknown = only(
        judged(line("net.ipv4.tcp_tw_recycle", "1", None)),
        "sysctl-unknown",
    );
    assert!(unknown.why.contains("4.12"), "{}", unknown.why);
    let differs = only(
        judged(line("net.ipv4.tcp_sack", "0", Some("1"))),
        "sysctl-not-in-force",
    );
    assert_eq!(differs.changes[0].command, "sysctl -w net.ipv4.tcp_sack=0");
    only(
        judged(line(
            "net.ipv4.tcp_fastopen_key",
            "00112233445566778899aabbccddeeff",
            None,
        )),
        "fastopen-key-format",
    );
    for good in [
        line(
            "net.ipv4.tcp_fastopen_key",
            "00112233-44556677-8899aabb-ccddeeff",
            None,
        ),
        line("net.ipv4.tcp_fastopen", "0x3", Some("3")),
        line("net.ipv4.tcp_sack", "1", Some("1")),
    ] {
        assert_eq!(ids(&judged(good)), [""; 0]);
    }
}

#[test]
fn a_full_or_slow_interface_is_told() {
    let mut slow = namespace(&[]);
    slow.links[0].speed_mbit = Some(100);
    only(found(slow, Vec::new()), "nic-slow");

    let mut full = namespace(&[]);
    full.routes = vec![Route::plain("0.0.0.0".parse().unwrap(), 0, "eth0")];
    full.links[0].speed_mbit = Some(1000);
    let mut sender = connection(Limit::Bandwidth, TcpFields::default());
    (sender.rate_bps, sender.send_bps) = (940e6, 940e6);
    let finding = only(found(full, vec![sender]), "nic-full");
    assert_eq!((finding.severity, finding.cost_bps), (Severity::Hurts, None));
}

#[test]
fn offloads_that_are_off_and_could_be_on_are_told() {
    let feature =
        |can_change, active| Features([("rx-gro".to_owned(), Feature { can_change, active })].into());
    let mut off = namespace(&[]);
    off.links[0].features = feature(true, false);
    let finding = only(found(off.clone(), Vec::new()), "receive-offload-off");
    assert_eq!(finding.changes[0].command, "ethtool -K eth0 gro on");
    off.links[0].features = feature(false, false);
    assert_eq!(ids(&found(off.clone(), Vec::new())), [""; 0]);
    // Software interfaces have it off by design.
    off.links[0].features = feature(true, false);
    off.links[0].kind = Some("veth".to_owned());
    assert_eq!(ids(&found(off, Vec::new())), [""; 0]);
}

#[test]
fn a_queue_that_stands_is_told_and_one_that_does_not_is_none() {
    let waiting = TcpFields {
        srtt_us: Some(500_000),
        ..TcpFields::default()
    };
    let mut sender = connection(Limit::Bandwidth, waiting);
    sender.tcp.srtt_us = Some(500_000);
    let mut host = namespace(&[]);
    host.routes = vec![Route::plain("0.0.0.0".parse().unwrap(), 0, "eth0")];
    let queue = |kind: &str, backlog| {
        Some(Qdisc {
            kind: kind.to_owned(),
            backlog,
            ..Qdisc::default()
        })
    };
    host.links[0].qdisc = queue("pfifo_fast", 1_000_000);
    let finding = only(found(host.clone(), vec![sender.clone()]), "queue-bloat");
    assert_eq!(
        finding.changes[0].command,
        "tc qdisc replace dev eth0 root fq_codel"
    );
    for other in [queue("fq_codel", 1_000_000), queue("pfifo_fast", 3_000), None] {
        host.links[0].qdisc = other;
        assert_eq!(ids(&found(host.clone(), vec![sender.clone()])), [""; 0]);
    }
}

#[test]
fn a_nearly_full_table_of_connections_is_told() {
    let set = [("net.netfilter.nf_conntrack_count", "250000")];
    let finding = only(found(namespace(&set), Vec::new()), "conntrack-full");
    assert_eq!(
        finding.changes[0].command,
        "sysctl -w net.netfilter.nf_conntrack_max=1048576"
    );
}
