//! The same time and bytes told apart by process, cgroup or peer, where that is asked for.

use super::{Family, Kind, Reading, Sample, Unit, Value, labelled};
use crate::snapshot::Spent;

const LABELS: &[&str] = &["process", "cgroup", "listener", "peer", "bound", "limit"];

pub(super) static FAMILIES: [Family; 3] = [
    Family {
        name: "tcpwin_group",
        help: "Time that the connections of a group spent under each limit, without the time in which nothing happened; \
               told where --metrics.group-by or --metrics.peer-prefix asks for it",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: LABELS,
        bound: 0,
        example: r#"topk(5, sum by (process) (rate(tcpwin_group_seconds_total{bound="window"}[5m])))"#,
        read: |reading, samples| by_group(reading, samples, |spent| Value::Real(spent.seconds)),
    },
    Family {
        name: "tcpwin_group",
        help: "Data moved by the connections of a group, both ways, while under each limit",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: LABELS,
        bound: 0,
        example: "8 * sum by (peer) (rate(tcpwin_group_bytes_total[5m]))",
        read: |reading, samples| by_group(reading, samples, |spent| Value::Count(spent.bytes)),
    },
    Family {
        name: "tcpwin_group_not_moved",
        help: "Data that lifting each limit would have moved for a group, bounded as tcpwin_not_moved_bytes_total is",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: LABELS,
        bound: 0,
        example: "8 * topk(5, sum by (process, limit) (rate(tcpwin_group_not_moved_bytes_total[5m])))",
        read: |reading, samples| by_group(reading, samples, |spent| Value::Count(spent.not_moved)),
    },
];

/// Only limits that a group has met: groups times limits would be thousands of zeros.
fn by_group<'a>(reading: &'a Reading, samples: &mut Vec<Sample<'a>>, value: fn(&Spent) -> Value<'a>) {
    for (group, limits) in &reading.snapshot.tally.groups {
        for (limit, spent) in limits {
            let labels = [
                group.process.as_str(),
                group.cgroup.as_str(),
                group.listener.as_str(),
                group.peer.as_str(),
                limit.bound().name(),
                limit.name(),
            ];
            samples.push(labelled(labels, value(spent)));
        }
    }
}
