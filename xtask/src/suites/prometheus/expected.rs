//! What the flows are by construction, and what of it rules must say.

use crate::dashboards::Expect::{self, Between};

/// Flows whose limit and rate are known, in expressions of what must be told of them. RATE is the interval of rates.
pub const FLOWS: [(&str, Expect); 15] = [
    // 65,535 B a round trip of 181 ms.
    (
        r#"sum(rate(tcpwin_connection_seconds_total{limit="rwnd_scale", direction="send"}[RATE]))"#,
        Between(0.9, 1.1),
    ),
    (
        r#"8 * sum(rate(tcpwin_bytes_total{limit="rwnd_scale", direction="send"}[RATE]))"#,
        Between(2.75e6, 3.05e6),
    ),
    // 20 Mbit/s of packets are 19.31 of data.
    (
        r#"sum(rate(tcpwin_connection_seconds_total{limit="bandwidth", direction="send"}[RATE]))"#,
        Between(0.8, 1.1),
    ),
    (
        r#"8 * sum(rate(tcpwin_bytes_total{limit="bandwidth", direction="send"}[RATE]))"#,
        Between(15e6, 20.5e6),
    ),
    (
        r#"sum(rate(tcpwin_connection_seconds_total{limit="host", direction="send"}[RATE]))"#,
        Between(0.8, 1.1),
    ),
    (
        r#"sum(rate(tcpwin_connection_seconds_total{limit="loss", direction="send"}[RATE]))"#,
        Between(0.5, 1.1),
    ),
    // 20,000 B each 30 ms.
    (
        r#"sum(rate(tcpwin_connection_seconds_total{limit="turns", direction="send"}[RATE]))"#,
        Between(0.9, 1.1),
    ),
    (
        r#"8 * sum(rate(tcpwin_bytes_total{limit="turns", direction="send"}[RATE]))"#,
        Between(4.8e6, 5.6e6),
    ),
    (r#"sum(tcpwin_connections{limit="stalled"})"#, Between(1.0, 1.0)),
    (
        r#"sum(tcpwin_connections{limit="mtu_blackhole"})"#,
        Between(1.0, 1.0),
    ),
    // Who only waits for the peer's window is seen to wait for it by the kernel too.
    (
        r#"sum(rate(tcpwin_budget_seconds_total{state="rwnd"}[RATE]))"#,
        Between(0.9, 3.0),
    ),
    // The longest round trip is that of 181 ms: its bucket ends at 2^-2.25 s.
    (
        "histogram_quantile(1, sum(rate(tcpwin_min_rtt_seconds[RATE])))",
        Between(0.18, 0.3),
    ),
    // One connection a second over loopback, seen from both ends.
    (
        r#"sum(histogram_count(rate(tcpwin_handshake_seconds{origin="connect"}[RATE])))"#,
        Between(0.8, 20.0),
    ),
    (
        r#"sum(histogram_count(rate(tcpwin_handshake_seconds{origin="accept"}[RATE])))"#,
        Between(0.8, 20.0),
    ),
    // Told apart or not, it is the same data.
    (
        "sum(increase(tcpwin_group_bytes_total[RATE])) / sum(increase(tcpwin_bytes_total[RATE]))",
        Between(0.95, 1.05),
    ),
];

/// Each recorded rule, and what its series add up to.
pub const RECORDED: [(&str, Expect); 7] = [
    (
        "instance_bound:tcpwin_connection_seconds:rate5m",
        Between(4.0, 200.0),
    ),
    (
        "instance_limit:tcpwin_connection_seconds:rate5m",
        Between(4.0, 200.0),
    ),
    ("instance:tcpwin_held:ratio_rate5m", Between(0.05, 1.0)),
    ("instance_limit:tcpwin_not_moved_bytes:rate5m", Between(1e5, 1e11)),
    ("instance:tcpwin_bytes:rate5m", Between(5e6, 1e9)),
    (
        "instance:tcpwin_retransmitted_segments:rate5m",
        Between(0.5, 5000.0),
    ),
    ("instance:tcpwin_srtt_seconds:p90_5m", Between(0.02, 0.5)),
];

/// Alerts that the flows must cause, in order. A machine on which a probe cannot be had is degraded, and says so.
pub fn firing(degraded: bool) -> Vec<&'static str> {
    let mut alerts = vec![
        "TcpwinConnectionsStalled",
        "TcpwinHeldByHost",
        "TcpwinMtuBlackhole",
        "TcpwinWindowTooSmall",
    ];
    alerts.extend(resolved(degraded));
    alerts.sort_unstable();
    alerts
}

/// Alerts that may go on once the flows have ended: a socket outlives its program while its peer is silent, and is as
/// stalled as before until the kernel gives it up. That they resolve is shown in virtual time.
pub const LINGERING: [&str; 2] = ["TcpwinConnectionsStalled", "TcpwinMtuBlackhole"];

/// Those that are left once the flows have ended.
pub fn resolved(degraded: bool) -> Vec<&'static str> {
    if degraded {
        vec!["TcpwinDegraded"]
    } else {
        Vec::new()
    }
}
