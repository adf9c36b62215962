//! What limits the connections.

use super::{Family, HELD, Kind, Unit, Value, by_limit};

const LABELS: &[&str] = &["bound", "limit", "direction"];

pub(super) static FAMILIES: [Family; 4] = [
    Family {
        name: "tcpwin_connections",
        help: "Connections open now, by what limits them",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: LABELS,
        bound: HELD,
        example: r#"sum by (limit) (tcpwin_connections{bound="window"})"#,
        read: |reading, samples| {
            let counts = &reading.snapshot.tally.connections;
            by_limit(samples, |held| {
                Value::Count(counts.get(&held).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_connection",
        help: "Time that connections spent under each limit, summed over all connections; its rate is how many were held \
               at a time",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: LABELS,
        bound: HELD,
        example: r#"sum by (bound) (rate(tcpwin_connection_seconds_total{bound!="none"}[5m]))"#,
        read: |reading, samples| {
            let spent = &reading.snapshot.tally.spent;
            by_limit(samples, |held| {
                Value::Real(spent.get(&held).map_or(0.0, |spent| spent.seconds))
            });
        },
    },
    Family {
        name: "tcpwin",
        help: "Data moved, both ways, while under each limit",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: LABELS,
        bound: HELD,
        example: r#"8 * sum by (limit) (rate(tcpwin_bytes_total{bound="window"}[5m]))"#,
        read: |reading, samples| {
            let spent = &reading.snapshot.tally.spent;
            by_limit(samples, |held| {
                Value::Count(spent.get(&held).map_or(0, |spent| spent.bytes))
            });
        },
    },
    Family {
        name: "tcpwin_not_moved",
        help: "Data that lifting each limit would have moved beside what was moved, where the next limit is known; where the \
               path's capacity is not, a connection counts with no more than this host was ever seen to move that way. The \
               exemplar names the connection that it cost most in the last interval",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: LABELS,
        bound: HELD,
        example: "8 * topk(3, sum by (limit) (rate(tcpwin_not_moved_bytes_total[5m])))",
        read: |reading, samples| {
            let tally = &reading.snapshot.tally;
            by_limit(samples, |held| {
                let not_moved = tally.spent.get(&held).map_or(0, |spent| spent.not_moved);
                match tally.witnesses.get(&held) {
                    Some(witness) => Value::Witnessed(not_moved, witness),
                    None => Value::Count(not_moved),
                }
            });
        },
    },
];
