//! An event as a line for people: time, event, local → peer, process, details.

use crate::observation::{Origin, RetransmitKind};
use crate::snapshot::{Connection, Process, TraceEvent};
use crate::units::bytes_text;

use super::Stamp;

/// Names of the columns.
pub(super) fn header() -> String {
    row("TIME", "EVENT", "LOCAL", "PEER", "PROCESS", "DETAILS")
}

/// The line.
pub(super) fn text(event: &TraceEvent, stamp: Stamp) -> String {
    let told = told(event);
    row(
        &stamp.text(told.ts_ns),
        told.name,
        told.local,
        told.peer,
        &told.process.map(process_text).unwrap_or_default(),
        &told.details,
    )
}

struct TextOf<'a> {
    ts_ns: u64,
    name: &'static str,
    local: &'a str,
    peer: &'a str,
    process: Option<&'a Process>,
    details: String,
}

/// IPv6 addresses that are wider push the rest of their line, no other line.
fn row(time: &str, event: &str, local: &str, peer: &str, process: &str, details: &str) -> String {
    let arrow = if time == "TIME" { " " } else { "→" };
    let line = format!("{time:<12}  {event:<10}  {local:<21} {arrow} {peer:<21}  {process:<20}  {details}");
    line.trim_end().to_owned()
}

fn told(event: &TraceEvent) -> TextOf<'_> {
    let of = |ts_ns: &u64, name, local, peer, details| TextOf {
        ts_ns: *ts_ns,
        name,
        local,
        peer,
        process: None,
        details,
    };
    match event {
        TraceEvent::Open {
            ts_ns,
            local,
            peer,
            origin,
            process,
            ..
        } => TextOf {
            process: process.as_ref(),
            ..of(ts_ns, "open", local, peer, origin_text(*origin).to_owned())
        },
        TraceEvent::Close {
            ts_ns,
            duration_us,
            cost,
            connection,
        } => TextOf {
            process: connection.process.as_ref(),
            ..of(
                ts_ns,
                "close",
                &connection.local,
                &connection.peer,
                close_text(connection, *duration_us, cost.as_deref()),
            )
        },
        TraceEvent::Retransmit {
            ts_ns,
            local,
            peer,
            kind,
            segments,
            ..
        } => {
            let plural = if *segments == 1 { "segment" } else { "segments" };
            let details = format!("{segments} {plural} by {}", kind_text(*kind));
            of(ts_ns, "retransmit", local, peer, details)
        }
        TraceEvent::Cwnd {
            ts_ns,
            local,
            peer,
            cwnd,
            ssthresh,
            by_timeout,
            ..
        } => {
            let cause = if *by_timeout { "timeout" } else { "recovery" };
            let details = format!("cwnd {cwnd} segments, ssthresh now {ssthresh}, by {cause}");
            of(ts_ns, "cwnd", local, peer, details)
        }
        TraceEvent::Reset {
            ts_ns,
            local,
            peer,
            sent,
            ..
        } => {
            let details = if *sent {
                "sent by this host"
            } else {
                "sent by the peer"
            };
            of(ts_ns, "reset", local, peer, details.to_owned())
        }
        TraceEvent::Verdict {
            ts_ns,
            local,
            peer,
            from,
            to,
            proof,
            ..
        } => {
            let details = format!("{} → {}: {proof}", from.name(), to.name());
            of(ts_ns, "verdict", local, peer, details)
        }
    }
}

/// Totals, duration, last verdict and what the causes cost; what is not known is not told.
fn close_text(connection: &Connection, duration_us: u64, cost: Option<&str>) -> String {
    let tcp = &connection.tcp;
    let retransmits = tcp.retransmits_total.filter(|count| *count > 0);
    let parts = [
        tcp.bytes_acked
            .map(|bytes| format!("{} acked", bytes_text(bytes))),
        tcp.bytes_received
            .map(|bytes| format!("{} received", bytes_text(bytes))),
        Some(format!("in {}", duration_text(duration_us))),
        retransmits.map(|count| format!("{count} retransmitted")),
        Some(format!("last {}", connection.limit.name())),
    ];
    let totals = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    cost.map_or(totals.clone(), |cost| format!("{totals}; {cost}"))
}

const fn origin_text(origin: Origin) -> &'static str {
    match origin {
        Origin::Connect => "opened by this host",
        Origin::Accept => "accepted",
        Origin::Seeded => "older than the watch",
    }
}

const fn kind_text(kind: RetransmitKind) -> &'static str {
    match kind {
        RetransmitKind::Fast => "fast retransmit",
        RetransmitKind::Rto => "timeout (RTO)",
        RetransmitKind::Tlp => "tail-loss probe",
        RetransmitKind::SynAck => "SYN-ACK timer",
    }
}

fn process_text(process: &Process) -> String {
    format!("{}[{}]", process.name, process.pid)
}

fn duration_text(micros: u64) -> String {
    let seconds = micros as f64 / 1e6;
    match seconds {
        s if s < 0.001 => format!("{micros} µs"),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.2} s"),
        s if s < 7_200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}
