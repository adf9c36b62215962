//! One host: what its connections wait for, and what its kernel has to do with it.

use super::model::Expect::{Between, Maybe};
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-host",
        title: "tcpwin / Host",
        about: "What the connections of a host wait for, how large and how far they are, and what its kernel has to do with it.",
        rows: vec![limits(), figures(), kernel()],
    }
}

fn limits() -> Row {
    Row {
        title: "Connections",
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
                title: "Busy connections by limit and direction",
                about: "The same by cause, and the way in which the bytes go that it holds.",
                view: View::Lines,
                unit: "short",
                queries: vec![Query::new(
                    r#"sum by (limit, direction) (rate(tcpwin_connection_seconds_total{@, bound!="none"}[$__rate_interval])) > 0"#,
                    "{{limit}} {{direction}}",
                    Between(4.0, 200.0),
                )],
            },
            Panel {
                title: "What the next byte waits for",
                about: "Time of connections in intervals in which anything happened, by the state that the kernel probes \
                        saw: nothing to send, the program, the send buffer, the peer's window, the congestion window, \
                        pacing. A connection that only receives is idle here.",
                view: View::Stacked,
                unit: "short",
                queries: vec![Query::new(
                    "sum by (state) (rate(tcpwin_budget_seconds_total{@}[$__rate_interval]))",
                    "{{state}}",
                    Between(4.0, 200.0),
                )],
            },
            Panel {
                title: "Throughput",
                about: "Data acknowledged by the peers, and data received.",
                view: View::Lines,
                unit: "bps",
                queries: vec![
                    Query::new(
                        "8 * sum(rate(tcpwin_acked_bytes_total{@}[$__rate_interval]))",
                        "sent",
                        Between(20e6, 1e9),
                    ),
                    Query::new(
                        "8 * sum(rate(tcpwin_received_bytes_total{@}[$__rate_interval]))",
                        "received",
                        Between(20e6, 1e9),
                    ),
                ],
            },
            Panel {
                title: "Not moved, by limit",
                about: "What lifting each limit would add, where the next limit is known.",
                view: View::Stacked,
                unit: "bps",
                queries: vec![Query::new(
                    "8 * (sum by (limit) (rate(tcpwin_not_moved_bytes_total{@}[$__rate_interval])) > 0)",
                    "{{limit}}",
                    Between(1e6, 1e12),
                )],
            },
            Panel {
                title: "Opened and closed",
                about: "Connections that begin, by which end opened them, and that end.",
                view: View::Lines,
                unit: "cps",
                queries: vec![
                    Query::new(
                        "sum by (origin) (rate(tcpwin_connections_opened_total{@}[$__rate_interval]))",
                        "opened by {{origin}}",
                        Between(0.0, 1000.0),
                    ),
                    Query::new(
                        "sum(rate(tcpwin_connections_closed_total{@}[$__rate_interval]))",
                        "closed",
                        Between(0.0, 1000.0),
                    ),
                ],
            },
            Panel {
                title: "Resets and closed windows",
                about: "Resets by who sent them, and how many connections at a time had data to send and no window left.",
                view: View::Lines,
                unit: "short",
                queries: vec![
                    Query::new(
                        "sum by (direction) (rate(tcpwin_resets_total{@}[$__rate_interval]))",
                        "resets {{direction}}",
                        Between(0.0, 1000.0),
                    ),
                    Query::new(
                        "sum(rate(tcpwin_zero_window_seconds_total{@}[$__rate_interval]))",
                        "windows closed",
                        Between(0.0, 100.0),
                    ),
                ],
            },
        ],
    }
}

fn figures() -> Row {
    Row {
        title: "Figures of connections (native histograms)",
        panels: vec![
            Panel {
                title: "Round-trip time",
                about: "Smoothed and minimum round-trip time of connections that move data. What the two differ by waits in \
                        a queue.",
                view: View::Lines,
                unit: "s",
                queries: vec![
                    Query::new(
                        "histogram_quantile(0.9, sum(rate(tcpwin_srtt_seconds{@}[$__rate_interval])))",
                        "srtt, nine of ten below",
                        Between(0.02, 0.5),
                    ),
                    Query::new(
                        "histogram_quantile(0.9, sum(rate(tcpwin_min_rtt_seconds{@}[$__rate_interval])))",
                        "min_rtt, nine of ten below",
                        Between(0.02, 0.5),
                    ),
                ],
            },
            Panel {
                title: "Bandwidth-delay product",
                about: "Rate × min_rtt: what connections must keep in flight for the rate they make.",
                view: View::Lines,
                unit: "bytes",
                queries: vec![Query::new(
                    "histogram_quantile(0.9, sum(rate(tcpwin_bdp_bytes{@}[$__rate_interval])))",
                    "nine of ten below",
                    Between(1e3, 1e6),
                )],
            },
            Panel {
                title: "Size of writes",
                about: "What a send call of the program takes, as the mean of each interval. Small ones cost a system call \
                        each.",
                view: View::Lines,
                unit: "bytes",
                queries: vec![Query::new(
                    "histogram_quantile(0.5, sum(rate(tcpwin_write_size_bytes{@}[$__rate_interval])))",
                    "half below",
                    Between(10.0, 1e6),
                )],
            },
            Panel {
                title: "Send-queue delay",
                about: "Unsent data ÷ rate: how long a byte waits in our buffer before it is first sent.",
                view: View::Lines,
                unit: "s",
                queries: vec![Query::new(
                    "histogram_quantile(0.9, sum(rate(tcpwin_send_queue_delay_seconds{@}[$__rate_interval])))",
                    "nine of ten below",
                    Between(0.0, 60.0),
                )],
            },
            Panel {
                title: "Life of connections",
                about: "From open to close, of connections that have closed.",
                view: View::Lines,
                unit: "s",
                queries: vec![Query::new(
                    "histogram_quantile(0.5, sum(rate(tcpwin_connection_life_seconds{@}[$__rate_interval])))",
                    "half below",
                    Maybe,
                )],
            },
            Panel {
                title: "Size of connections",
                about: "Data that connections which have closed moved over their life.",
                view: View::Lines,
                unit: "bytes",
                queries: vec![Query::new(
                    "histogram_quantile(0.5, sum by (direction) (rate(tcpwin_connection_size_bytes{@}[$__rate_interval])))",
                    "{{direction}}, half below",
                    Maybe,
                )],
            },
        ],
    }
}

fn kernel() -> Row {
    Row {
        title: "Kernel",
        panels: vec![
            Panel {
                title: "Memory of TCP",
                about: "What all TCP sockets hold, above which buffers stop growing, and above which memory is refused \
                        (net.ipv4.tcp_mem).",
                view: View::Lines,
                unit: "bytes",
                queries: vec![
                    Query::new("sum(tcpwin_tcp_memory_bytes{@})", "in use", Between(1e4, 1e10)),
                    Query::new(
                        "sum(tcpwin_tcp_memory_pressure_bytes{@})",
                        "pressure",
                        Between(1e6, 1e12),
                    ),
                    Query::new(
                        "sum(tcpwin_tcp_memory_limit_bytes{@})",
                        "limit",
                        Between(1e6, 1e12),
                    ),
                ],
            },
            Panel {
                title: "Busiest CPU in softirq",
                about: "Share of its time that the busiest CPU spent in softirq: near 1, packets wait for it.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    "max by (instance) (tcpwin_softirq_busiest_ratio{@})",
                    "{{instance}}",
                    Between(0.0, 1.0),
                )],
            },
            Panel {
                title: "Packets that the CPUs did not keep up with",
                about: "Dropped since the backlog was full, and times a CPU had to stop before its queue was empty.",
                view: View::Lines,
                unit: "pps",
                queries: vec![
                    Query::new(
                        "sum(rate(tcpwin_softnet_dropped_packets_total{@}[$__rate_interval]))",
                        "dropped",
                        Between(0.0, 1e6),
                    ),
                    Query::new(
                        "sum(rate(tcpwin_softnet_squeezes_total{@}[$__rate_interval]))",
                        "squeezed",
                        Between(0.0, 1e6),
                    ),
                ],
            },
            Panel {
                title: "Memory pressure",
                about: "Times TCP's memory came under pressure.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum(rate(tcpwin_tcp_memory_pressures_total{@}[$__rate_interval]))",
                    "times",
                    Between(0.0, 1e4),
                )],
            },
        ],
    }
}
