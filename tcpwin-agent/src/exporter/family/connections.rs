//! What happens on the connections, whatever limits them.

use tcpwin_common::{BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF};

use super::{Family, Kind, Unit, Value, count, labelled, one};

pub(super) static FAMILIES: [Family; 9] = [
    Family {
        name: "tcpwin_connections_opened",
        help: "Connections seen opening, by which end opened them",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &["origin"],
        bound: 2,
        example: "sum by (origin) (rate(tcpwin_connections_opened_total[5m]))",
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
        example: "rate(tcpwin_connections_closed_total[5m])",
        read: count!(snapshot.summary.closed),
    },
    Family {
        name: "tcpwin_acked",
        help: "Data sent and acknowledged by the peers",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "8 * rate(tcpwin_acked_bytes_total[5m])",
        read: count!(snapshot.summary.bytes_acked),
    },
    Family {
        name: "tcpwin_received",
        help: "Data received in order",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "8 * rate(tcpwin_received_bytes_total[5m])",
        read: count!(snapshot.summary.bytes_received),
    },
    Family {
        name: "tcpwin_retransmitted_segments",
        help: "Retransmissions, by the mechanism that sent them; unknown where the source cannot tell",
        unit: Unit::Count("segments"),
        kind: Kind::Counter,
        labels: &["kind"],
        bound: 5,
        example: "sum by (kind) (rate(tcpwin_retransmitted_segments_total[5m]))",
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
        example: "sum by (direction) (rate(tcpwin_resets_total[5m]))",
        read: |reading, samples| {
            let summary = &reading.snapshot.summary;
            samples.push(labelled(["sent"], Value::Count(summary.resets_sent)));
            samples.push(labelled(["received"], Value::Count(summary.resets_received)));
        },
    },
    Family {
        name: "tcpwin_budget",
        help: "Time of connections in intervals in which anything happened, by what the next byte to send waited for: \
               nothing to send, the program, the send buffer, the peer's window, the congestion window, pacing; only the \
               kernel probes tell",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &["state"],
        bound: 6,
        example: r#"rate(tcpwin_budget_seconds_total{state="rwnd"}[5m])"#,
        read: |reading, samples| {
            let seconds = &reading.snapshot.tally.budget;
            for (state, at) in [
                ("idle", BUDGET_IDLE),
                ("app", BUDGET_APP),
                ("sndbuf", BUDGET_SNDBUF),
                ("rwnd", BUDGET_RWND),
                ("cwnd", BUDGET_CWND),
                ("pacing", BUDGET_PACING),
            ] {
                samples.push(labelled([state], Value::Real(seconds[at])));
            }
        },
    },
    Family {
        name: "tcpwin_zero_window",
        help: "Time in which connections had data unsent and less than a segment of the peer's window left; only the \
               kernel probes tell",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_zero_window_seconds_total[5m])",
        read: |reading, samples| samples.push(one(Value::Real(reading.snapshot.tally.zero_window))),
    },
    Family {
        name: "tcpwin_connections_fastopen",
        help: "Connections that used TCP Fast Open and have closed, by which end opened them and what became of it: a \
               cookie requested, the SYN's data taken, or refused; read from each connection",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &["origin", "outcome"],
        bound: 4,
        example: r#"rate(tcpwin_connections_fastopen_total{outcome="taken"}[5m])"#,
        read: |reading, samples| {
            let outcomes = reading.snapshot.tally.fastopen;
            for (origin, outcome, count) in [
                ("connect", "requested", outcomes.requested),
                ("connect", "taken", outcomes.taken),
                ("connect", "refused", outcomes.refused),
                ("accept", "taken", outcomes.accepted),
            ] {
                samples.push(labelled([origin, outcome], Value::Count(count)));
            }
        },
    },
];
