//! What is told of the connections.

use super::{Family, Kind, LIMITS, Unit, Value, by_limit, count, labelled, one};

pub(super) static FAMILIES: [Family; 10] = [
    Family {
        name: "tcpwin_connections",
        help: "Connections open now, by what limits them",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let counts = &reading.snapshot.summary.connections;
            by_limit(samples, |limit| {
                Value::Count(counts.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_connection",
        help: "Time that connections spent under each limit, summed over all connections",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let seconds = &reading.snapshot.summary.seconds;
            by_limit(samples, |limit| {
                Value::Real(seconds.get(&limit).copied().unwrap_or(0.0))
            });
        },
    },
    Family {
        name: "tcpwin",
        help: "Data moved in both directions while under each limit",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let bytes = &reading.snapshot.summary.bytes;
            by_limit(samples, |limit| {
                Value::Count(bytes.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_bytes_not_moved",
        help: "Data that lifting each limit would have moved beside what was moved, where the next limit is known",
        unit: Unit::Count("bytes"),
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let bytes = &reading.snapshot.summary.bytes_not_moved;
            by_limit(samples, |limit| {
                Value::Count(bytes.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_connections_opened",
        help: "Connections seen opening, by which end opened them",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &["origin"],
        bound: 2,
        read: |reading, samples| {
            let summary = &reading.snapshot.summary;
            let accepted = summary.opened.saturating_sub(summary.opened_connect);
            samples.push(labelled(["connect"], Value::Count(summary.opened_connect)));
            samples.push(labelled(["accept"], Value::Count(accepted)));
        },
    },
    Family {
        name: "tcpwin_connections_closed",
        help: "Connections seen closing",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.summary.closed),
    },
    Family {
        name: "tcpwin_acked",
        help: "Data sent and acknowledged by the peers",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.summary.bytes_acked),
    },
    Family {
        name: "tcpwin_received",
        help: "Data received in order",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.summary.bytes_received),
    },
    Family {
        name: "tcpwin_retransmitted_segments",
        help: "Retransmissions, by the mechanism that sent them; unknown where the source cannot tell",
        unit: Unit::Count("segments"),
        kind: Kind::Counter,
        labels: &["kind"],
        bound: 5,
        read: |reading, samples| {
            let summary = &reading.snapshot.summary;
            let known = summary.retransmits;
            samples.push(labelled(["fast"], Value::Count(known.fast.into())));
            samples.push(labelled(["rto"], Value::Count(known.rto.into())));
            samples.push(labelled(["tlp"], Value::Count(known.tlp.into())));
            samples.push(labelled(["syn"], Value::Count(summary.retransmits_syn)));
            samples.push(labelled(["unknown"], Value::Count(summary.retransmits_unknown)));
        },
    },
    Family {
        name: "tcpwin_resets",
        help: "Resets, by who sent them",
        unit: Unit::Count("resets"),
        kind: Kind::Counter,
        labels: &["direction"],
        bound: 2,
        read: |reading, samples| {
            let summary = &reading.snapshot.summary;
            samples.push(labelled(["sent"], Value::Count(summary.resets_sent)));
            samples.push(labelled(["received"], Value::Count(summary.resets_received)));
        },
    },
];
