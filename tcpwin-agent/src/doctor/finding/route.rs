//! Metrics of routes: they hold connections where nobody looks.

use super::super::place::{Place, is_held_by};
use super::{Change, Finding, Kind, Severity, kind};
use crate::classify::Limit;
use crate::host::{Edit, Metric, Route};
use crate::snapshot::Connection;

const INITCWND: Kind = kind("route-initcwnd", "the first flight on a route is small, or huge");
const INITRWND: Kind = kind(
    "route-initrwnd",
    "the first window on a route is smaller than without the metric",
);
const CWND: Kind = kind("route-cwnd-lock", "cwnd on a route is clamped");
const WINDOW: Kind = kind("route-window", "our receive window on a route is clamped");
const RTO: Kind = kind("route-rto-min", "losses on a route wait long for their timeout");
const QUICKACK: Kind = kind(
    "route-quickack",
    "every segment on a route is acknowledged by itself",
);
const MTU: Kind = kind(
    "route-mtu-lock",
    "what the path says of its MTU is not believed on a route",
);
const ADVMSS: Kind = kind("route-advmss", "peers are asked for small segments on a route");
const CONGCTL: Kind = kind("route-congctl", "a route has a congestion control of its own");
const COOKIE: Kind = kind(
    "route-fastopen-no-cookie",
    "data in a SYN is taken without a cookie on a route",
);

pub(super) const KINDS: &[Kind] = &[
    INITCWND, INITRWND, CWND, WINDOW, RTO, QUICKACK, MTU, ADVMSS, CONGCTL, COOKIE,
];

/// Segments of a first flight: RFC 6928's ten, and what no path should be met with.
const INITCWND_GOOD: std::ops::RangeInclusive<u32> = 10..=100;
/// 65,535 bytes in segments of 1,460, which is the first window of kernels since 4.19 (`tcp_select_initial_window`).
const INITRWND_LEAST: u32 = 44;
/// The kernel's own least timeout, ms.
const RTO_MIN: u32 = 200;
/// Header and options that an advertised MSS may leave out beside the 40 bytes of IPv4 and TCP.
const HEADERS: u32 = 200;

const NEW: &str = "new connections: live ones took it when they opened";

/// What is wrong with one metric.
struct Fault {
    kind: Kind,
    metric: Metric,
    edit: Edit,
    severity: Severity,
    hurts: fn(&Connection) -> bool,
    why: String,
    reached: &'static str,
    risk: &'static str,
}

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    place
        .namespace
        .routes
        .iter()
        .flat_map(|route| {
            faults(place, route)
                .into_iter()
                .map(move |fault| finding(place, route, fault))
        })
        .collect()
}

fn finding(place: &Place<'_>, route: &Route, fault: Fault) -> Finding {
    let hurt = place.hurt(|connection| {
        (fault.hurts)(connection) && place.route(connection).is_some_and(|taken| taken == route)
    });
    let written = route.metrics.written(fault.metric).unwrap_or_default();
    let change = Change::route(route, fault.metric, fault.edit);
    let beyond = change.is_none();
    let mut finding = Finding::new(fault.kind, place, format!("route {}", route.name()), written)
        .because(fault.why)
        .rated(fault.severity)
        .hurting(&hurt)
        .reaching(fault.reached)
        .changed_by(change)
        .risking(fault.risk);
    if beyond {
        finding = finding.changed_by(Change::program(format!(
            "the route has several next hops or an encapsulation: give it again, as `ip route show` has it, without `{}`",
            fault.metric.name()
        )));
    }
    if fault.metric == Metric::Cwnd {
        finding = finding.changed_by(Change::command("ip tcp_metrics flush", None));
    }
    finding
}

fn faults(place: &Place<'_>, route: &Route) -> Vec<Fault> {
    let metrics = &route.metrics;
    let number = |metric| metrics.number(metric);
    let mut faults = Vec::new();
    if let Some(segments) = number(Metric::Initcwnd).filter(|segments| !INITCWND_GOOD.contains(segments)) {
        let why = if segments < 10 {
            format!(
                "a first flight of {segments} segments instead of ten: each halving costs a round trip of every new connection and of every one \
                 that was silent (RFC 6928)"
            )
        } else {
            format!(
                "{segments} segments leave at once, without a word from the path: a queue of that size overflows at the narrow place"
            )
        };
        faults.push(Fault {
            kind: INITCWND,
            metric: Metric::Initcwnd,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |connection| is_held_by(connection, &[Limit::CwndStartup]),
            why,
            reached: "new connections, and live ones once they were silent",
            risk: "the kernel's ten segments",
        });
    }
    if let Some(segments) = number(Metric::Initrwnd).filter(|segments| *segments < INITRWND_LEAST) {
        faults.push(Fault {
            kind: INITRWND,
            metric: Metric::Initrwnd,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |_| false,
            why: format!(
                "{segments} segments of 1,460 bytes are {} bytes; without the metric the first window is 64,240 bytes since 4.19, so the metric \
                 shrinks what it was meant to grow",
                segments * 1_460
            ),
            reached: NEW,
            risk: "none",
        });
    }
    if let Some(segments) = number(Metric::Cwnd).filter(|_| metrics.is_locked(Metric::Cwnd)) {
        faults.push(Fault {
            kind: CWND,
            metric: Metric::Cwnd,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |connection| is_held_by(connection, &[Limit::CwndClamp]),
            why: format!("cwnd never grows past {segments} segments on it, once the kernel remembers the peer (`tcp_init_metrics`)"),
            reached: "new connections: live ones keep their clamp to the end",
            risk: "who locked it may have meant to spare a shallow queue",
        });
    }
    if let Some(bytes) = number(Metric::Window).filter(|bytes| *bytes > 0) {
        faults.push(Fault {
            kind: WINDOW,
            metric: Metric::Window,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |connection| is_held_by(connection, &[Limit::Rcvbuf]),
            why: format!("our window on it never says more than {bytes} bytes, whatever tcp_rmem allows; the window scale is taken from it too"),
            reached: NEW,
            risk: "none but memory for receive buffers",
        });
    }
    if let Some(millis) = number(Metric::RtoMin).filter(|millis| *millis > RTO_MIN) {
        faults.push(Fault {
            kind: RTO,
            metric: Metric::RtoMin,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |connection| is_held_by(connection, &[Limit::Loss, Limit::Stalled]),
            why: format!("a timeout lasts {millis} ms at least instead of {RTO_MIN} ms"),
            reached: "live connections too, from their next measurement of the round trip on",
            risk: "needless retransmits where the peer or the path is late by more than 200 ms now and then",
        });
    }
    if number(Metric::Quickack).is_some_and(|on| on != 0) {
        faults.push(Fault {
            kind: QUICKACK,
            metric: Metric::Quickack,
            edit: Edit::Drop,
            severity: Severity::Note,
            hurts: |_| false,
            why: "twice the acknowledgements and the CPU time they take at both ends; what it hides is a peer that sends small writes with \
                  Nagle's rule on"
                .to_owned(),
            reached: "live connections too",
            risk: "programs that write twice and then wait may meet delayed acknowledgements again, 40 ms each",
        });
    }
    if let Some(mtu) = number(Metric::Mtu).filter(|_| metrics.is_locked(Metric::Mtu)) {
        faults.push(Fault {
            kind: MTU,
            metric: Metric::Mtu,
            edit: Edit::Unlock,
            severity: Severity::Risk,
            hurts: |connection| is_held_by(connection, &[Limit::MtuBlackhole]),
            why: format!("a path narrower than {mtu} bytes is never learned of: packets go out without DF and are fragmented, or vanish"),
            reached: "live connections too",
            risk: "where ICMP is dropped on the way, full-size segments may vanish: have tcp_mtu_probing=1 with it",
        });
    }
    let mtu = place
        .namespace
        .links
        .iter()
        .find(|link| Some(&link.name) == route.device.as_ref())
        .map(|link| number(Metric::Mtu).unwrap_or(link.mtu).min(link.mtu));
    if let Some((mss, mtu)) = number(Metric::Advmss)
        .zip(mtu)
        .filter(|(mss, mtu)| mss + HEADERS < *mtu)
    {
        faults.push(Fault {
            kind: ADVMSS,
            metric: Metric::Advmss,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |_| false,
            why: format!("peers send {mss} bytes a segment where the interface takes packets of {mtu}: more packets, more headers, and a smaller \
                          first flight"),
            reached: NEW,
            risk: "where a tunnel on the way made it needed and ICMP is dropped, full-size segments may vanish",
        });
    }
    if let (Some(own), Some(set)) = (
        metrics.congestion(),
        place.settings().text("net.ipv4.tcp_congestion_control"),
    ) && own != set
    {
        faults.push(Fault {
            kind: CONGCTL,
            metric: Metric::CcAlgo,
            edit: Edit::Drop,
            severity: Severity::Note,
            hurts: |_| false,
            why: format!("connections on it begin with {own}, whatever tcp_congestion_control ({set}) says"),
            reached: NEW,
            risk: "the route may have it for a reason",
        });
    }
    if number(Metric::FastopenNoCookie).is_some_and(|on| on != 0) {
        faults.push(Fault {
            kind: COOKIE,
            metric: Metric::FastopenNoCookie,
            edit: Edit::Drop,
            severity: Severity::Risk,
            hurts: |_| false,
            why: "anybody may have a request answered in another's name: the cookie is what proves the address (RFC 7413, section 5)".to_owned(),
            reached: "the next SYN",
            risk: "a round trip more, once for each client",
        });
    }
    faults
}
