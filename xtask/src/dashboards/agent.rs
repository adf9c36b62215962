//! tcpwin itself: what it sees, what it misses, what it costs.

use super::model::Expect::{Between, Maybe};
use super::model::{Dashboard, Panel, Query, Row, View};

pub fn dashboard() -> Dashboard {
    Dashboard {
        uid: "tcpwin-agent",
        title: "tcpwin / Agent",
        about: "What tcpwin sees, what it misses, and what it costs.",
        rows: vec![sight(), cost()],
    }
}

fn sight() -> Row {
    Row {
        title: "Sight",
        panels: vec![
            Panel {
                title: "Agents by source",
                about: "Agents by where their observations come from: ebpf is the best, sock_diag the fallback.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "count by (source) (tcpwin_source_info{@})",
                    "{{source}}",
                    Between(1.0, 1.0),
                )],
            },
            Panel {
                title: "Agents by version",
                about: "Running versions of tcpwin.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "count by (version) (tcpwin_build_info{@})",
                    "{{version}}",
                    Between(1.0, 1.0),
                )],
            },
            Panel {
                title: "Hooks missing",
                about: "Kernel hooks that are not in place, all agents together; /healthz says why.",
                view: View::Stat,
                unit: "short",
                queries: vec![Query::new(
                    "sum(1 - tcpwin_hook_attached{@})",
                    "hooks",
                    Between(0.0, 32.0),
                )],
            },
            Panel {
                title: "Table fill",
                about: "Connections in the fullest table as a share of its capacity (--max-connections).",
                view: View::Stat,
                unit: "percentunit",
                queries: vec![Query::new(
                    "max(tcpwin_table_entries{@} / tcpwin_table_capacity{@})",
                    "fill",
                    Between(1e-5, 0.5),
                )],
            },
            Panel {
                title: "Losses",
                about: "What could not be seen or kept, by cause.",
                view: View::Lines,
                unit: "cps",
                queries: vec![Query::new(
                    "sum by (cause) (rate(tcpwin_losses_total{@}[$__rate_interval]))",
                    "{{cause}}",
                    Between(0.0, 100.0),
                )],
            },
            Panel {
                title: "Connections in the table",
                about: "Watched now, and thrown out to stay within the capacity.",
                view: View::Lines,
                unit: "short",
                queries: vec![
                    Query::new(
                        "sum by (instance) (tcpwin_table_entries{@})",
                        "{{instance}}",
                        Between(10.0, 2000.0),
                    ),
                    Query::new(
                        "sum by (instance) (rate(tcpwin_table_evictions_total{@}[$__rate_interval]))",
                        "{{instance}} thrown out, each second",
                        Between(0.0, 0.0),
                    ),
                ],
            },
        ],
    }
}

fn cost() -> Row {
    Row {
        title: "Cost",
        panels: vec![
            Panel {
                title: "CPU of the agent",
                about: "CPU time of the agent's process; what its probes take in the kernel comes on top.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    "sum by (instance) (rate(tcpwin_process_cpu_seconds_total{@}[$__rate_interval]))",
                    "{{instance}}",
                    Between(1e-4, 0.5),
                )],
            },
            Panel {
                title: "CPU of the probes",
                about: "Time in the kernel probes as a share of a CPU; only where kernel.bpf_stats_enabled is on.",
                view: View::Lines,
                unit: "percentunit",
                queries: vec![Query::new(
                    "sum by (instance) (rate(tcpwin_probe_run_seconds_total{@}[$__rate_interval]))",
                    "{{instance}}",
                    Maybe,
                )],
            },
            Panel {
                title: "Time of a probe",
                about: "Mean time of a run of a kernel probe; only where kernel.bpf_stats_enabled is on.",
                view: View::Lines,
                unit: "s",
                queries: vec![Query::new(
                    "sum by (instance) (rate(tcpwin_probe_run_seconds_total{@}[$__rate_interval])) / sum by (instance) (rate(tcpwin_probe_runs_total{@}[$__rate_interval]))",
                    "{{instance}}",
                    Maybe,
                )],
            },
            Panel {
                title: "CPU of a tick",
                about: "CPU time that ending an interval takes. Needs native histograms.",
                view: View::Lines,
                unit: "s",
                queries: vec![
                    Query::new(
                        "histogram_quantile(0.5, sum(rate(tcpwin_tick_cpu_seconds{@}[$__rate_interval])))",
                        "half below",
                        Between(1e-5, 0.1),
                    ),
                    Query::new(
                        "histogram_quantile(0.99, sum(rate(tcpwin_tick_cpu_seconds{@}[$__rate_interval])))",
                        "99 of 100 below",
                        Between(1e-5, 0.5),
                    ),
                ],
            },
            Panel {
                title: "Memory of the agent",
                about: "Resident memory of the agent's process.",
                view: View::Lines,
                unit: "bytes",
                queries: vec![Query::new(
                    "sum by (instance) (tcpwin_process_resident_memory_bytes{@})",
                    "{{instance}}",
                    Between(1e6, 5e8),
                )],
            },
            Panel {
                title: "Ticks and their length",
                about: "Intervals that end each second, and the length of the last one.",
                view: View::Lines,
                unit: "short",
                queries: vec![
                    Query::new(
                        "sum by (instance) (rate(tcpwin_ticks_total{@}[$__rate_interval]))",
                        "{{instance}} ticks each second",
                        Between(0.7, 1.2),
                    ),
                    Query::new(
                        "max by (instance) (tcpwin_interval_seconds{@})",
                        "{{instance}} seconds of the last one",
                        Between(0.7, 3.0),
                    ),
                ],
            },
            Panel {
                title: "Time of a scrape",
                about: "Mean time that answering a scrape takes.",
                view: View::Lines,
                unit: "s",
                queries: vec![Query::new(
                    "sum by (instance) (rate(tcpwin_scrape_seconds_total{@}[$__rate_interval])) / sum by (instance) (rate(tcpwin_scrapes_total{@}[$__rate_interval]))",
                    "{{instance}}",
                    Between(1e-5, 0.1),
                )],
            },
        ],
    }
}
