//! How long handshakes take, what makes them long, and what saves them.

use super::model::Expect::{Between, Maybe};
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-handshakes",
        title: "tcpwin / Handshakes",
        about: "How long TCP handshakes take, what makes them long, and the round trips that Fast Open saves.",
        rows: vec![handshakes(), delays(), saved()],
    }
}

/// The suite connects once a second over loopback: a handshake each, at either end.
fn handshakes() -> Row {
    Row {
        title: "TCP handshakes",
        panels: vec![
            Panel {
                title: "Handshakes of connections opened here",
                about: "From the first SYN until the connection is established, SYNs sent again included. The median is \
                        the round trip of a typical path; what is far above it waited for a lost SYN or a full queue.",
                view: View::Lines,
                unit: "s",
                queries: vec![
                    Query::new(
                        r#"histogram_quantile(0.5, sum(rate(tcpwin_handshake_seconds{@, origin="connect"}[$__rate_interval])))"#,
                        "half below",
                        Between(1e-6, 0.05),
                    ),
                    Query::new(
                        r#"histogram_quantile(0.99, sum(rate(tcpwin_handshake_seconds{@, origin="connect"}[$__rate_interval])))"#,
                        "99 of 100 below",
                        Between(1e-6, 0.5),
                    ),
                ],
            },
            Panel {
                title: "Handshakes of connections accepted here",
                about: "From our SYN-ACK to its acknowledgement: one round trip to the client. Those whose SYN-ACK was sent \
                        again are left out.",
                view: View::Lines,
                unit: "s",
                queries: vec![
                    Query::new(
                        r#"histogram_quantile(0.5, sum(rate(tcpwin_handshake_seconds{@, origin="accept"}[$__rate_interval])))"#,
                        "half below",
                        Between(1e-7, 0.05),
                    ),
                    Query::new(
                        r#"histogram_quantile(0.99, sum(rate(tcpwin_handshake_seconds{@, origin="accept"}[$__rate_interval])))"#,
                        "99 of 100 below",
                        Between(1e-7, 0.5),
                    ),
                ],
            },
            Panel {
                title: "Handshakes",
                about: "How many were timed, by which end opened the connection.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum by (origin) (histogram_count(rate(tcpwin_handshake_seconds{@}[$__rate_interval])))",
                    "{{origin}}",
                    Between(1.5, 100.0),
                )],
            },
            Panel {
                title: "Handshakes of more than a second",
                about: "Share of the connections opened here. A lost SYN costs a second at least: its first timeout is one.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    r#"1 - histogram_fraction(0, 1, sum(rate(tcpwin_handshake_seconds{@, origin="connect"}[$__rate_interval])))"#,
                    "above 1 s",
                    Between(0.0, 0.2),
                )],
            },
        ],
    }
}

fn delays() -> Row {
    Row {
        title: "What delays them",
        panels: vec![
            Panel {
                title: "SYNs and SYN-ACKs sent again",
                about: "Each is a handshake that takes a second longer, or two, or four: the path loses them, or a listener \
                        drops them.",
                view: View::Lines,
                unit: "pps",
                queries: vec![Query::new(
                    r#"sum by (instance) (rate(tcpwin_retransmitted_segments_total{@, kind="syn"}[$__rate_interval]))"#,
                    "{{instance}}",
                    Between(0.0, 1e3),
                )],
            },
            Panel {
                title: "SYNs dropped by listeners",
                about: "By listeners in the agent's own network namespace, for any reason, and those of them for a full \
                        accept queue. The client sends its SYN again a second later.",
                view: View::Lines,
                unit: "cps",
                queries: vec![
                    Query::new(
                        "sum by (instance) (rate(tcpwin_listen_drops_total{@}[$__rate_interval]))",
                        "{{instance}} dropped",
                        Between(0.0, 1e5),
                    ),
                    Query::new(
                        "sum by (instance) (rate(tcpwin_listen_overflows_total{@}[$__rate_interval]))",
                        "{{instance}} queue full",
                        Between(0.0, 1e5),
                    ),
                ],
            },
            Panel {
                title: "Fullest accept queue",
                about: "Fill of the fullest accept queue as a share of its backlog: above 1 what comes is dropped.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    "max by (instance) (tcpwin_accept_queue_fullest_ratio{@})",
                    "{{instance}}",
                    Between(0.0, 2.0),
                )],
            },
            Panel {
                title: "Waiting for accept",
                about: "Connections whose handshake is over and that no program has accepted yet: time that a client waits \
                        and no handshake shows.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    "sum by (instance) (tcpwin_accept_queue_connections{@})",
                    "{{instance}}",
                    Between(0.0, 1e5),
                )],
            },
        ],
    }
}

fn saved() -> Row {
    Row {
        title: "Round trips saved",
        panels: vec![
            Panel {
                title: "Round trips saved by Fast Open",
                about: "Connections whose SYN carried data that was taken: each had its answer a round trip earlier.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    r#"sum by (origin) (rate(tcpwin_connections_fastopen_total{@, outcome="taken"}[$__rate_interval]))"#,
                    "{{origin}}",
                    Between(0.0, 1e5),
                )],
            },
            Panel {
                title: "Share of connections that save a round trip",
                about: "Of those opened here that have closed: how many had the data of their SYN taken.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    r#"sum by (instance) (rate(tcpwin_connections_fastopen_total{@, origin="connect", outcome="taken"}[$__rate_interval])) / (sum by (instance) (rate(tcpwin_connections_opened_total{@, origin="connect"}[$__rate_interval])) > 0)"#,
                    "{{instance}}",
                    Maybe,
                )],
            },
        ],
    }
}
