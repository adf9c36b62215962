//! Connections to filter.

use std::sync::Arc;

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::classify::Limit;
use crate::query::{Filter, FilterError};
use crate::snapshot::{Connection, Prevailing, Process};

/// nginx's to 203.0.113.9, held by the peer's window.
pub(super) fn connection() -> Connection {
    let fields = json!({
        "id": "77", "netns": 4_026_531_840_u32, "local": "192.0.2.1:443", "peer": "203.0.113.9:51812",
        "direction": "send", "process": { "pid": 812, "name": "nginx" }, "cgroup": "/system.slice/nginx.service",
        "origin": "accept", "age_us": 90_000_000, "bound": "window", "limit": "rwnd_scale", "side": "peer_kernel",
        "confidence": 0.9, "rate_bps": 2.89e6, "send_bps": 2.89e6, "receive_bps": 0.0,
        "next": { "limit": "bandwidth", "rate_bps": 34.68e6, "formula": "" },
        "proof": "in flight 65535 B = the peer's window", "remedies": [],
        "tcp": {
            "state": "established", "srtt_us": 181_000, "min_rtt_us": 180_000, "cwnd": 120, "mss": 1448,
            "snd_wnd_bytes": 65_535, "in_flight_bytes": 65_535, "sndbuf_bytes": 4_194_304, "delivered": 990,
            "retransmits_total": 10, "congestion": "cubic",
        },
    });
    serde_json::from_value(fields).unwrap()
}

/// Nothing is known but what every connection has.
pub(super) fn bare() -> Connection {
    Connection {
        id: "8".to_owned(),
        netns: 0,
        peer: "[2001:db8:5::1]:22".to_owned(),
        process: None,
        cgroup: None,
        next: None,
        tcp: crate::snapshot::TcpFields::default(),
        bound: Limit::None.bound(),
        limit: Limit::None,
        ..connection()
    }
}

pub(super) fn filter(text: &str) -> Filter {
    text.parse()
        .unwrap_or_else(|error: FilterError| panic!("{}", error.pointed(text)))
}

/// If the filter lets the fixture through.
pub(super) fn passes(text: &str) -> bool {
    filter(text).matches(&connection())
}

/// Of all kinds.
pub(super) fn any_connection() -> impl Strategy<Value = Arc<Connection>> {
    let peers = [
        "203.0.113.9:443",
        "203.0.114.9:80",
        "[2001:db8:5::1]:443",
        "10.0.0.1:22",
    ];
    let process = option::of((1_u32..5, select(vec!["nginx", "curl", "and", "a \"b\" \\c"])));
    (
        select(Limit::ALL.to_vec()),
        option::of(select(Limit::ALL.to_vec())),
        select(peers.to_vec()),
        process,
        (0.0..2e7_f64, option::of(0_u32..200_000), option::of(0_u32..200)),
        (0_u32..3, any::<bool>()),
    )
        .prop_map(
            |(limit, prevailing, peer, process, (rate_bps, srtt_us, cwnd), (id, known))| {
                let from = if known { connection() } else { bare() };
                let mut tcp = from.tcp.clone();
                (tcp.srtt_us, tcp.cwnd) = (srtt_us, cwnd);
                Arc::new(Connection {
                    id: id.to_string(),
                    limit,
                    bound: limit.bound(),
                    prevailing: prevailing.map(|limit| Prevailing {
                        bound: limit.bound(),
                        limit,
                        since_us: 1,
                    }),
                    peer: peer.to_owned(),
                    process: process.map(|(pid, name)| Process {
                        pid,
                        name: name.to_owned(),
                    }),
                    rate_bps,
                    tcp,
                    ..from
                })
            },
        )
}

/// Whole filters, deep and shallow.
pub(super) fn any_filter() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(
            [
                "nginx",
                "\"and\"",
                "'peer s'",
                "\"\"",
                "has rtt",
                "has proc",
                "bound = window",
                "limit != none",
                "limit ~ rwnd",
                "sick = yes",
                "proc = \"a \\\"b\\\" \\\\c\"",
                "proc !~ ng",
                "peer = :443",
                "peer in 203.0.113.0/24",
                "peer not in (10.0.0.0/8, 2001:db8::/32)",
                "peer = 203.0",
                "peer != 10.0.0.1:22",
                "local ~ 192",
                "pid in (1, 3..4)",
                "limit in (rwnd, rwnd_scale, loss)",
                "cc = cubic",
                "age > 5m",
                "retrans >= 1%",
                "confidence < 0.5",
                "dir=send",
            ]
            .to_vec()
        )
        .prop_map(str::to_owned),
        (0_u32..200, select(vec!["<", "<=", ">", ">=", "=", "!="]))
            .prop_map(|(ms, op)| format!("rtt {op} {ms}ms")),
        (0_u32..20, 0_u32..20).prop_map(|(a, b)| format!("rate in {}..{}M", a.min(b), a.max(b))),
        (0_u32..200).prop_map(|cwnd| format!("cwnd != {cwnd}")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("not ({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} {b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("({a} or {b})")),
        ]
    })
}
