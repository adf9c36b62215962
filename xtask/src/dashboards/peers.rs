//! By process, cgroup and peer: whose connections are held, and on the way to whom.

use super::model::Expect::Between;
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-peers",
        title: "tcpwin / Peers and processes",
        about: "Whose connections are held and on the way to whom. It needs the agent's --metrics.peer-prefix or \
                --metrics.group-by; without them there is nothing to show.",
        rows: vec![peers(), processes()],
    }
}

fn peers() -> Row {
    Row {
        title: "Peers (--metrics.peer-prefix)",
        panels: vec![
            Panel {
                title: "Throughput by peer prefix",
                about: "Data moved both ways. `other` is every peer in none of the prefixes.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * sum by (peer) (rate(tcpwin_group_bytes_total{@}[$__rate_interval]))",
                    "{{peer}}",
                    Between(40e6, 2e9),
                )],
            },
            Panel {
                title: "Not moved by peer prefix",
                about: "What lifting the limits of these connections would add, where the next limit is known.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * (sum by (peer) (rate(tcpwin_group_not_moved_bytes_total{@}[$__rate_interval])) > 0)",
                    "{{peer}}",
                    Between(1e6, 1e12),
                )],
            },
            Panel {
                title: "What limits the connections to each prefix",
                about: "How many connections each limit held at a time.",
                view: View::Bars,
                unit: "short",
                queries: vec![Query::new(
                    "topk(15, sum by (peer, limit) (rate(tcpwin_group_seconds_total{@}[$__rate_interval])) > 0)",
                    "{{peer}} {{limit}}",
                    Between(4.0, 200.0),
                )],
            },
            Panel {
                title: "Prefixes under loss or full",
                about: "Connections at a time that the path itself held: its bandwidth, a policer, or loss.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum by (peer, bound) (rate(tcpwin_group_seconds_total{@, bound=~"bandwidth|loss"}[$__rate_interval]))"#,
                    "{{peer}} {{bound}}",
                    Between(0.5, 50.0),
                )],
            },
        ],
    }
}

fn processes() -> Row {
    Row {
        title: "Processes (--metrics.group-by)",
        panels: vec![
            Panel {
                title: "Throughput by process",
                about: "Data moved both ways. `other` has no room in --metrics.max-groups.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * (sum by (process, cgroup) (rate(tcpwin_group_bytes_total{@}[$__rate_interval])) > 0)",
                    "{{process}} {{cgroup}}",
                    Between(40e6, 2e9),
                )],
            },
            Panel {
                title: "Processes that lose most to windows",
                about: "The ten whose connections would gain most from larger windows.",
                view: View::Bars,
                unit: "bps",
                queries: vec![Query::new(
                    r#"8 * topk(10, sum by (process, cgroup) (rate(tcpwin_group_not_moved_bytes_total{@, bound="window"}[$__rate_interval])) > 0)"#,
                    "{{process}} {{cgroup}}",
                    Between(1e6, 1e12),
                )],
            },
            Panel {
                title: "What limits the connections of each process",
                about: "How many connections each limit held at a time.",
                view: View::Bars,
                unit: "short",
                queries: vec![Query::new(
                    "topk(15, sum by (process, limit) (rate(tcpwin_group_seconds_total{@}[$__rate_interval])) > 0)",
                    "{{process}} {{limit}}",
                    Between(4.0, 200.0),
                )],
            },
        ],
    }
}
