//! A well-set host, and connections to be hurt.

use std::sync::Arc;

use crate::classify::{Bound, Direction, Limit, Side};
use crate::doctor::{Finding, Machine, Report, examine};
use crate::host::{Namespace, NetLink, Settings};
use crate::observation::Origin;
use crate::snapshot::{Ceiling, Connection, Prevailing, Snapshot, TcpFields};

pub const NETNS: u32 = 4_026_531_840;

/// Kernel defaults, with those that matter here as a newest kernel has them.
const GOOD: &[(&str, &str)] = &[
    ("net.core.netdev_max_backlog", "1000"),
    ("net.core.rmem_max", "4194304"),
    ("net.core.somaxconn", "4096"),
    ("net.core.wmem_max", "4194304"),
    ("net.ipv4.ip_local_port_range", "32768 60999"),
    ("net.ipv4.tcp_abort_on_overflow", "0"),
    ("net.ipv4.tcp_adv_win_scale", "1"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_early_retrans", "3"),
    ("net.ipv4.tcp_ecn", "2"),
    ("net.ipv4.tcp_ecn_fallback", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_fastopen", "1"),
    ("net.ipv4.tcp_fastopen_blackhole_timeout_sec", "0"),
    ("net.ipv4.tcp_fastopen_key", "00000000-00000000-00000000-00000000"),
    ("net.ipv4.tcp_fin_timeout", "60"),
    ("net.ipv4.tcp_limit_output_bytes", "4194304"),
    ("net.ipv4.tcp_max_syn_backlog", "512"),
    ("net.ipv4.tcp_mem", "186852 249138 373704"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("net.ipv4.tcp_no_metrics_save", "0"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_retries2", "15"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_slow_start_after_idle", "1"),
    ("net.ipv4.tcp_syncookies", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_tw_reuse", "2"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ("net.netfilter.nf_conntrack_count", "900"),
    ("net.netfilter.nf_conntrack_max", "262144"),
];

/// The well-set host with these settings instead.
pub fn namespace(other: &[(&str, &str)]) -> Namespace {
    let settings: Vec<(&str, &str)> = GOOD.iter().chain(other).copied().collect();
    Namespace {
        inum: NETNS,
        kernel: (6, 18),
        settings: Settings::of(&settings),
        links: vec![NetLink {
            index: 2,
            name: "eth0".to_owned(),
            mtu: 1500,
            queue_packets: 1000,
            speed_mbit: Some(10_000),
            ..NetLink::default()
        }],
        ..Namespace::default()
    }
}

/// A connection that a limit holds at 17.5 Mbit/s, which would make 30 Mbit/s without it.
pub fn connection(limit: Limit, tcp: TcpFields) -> Connection {
    let direction = match limit {
        Limit::Rcvbuf | Limit::Reader => Direction::Receive,
        _ => Direction::Send,
    };
    Connection {
        id: "77".to_owned(),
        netns: NETNS,
        local: "192.0.2.1:40000".to_owned(),
        peer: "198.51.100.7:443".to_owned(),
        direction,
        process: None,
        cgroup: None,
        origin: Origin::Connect,
        age_us: 60_000_000,
        bound: limit.bound(),
        limit,
        side: Side::LocalKernel,
        confidence: 0.9,
        prevailing: Some(Prevailing {
            bound: Bound::Window,
            limit,
            since_us: 5_000_000,
        }),
        rate_bps: 17.5e6,
        send_bps: 17.5e6,
        receive_bps: 0.0,
        ceiling_bps: None,
        ceiling_formula: None,
        next: Some(Ceiling {
            limit: Limit::Pacing,
            rate_bps: 30e6,
            formula: String::new(),
        }),
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: Vec::new(),
        proof: "its proof".to_owned(),
        remedies: Vec::new(),
        tcp: TcpFields {
            srtt_us: Some(30_100),
            min_rtt_us: Some(30_000),
            mss: Some(1448),
            ..tcp
        },
        calls: None,
    }
}

pub fn snapshot(connections: Vec<Connection>) -> Snapshot {
    Snapshot {
        connections: connections.into_iter().map(Arc::new).collect(),
        ..Snapshot::default()
    }
}

pub fn report(machine: &Machine, namespace: Namespace, connections: Vec<Connection>) -> Report {
    examine(machine, &[namespace], &snapshot(connections))
}

/// What is found in a namespace with these connections, on a machine that nothing is wrong with.
pub fn found(namespace: Namespace, connections: Vec<Connection>) -> Vec<Finding> {
    report(&Machine::default(), namespace, connections).findings
}

pub fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).collect()
}

/// The one finding there is.
#[track_caller]
pub fn only(findings: Vec<Finding>, id: &str) -> Finding {
    assert_eq!(ids(&findings), [id], "{findings:#?}");
    findings.into_iter().next().unwrap()
}
