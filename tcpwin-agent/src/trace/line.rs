//! An event as lines for people: time, event, local → peer, process, details.

use crate::observation::{Origin, RetransmitKind};
use crate::snapshot::{Connection, Process, TraceEvent};
use crate::units::bytes_text;

use super::Stamp;
use super::layout::{Layout, Row};

/// Names of the columns.
pub(super) fn header(layout: &mut Layout) -> String {
    layout.lines(&Row {
        time: "TIME",
        event: "EVENT",
        local: "LOCAL",
        between: " ",
        peer: "PEER",
        process: "PROCESS",
        details: "DETAILS",
    })
}

/// The event, without a line's end after it.
pub(super) fn text(event: &TraceEvent, stamp: Stamp, layout: &mut Layout) -> String {
    let (local, peer, process) = match event {
        TraceEvent::Close { connection, .. } => {
            (&*connection.local, &*connection.peer, connection.process.as_ref())
        }
        TraceEvent::Open { whose, .. }
        | TraceEvent::Retransmit { whose, .. }
        | TraceEvent::Cwnd { whose, .. }
        | TraceEvent::Reset { whose, .. }
        | TraceEvent::Verdict { whose, .. } => (&*whose.local, &*whose.peer, whose.process.as_ref()),
    };
    layout.lines(&Row {
        time: &stamp.text(event.ts_ns()),
        event: event.name(),
        local,
        between: "→",
        peer,
        process: &process.map(process_text).unwrap_or_default(),
        details: &details(event),
    })
}

fn details(event: &TraceEvent) -> String {
    match event {
        TraceEvent::Open { origin, .. } => origin_text(*origin).to_owned(),
        TraceEvent::Close {
            duration_us,
            cost,
            connection,
            ..
        } => close_text(connection, *duration_us, cost.as_deref()),
        TraceEvent::Retransmit { kind, segments, .. } => {
            let plural = if *segments == 1 { "segment" } else { "segments" };
            format!("{segments} {plural} by {}", kind_text(*kind))
        }
        TraceEvent::Cwnd {
            cwnd,
            ssthresh,
            by_timeout,
            ..
        } => {
            let cause = if *by_timeout { "timeout" } else { "recovery" };
            format!("cwnd {cwnd}, ssthresh now {ssthresh}, by {cause}")
        }
        TraceEvent::Reset { sent: true, .. } => "sent by this host".to_owned(),
        TraceEvent::Reset { sent: false, .. } => "sent by the peer".to_owned(),
        TraceEvent::Verdict { from, to, proof, .. } => {
            format!("{} → {}: {proof}", from.name(), to.name())
        }
    }
}

/// Totals, duration, and what the causes cost or else the last verdict; what is not known is not told.
fn close_text(connection: &Connection, duration_us: u64, cost: Option<&str>) -> String {
    let tcp = &connection.tcp;
    let again = tcp.retransmits_total.filter(|count| *count > 0);
    // What it cost names the duration itself.
    let duration = cost.is_none().then(|| duration_text(duration_us));
    let last = cost
        .is_none()
        .then(|| format!("last {}", connection.limit.name()));
    let parts = [
        tcp.bytes_acked.map(|bytes| format!("{} sent", bytes_text(bytes))),
        tcp.bytes_received
            .map(|bytes| format!("{} received", bytes_text(bytes))),
        again.map(|count| format!("{count} retransmitted")),
        duration.map(|duration| format!("in {duration}")),
        last,
    ];
    let totals = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match cost {
        Some(cost) if totals.is_empty() => cost.to_owned(),
        Some(cost) => format!("{totals}; {cost}"),
        None => totals,
    }
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
