//! All hosts at a glance: where windows waste bandwidth.

use super::model::Expect::{Between, Maybe};
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-fleet",
        title: "tcpwin / Fleet",
        about: "What limits the TCP connections of all hosts, and what that costs.",
        rows: vec![now(), limits(), paths()],
    }
}

fn now() -> Row {
    Row {
        title: "Now",
        panels: vec![
            Panel {
                title: "Hosts",
                about: "Hosts on which tcpwin runs and is scraped.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "count(tcpwin_build_info{@})",
                    "hosts",
                    Between(1.0, 1.0),
                )],
            },
            Panel {
                title: "Connections open",
                about: "Connections open now, idle ones included.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "sum(tcpwin_connections{@})",
                    "connections",
                    Between(10.0, 2000.0),
                )],
            },
            Panel {
                title: "Held by a window",
                about: "How many connections were held by a window at a time: a send buffer, a receive window, the \
                        congestion window or a protocol's own.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum(rate(tcpwin_connection_seconds_total{@, bound="window"}[$__rate_interval]))"#,
                    "connections",
                    Between(0.5, 50.0),
                )],
            },
            Panel {
                title: "Not moved for want of a window",
                about: "What all hosts would move beside what they move, if no window were too small and until the next \
                        limit binds. Counted only where the next limit is known.",
                view: View::Stat,
                unit: "bps",
                queries: vec![Query::new(
                    r#"8 * sum(rate(tcpwin_not_moved_bytes_total{@, bound="window"}[$__rate_interval]))"#,
                    "not moved",
                    Between(1e6, 1e12),
                )],
            },
        ],
    }
}

fn limits() -> Row {
    Row {
        title: "What limits",
        panels: vec![
            Panel {
                title: "Busy connections by class",
                about: "How many connections each class of limit held at a time. Time in which nothing happened is left out.",
                view: View::Stacked,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum by (bound) (rate(tcpwin_connection_seconds_total{@, bound!="none"}[$__rate_interval]))"#,
                    "{{bound}}",
                    Between(4.0, 200.0),
                )],
            },
            Panel {
                title: "Not moved, by limit",
                about: "What lifting each limit would add. The largest area is where to begin.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * (sum by (limit) (rate(tcpwin_not_moved_bytes_total{@}[$__rate_interval])) > 0)",
                    "{{limit}}",
                    Between(1e6, 1e12),
                )],
            },
            Panel {
                title: "Moved, by class",
                about: "Data moved both ways while under each class of limit.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * sum by (bound) (rate(tcpwin_bytes_total{@}[$__rate_interval]))",
                    "{{bound}}",
                    Between(40e6, 2e9),
                )],
            },
            Panel {
                title: "Hosts that lose most to windows",
                about: "The ten hosts on which lifting windows would add most.",
                view: View::Bars,
                unit: "bps",
                queries: vec![Query::new(
                    r#"8 * topk(10, sum by (instance) (rate(tcpwin_not_moved_bytes_total{@, bound="window"}[$__rate_interval])))"#,
                    "{{instance}}",
                    Between(1e6, 1e12),
                )],
            },
            Panel {
                title: "Gain from lifting the limit",
                about: "Factor by which the rate of connections that move data would rise once their limit is lifted, \
                        where the next limit is known. Needs native histograms.",
                view: View::Lines,
                unit: "short",
                queries: vec![
                    Query::new(
                        "histogram_quantile(0.5, sum(rate(tcpwin_gain_ratio{@}[$__rate_interval])))",
                        "half have at most",
                        Between(0.8, 1e5),
                    ),
                    Query::new(
                        "histogram_quantile(0.9, sum(rate(tcpwin_gain_ratio{@}[$__rate_interval])))",
                        "nine of ten have at most",
                        Between(0.8, 1e5),
                    ),
                ],
            },
            Panel {
                title: "Share of busy time that somebody could lift",
                about: "Busy time under a window, loss or the host itself, over all busy time of each host.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    r#"sum by (instance) (rate(tcpwin_connection_seconds_total{@, bound=~"window|loss|host"}[$__rate_interval])) / sum by (instance) (rate(tcpwin_connection_seconds_total{@, bound!="none"}[$__rate_interval]))"#,
                    "{{instance}}",
                    Between(0.05, 1.0),
                )],
            },
        ],
    }
}

fn paths() -> Row {
    Row {
        title: "Paths",
        panels: vec![
            Panel {
                title: "Round-trip time",
                about: "Smoothed round-trip time of connections that move data. Needs native histograms.",
                view: View::Lines,
                unit: "s",
                queries: vec![
                    Query::new(
                        "histogram_quantile(0.5, sum(rate(tcpwin_srtt_seconds{@}[$__rate_interval])))",
                        "half below",
                        Between(1e-5, 0.3),
                    ),
                    Query::new(
                        "histogram_quantile(0.99, sum(rate(tcpwin_srtt_seconds{@}[$__rate_interval])))",
                        "99 of 100 below",
                        Between(0.03, 1.0),
                    ),
                ],
            },
            Panel {
                title: "Retransmissions",
                about: "Segments sent again, by the mechanism that sent them.",
                view: View::Lines,
                unit: "pps",
                queries: vec![Query::new(
                    "sum by (kind) (rate(tcpwin_retransmitted_segments_total{@}[$__rate_interval]))",
                    "{{kind}}",
                    Between(0.5, 5000.0),
                )],
            },
            Panel {
                title: "Stalled connections",
                about: "Connections whose peers acknowledge nothing any more.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum by (instance) (tcpwin_connections{@, limit="stalled"})"#,
                    "{{instance}}",
                    Maybe,
                )],
            },
        ],
    }
}
