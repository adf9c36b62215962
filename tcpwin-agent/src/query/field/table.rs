//! The one table of fields, in the order people look for them. docs/filter.md shows it; a test holds the two together.

use super::choice::{
    BOUNDS, DIRECTIONS, LIMITS, ORIGINS, RETRANSMIT_KINDS, SIDES, STATES, YES_NO, direction, origin,
    retransmit_kind, side, state, yes_no,
};
use super::{Field, Kind};
use crate::observation::Origin;
use crate::query::subject::Subject;
use crate::query::unit::Unit;
use crate::snapshot::{TraceEvent, figures};

const fn field(
    name: &'static str,
    also: &'static [&'static str],
    json: &'static str,
    about: &'static str,
    kind: Kind,
) -> Field {
    Field {
        name,
        also,
        json,
        about,
        kind,
    }
}

const fn choice(names: &'static [&'static str], of: fn(Subject<'_>) -> Option<&'static str>) -> Kind {
    Kind::Choice(names, of)
}

const fn text(of: for<'a> fn(Subject<'a>) -> Option<&'a str>) -> Kind {
    Kind::Text(of)
}

const fn number(unit: Unit, of: fn(Subject<'_>) -> Option<f64>) -> Kind {
    Kind::Number(unit, of)
}

fn port(endpoint: &str) -> Option<f64> {
    endpoint.rsplit_once(':')?.1.parse().ok()
}

fn opened(subject: Subject<'_>) -> Option<Origin> {
    match subject.event() {
        Some(TraceEvent::Open { origin, .. }) => Some(*origin),
        _ => subject.connection().map(|connection| connection.origin),
    }
}

/// Of connections, and of events as far as these say it.
pub(in crate::query) const FIELDS: &[Field] = &[
    field(
        "bound",
        &[],
        "prevailing.bound",
        "class of what holds it",
        choice(&BOUNDS, |s| Some(s.limit()?.bound().name())),
    ),
    field(
        "limit",
        &[],
        "prevailing.limit",
        "what holds it, as screens show it: for a while, not in the last interval alone",
        choice(&LIMITS, |s| Some(s.limit()?.name())),
    ),
    field(
        "sick",
        &[],
        "",
        "somebody could act on what holds it: a window, loss or this host",
        choice(&YES_NO, |s| {
            s.limit().map(|limit| yes_no(figures::is_sickness(limit)))
        }),
    ),
    field(
        "side",
        &[],
        "side",
        "who must act",
        choice(&SIDES, |s| s.side().map(side)),
    ),
    field(
        "gain",
        &[],
        "",
        "factor by which its rate would rise",
        number(Unit::Count, |s| s.gain()),
    ),
    field(
        "next",
        &[],
        "next.limit",
        "what would hold it then",
        choice(&LIMITS, |s| Some(s.next()?.0.name())),
    ),
    field(
        "confidence",
        &[],
        "confidence",
        "how sure the verdict is",
        number(Unit::Share, |s| s.confidence()),
    ),
    field(
        "dir",
        &["direction"],
        "direction",
        "which way the bytes go",
        choice(&DIRECTIONS, |s| s.direction().map(direction)),
    ),
    field(
        "rate",
        &[],
        "rate_bps",
        "rate in that direction over the last interval",
        number(Unit::Rate, |s| s.rate_bps()),
    ),
    field(
        "send",
        &["tx"],
        "send_bps",
        "rate of acknowledged bytes",
        number(Unit::Rate, |s| Some(s.connection()?.send_bps)),
    ),
    field(
        "receive",
        &["rx"],
        "receive_bps",
        "rate of received bytes",
        number(Unit::Rate, |s| Some(s.connection()?.receive_bps)),
    ),
    field(
        "ceiling",
        &[],
        "ceiling_bps",
        "what the limit allows",
        number(Unit::Rate, |s| s.ceiling_bps()),
    ),
    field(
        "proc",
        &["process", "comm"],
        "process.name",
        "name of the process",
        text(|s| s.process()),
    ),
    field(
        "pid",
        &[],
        "process.pid",
        "its id",
        number(Unit::Count, |s| s.pid().map(f64::from)),
    ),
    field("cgroup", &[], "cgroup", "its cgroup's path", text(|s| s.cgroup())),
    field(
        "peer",
        &["dst", "remote"],
        "peer",
        "the other end",
        Kind::Endpoint(|s| s.peer()),
    ),
    field(
        "local",
        &["src"],
        "local",
        "this end",
        Kind::Endpoint(|s| s.local()),
    ),
    field(
        "peer_port",
        &["dport"],
        "",
        "port of the other end",
        number(Unit::Count, |s| port(s.peer())),
    ),
    field(
        "local_port",
        &["sport"],
        "",
        "port of this end",
        number(Unit::Count, |s| port(s.local())),
    ),
    field(
        "id",
        &["cookie"],
        "id",
        "socket cookie",
        text(|s| Some(s.id()).filter(|id| !id.is_empty())),
    ),
    field(
        "netns",
        &[],
        "netns",
        "network namespace, the number in /proc/PID/ns/net",
        number(Unit::Count, |s| (s.netns() != 0).then(|| f64::from(s.netns()))),
    ),
    field(
        "state",
        &[],
        "tcp.state",
        "state of the socket",
        choice(&STATES, |s| s.tcp().state.map(state)),
    ),
    field(
        "origin",
        &[],
        "origin",
        "opened by this host, accepted, or older than the watch",
        choice(&ORIGINS, |s| opened(s).map(origin)),
    ),
    field(
        "age",
        &[],
        "age_us",
        "since it was first seen",
        number(Unit::Age, |s| Some(s.connection()?.age_us as f64)),
    ),
    field(
        "rtt",
        &["srtt"],
        "tcp.srtt_us",
        "smoothed round-trip time",
        number(Unit::Rtt, |s| s.tcp().srtt_us.map(f64::from)),
    ),
    field(
        "min_rtt",
        &["minrtt"],
        "tcp.min_rtt_us",
        "least round-trip time",
        number(Unit::Rtt, |s| s.tcp().min_rtt_us.map(f64::from)),
    ),
    field(
        "rttvar",
        &[],
        "tcp.rttvar_us",
        "its variation",
        number(Unit::Rtt, |s| s.tcp().rttvar_us.map(f64::from)),
    ),
    field(
        "cwnd",
        &[],
        "tcp.cwnd",
        "congestion window, segments",
        number(Unit::Count, |s| s.tcp().cwnd.map(f64::from)),
    ),
    field(
        "ssthresh",
        &[],
        "tcp.ssthresh",
        "slow-start threshold, segments",
        number(Unit::Count, |s| s.tcp().ssthresh.map(f64::from)),
    ),
    field(
        "mss",
        &[],
        "tcp.mss",
        "largest segment",
        number(Unit::Bytes, |s| s.tcp().mss.map(f64::from)),
    ),
    field(
        "cc",
        &["congestion"],
        "tcp.congestion",
        "congestion control",
        text(|s| s.tcp().congestion.as_deref()),
    ),
    field(
        "inflight",
        &["in_flight"],
        "tcp.in_flight_bytes",
        "sent and not acknowledged",
        number(Unit::Bytes, |s| s.tcp().in_flight_bytes.map(f64::from)),
    ),
    field(
        "unsent",
        &[],
        "tcp.unsent_bytes",
        "written and not sent",
        number(Unit::Bytes, |s| s.tcp().unsent_bytes.map(f64::from)),
    ),
    field(
        "unread",
        &[],
        "tcp.unread_bytes",
        "received and not read",
        number(Unit::Bytes, |s| s.tcp().unread_bytes.map(f64::from)),
    ),
    field(
        "snd_wnd",
        &["rwnd"],
        "tcp.snd_wnd_bytes",
        "the peer's receive window",
        number(Unit::Bytes, |s| s.tcp().snd_wnd_bytes.map(f64::from)),
    ),
    field(
        "rcv_wnd",
        &[],
        "tcp.rcv_wnd_bytes",
        "our receive window",
        number(Unit::Bytes, |s| s.tcp().rcv_wnd_bytes.map(f64::from)),
    ),
    field(
        "sndbuf",
        &[],
        "tcp.sndbuf_bytes",
        "send buffer",
        number(Unit::Bytes, |s| s.tcp().sndbuf_bytes.map(f64::from)),
    ),
    field(
        "rcvbuf",
        &[],
        "tcp.rcvbuf_bytes",
        "receive buffer",
        number(Unit::Bytes, |s| s.tcp().rcvbuf_bytes.map(f64::from)),
    ),
    field(
        "acked",
        &["bytes_acked"],
        "tcp.bytes_acked",
        "acknowledged over its life",
        number(Unit::Bytes, |s| s.tcp().bytes_acked.map(|bytes| bytes as f64)),
    ),
    field(
        "received",
        &["bytes_received"],
        "tcp.bytes_received",
        "received over its life",
        number(Unit::Bytes, |s| s.tcp().bytes_received.map(|bytes| bytes as f64)),
    ),
    field(
        "retrans",
        &["retransmit_share"],
        "",
        "share of segments sent again",
        number(Unit::Percent, |s| {
            figures::share_sent_again(s.tcp()).map(|share| share * 100.0)
        }),
    ),
    field(
        "retransmits",
        &["retransmits_total"],
        "tcp.retransmits_total",
        "segments sent again",
        number(Unit::Count, |s| s.tcp().retransmits_total.map(f64::from)),
    ),
    field(
        "timeouts",
        &[],
        "tcp.timeouts",
        "retransmission timeouts in a row",
        number(Unit::Count, |s| s.tcp().timeouts.map(f64::from)),
    ),
    field(
        "pacing",
        &["pacing_rate"],
        "tcp.pacing_rate_bps",
        "rate at which the kernel paces",
        number(Unit::Rate, |s| s.tcp().pacing_rate_bps),
    ),
    field(
        "delivery",
        &["delivery_rate"],
        "tcp.delivery_rate_bps",
        "rate at which the path delivered lately",
        number(Unit::Rate, |s| s.tcp().delivery_rate_bps),
    ),
    field(
        "proof",
        &[],
        "proof",
        "the sentence with the numbers",
        text(|s| s.proof()),
    ),
];

/// Of events alone.
pub(in crate::query) const EVENT_FIELDS: &[Field] = &[
    field(
        "event",
        &[],
        "event",
        "of an event: its kind",
        choice(&TraceEvent::NAMES, |s| s.event().map(TraceEvent::name)),
    ),
    field(
        "kind",
        &[],
        "kind",
        "of an event `retransmit`: what made the kernel do it",
        choice(&RETRANSMIT_KINDS, |s| match s.event()? {
            TraceEvent::Retransmit { kind, .. } => Some(retransmit_kind(*kind)),
            _ => None,
        }),
    ),
    field(
        "from",
        &[],
        "from",
        "of an event `verdict`: what held it before",
        choice(&LIMITS, |s| match s.event()? {
            TraceEvent::Verdict { from, .. } => Some(from.name()),
            _ => None,
        }),
    ),
];
