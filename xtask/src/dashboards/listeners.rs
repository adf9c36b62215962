//! Listeners and TCP Fast Open: how connections begin.

use super::model::Expect::{Between, Maybe};
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-listeners",
        title: "tcpwin / Listeners and Fast Open",
        about: "How connections begin: accept queues, and what became of TCP Fast Open.",
        rows: vec![listeners(), fast_open()],
    }
}

fn listeners() -> Row {
    Row {
        title: "Listeners",
        panels: vec![
            Panel {
                title: "Listeners",
                about: "Listening sockets of every network namespace that can be entered.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "sum(tcpwin_listeners{@})",
                    "sockets",
                    Between(1.0, 1e4),
                )],
            },
            Panel {
                title: "Full accept queues",
                about: "Listeners whose accept queue is full now: what comes is dropped.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "sum(tcpwin_accept_queues_full{@})",
                    "listeners",
                    Between(0.0, 1e4),
                )],
            },
            Panel {
                title: "Fullest accept queue",
                about: "Fill of the fullest accept queue as a share of its backlog.",
                view: View::Stat,
                unit: "percentunit",
                queries: vec![Query::new(
                    "max(tcpwin_accept_queue_fullest_ratio{@})",
                    "fill",
                    Between(0.0, 2.0),
                )],
            },
            Panel {
                title: "Waiting for accept",
                about: "Connections that wait for a program to accept them, all listeners together.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "sum(tcpwin_accept_queue_connections{@})",
                    "connections",
                    Between(0.0, 1e5),
                )],
            },
            Panel {
                title: "Connections refused by listeners",
                about: "An accept queue was full, and SYNs dropped for any reason.",
                view: View::Lines,
                unit: "cps",
                queries: vec![
                    Query::new(
                        "sum by (instance) (rate(tcpwin_listen_overflows_total{@}[$__rate_interval]))",
                        "{{instance}} queue full",
                        Between(0.0, 1e5),
                    ),
                    Query::new(
                        "sum by (instance) (rate(tcpwin_listen_drops_total{@}[$__rate_interval]))",
                        "{{instance}} SYN dropped",
                        Between(0.0, 1e5),
                    ),
                ],
            },
            Panel {
                title: "Connections opened",
                about: "By which end opened them.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum by (origin) (rate(tcpwin_connections_opened_total{@}[$__rate_interval]))",
                    "{{origin}}",
                    Between(0.0, 1e5),
                )],
            },
            Panel {
                title: "Throughput by listener",
                about: "By the port that connections came to; `none` are those that programs of this host opened. It needs \
                        the agent's --metrics.group-by listener.",
                view: View::Lines,
                unit: "bps",
                queries: vec![Query::new(
                    r#"8 * sum by (listener) (rate(tcpwin_group_bytes_total{@, listener!=""}[$__rate_interval]))"#,
                    "port {{listener}}",
                    Between(5e6, 1e10),
                )],
            },
            Panel {
                title: "Time under a window by listener",
                about: "How many connections of each listener were held by a window at a time. It needs the agent's \
                        --metrics.group-by listener.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum by (listener) (rate(tcpwin_group_seconds_total{@, listener!="", bound="window"}[$__rate_interval]))"#,
                    "port {{listener}}",
                    Between(0.5, 50.0),
                )],
            },
        ],
    }
}

fn fast_open() -> Row {
    Row {
        title: "TCP Fast Open",
        panels: vec![
            Panel {
                title: "Outcome by connection",
                about: "Connections that used Fast Open and have closed: a cookie requested, the SYN's data taken, or \
                        refused. Read from each connection in every network namespace.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum by (origin, outcome) (rate(tcpwin_connections_fastopen_total{@}[$__rate_interval]))",
                    "{{origin}} {{outcome}}",
                    Between(0.0, 1e5),
                )],
            },
            Panel {
                title: "Outcome by the kernel's counters",
                about: "TCPFastOpen* of the agent's own network namespace; overflow: too many were pending.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum by (origin, outcome) (rate(tcpwin_fastopen_connections_total{@}[$__rate_interval]))",
                    "{{origin}} {{outcome}}",
                    Between(0.0, 1e5),
                )],
            },
            Panel {
                title: "Share of the SYNs with data that were taken",
                about: "Of connections that programs of this host opened with data in the SYN. A cookie request carries none.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    r#"sum by (instance) (rate(tcpwin_connections_fastopen_total{@, origin="connect", outcome="taken"}[$__rate_interval])) / (sum by (instance) (rate(tcpwin_connections_fastopen_total{@, origin="connect", outcome!="requested"}[$__rate_interval])) > 0)"#,
                    "{{instance}}",
                    Maybe,
                )],
            },
            Panel {
                title: "Fast Open turned off",
                about: "Times the kernel turned it off since a path swallowed the data.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    "sum by (instance) (increase(tcpwin_fastopen_blackholes_total{@}[$__rate_interval]))",
                    "{{instance}}",
                    Between(0.0, 1e3),
                )],
            },
        ],
    }
}
