//! What the agent tells of itself.

use crate::exporter::http::Refused;

use super::{Family, Kind, Octaves, Sent, Unit, Value, count, labelled, one};

pub(super) static FAMILIES: [Family; 20] = [
    Family {
        name: "tcpwin_build",
        help: "Running version of tcpwin; always 1",
        unit: Unit::Count("agents"),
        kind: Kind::Info,
        labels: &["version"],
        bound: 1,
        example: "count by (version) (tcpwin_build_info)",
        read: |reading, samples| {
            let version = &reading.snapshot.health.version;
            samples.push(labelled([version], Value::Count(1)));
        },
    },
    Family {
        name: "tcpwin_source",
        help: "Source of the observations, and why not a better one; always 1",
        unit: Unit::Count("sources"),
        kind: Kind::Info,
        labels: &["source", "reason"],
        bound: 1,
        example: "count by (source) (tcpwin_source_info)",
        read: |reading, samples| {
            let health = &reading.snapshot.health;
            let reason = health.source_reason.as_deref().unwrap_or("");
            samples.push(labelled([&health.source, reason], Value::Count(1)));
        },
    },
    Family {
        name: "tcpwin_hook_attached",
        help: "Whether a kernel hook is in place (1) or missing (0)",
        unit: Unit::Count("hooks"),
        kind: Kind::Gauge,
        labels: &["hook"],
        bound: 32,
        example: "tcpwin_hook_attached == 0",
        read: |reading, samples| {
            for hook in &reading.snapshot.health.hooks {
                let attached = u64::from(hook.missing.is_none());
                samples.push(labelled([&hook.hook], Value::Count(attached)));
            }
        },
    },
    Family {
        name: "tcpwin_losses",
        help: "What could not be seen or kept, by cause",
        unit: Unit::Count("records"),
        kind: Kind::Counter,
        labels: &["cause"],
        bound: 16,
        example: "sum by (cause) (rate(tcpwin_losses_total[5m])) > 0",
        read: |reading, samples| {
            for (cause, count) in &reading.snapshot.health.losses {
                samples.push(labelled([cause], Value::Count(*count)));
            }
        },
    },
    Family {
        name: "tcpwin_table_entries",
        help: "Connections in the table",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_table_entries / tcpwin_table_capacity",
        read: count!(snapshot.health.table_used),
    },
    Family {
        name: "tcpwin_table_capacity",
        help: "Most connections the table holds (--max-connections)",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_table_entries / tcpwin_table_capacity",
        read: count!(snapshot.health.table_capacity),
    },
    Family {
        name: "tcpwin_table_evictions",
        help: "Connections thrown out to stay within the table's capacity",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_table_evictions_total[5m])",
        read: count!(snapshot.health.evictions),
    },
    Family {
        name: "tcpwin_probe_runs",
        help: "Runs of the kernel probes, where the kernel counts them (kernel.bpf_stats_enabled)",
        unit: Unit::Count("runs"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_probe_runs_total[5m])",
        read: |reading, samples| {
            samples.extend(
                reading
                    .snapshot
                    .health
                    .probe_runs
                    .map(|runs| one(Value::Count(runs))),
            );
        },
    },
    Family {
        name: "tcpwin_probe_run",
        help: "Time in the kernel probes, where the kernel counts it (kernel.bpf_stats_enabled)",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_probe_run_seconds_total[5m]) / rate(tcpwin_probe_runs_total[5m])",
        read: |reading, samples| {
            let run_ns = reading.snapshot.health.probe_run_ns;
            samples.extend(run_ns.map(|ns| one(Value::Real(ns as f64 / 1e9))));
        },
    },
    Family {
        name: "tcpwin_ticks",
        help: "Intervals ended so far",
        unit: Unit::Count("intervals"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_ticks_total[5m])",
        read: count!(snapshot.tick),
    },
    Family {
        name: "tcpwin_interval",
        help: "Length of the last interval",
        unit: Unit::Seconds,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_interval_seconds",
        read: |reading, samples| samples.push(one(Value::Real(reading.snapshot.interval_us as f64 / 1e6))),
    },
    Family {
        name: "tcpwin_tick_cpu",
        help: "CPU time that ending an interval takes: reading, judging and counting",
        unit: Unit::Seconds,
        // 61 µs, 244 µs … 1 s.
        kind: Kind::Histogram(Octaves {
            first: -14,
            last: 0,
            step: 2,
        }),
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_tick_cpu_seconds_sum[5m]) / rate(tcpwin_tick_cpu_seconds_count[5m])",
        read: |reading, samples| samples.push(one(Value::Spread(&reading.snapshot.ticks))),
    },
    Family {
        name: "tcpwin_process_cpu",
        help: "CPU time of the agent's process, user and system",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_process_cpu_seconds_total[5m])",
        read: |reading, samples| {
            let micros = reading.snapshot.health.cpu_us;
            samples.push(one(Value::Real(micros as f64 / 1e6)));
        },
    },
    Family {
        name: "tcpwin_process_resident_memory",
        help: "Resident memory of the agent's process",
        unit: Unit::Bytes,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_process_resident_memory_bytes",
        read: count!(snapshot.health.rss_bytes),
    },
    Family {
        name: "tcpwin_scrapes",
        help: "Scrapes of the metrics answered before this one",
        unit: Unit::Count("scrapes"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_scrapes_total[5m])",
        read: count!(scrapes),
    },
    Family {
        name: "tcpwin_scrape",
        help: "Time that answering those scrapes took",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        example: "rate(tcpwin_scrape_seconds_total[5m]) / rate(tcpwin_scrapes_total[5m])",
        read: |reading, samples| samples.push(one(Value::Real(reading.scrape_ns as f64 / 1e9))),
    },
    Family {
        name: "tcpwin_http_refused",
        help: "Connections and requests to the agent that were not served, by cause",
        unit: Unit::Count("refusals"),
        kind: Kind::Counter,
        labels: &["cause"],
        bound: 11,
        example: "sum by (cause) (rate(tcpwin_http_refused_total[5m])) > 0",
        read: |reading, samples| {
            for (why, cause) in Refused::ALL {
                samples.push(labelled([cause], Value::Count(reading.http.refused(why))));
            }
        },
    },
    Family {
        name: "tcpwin_http_connections",
        help: "Open HTTP connections to the agent",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        example: "tcpwin_http_connections",
        read: |reading, samples| samples.push(one(Value::Count(reading.http.connections()))),
    },
    Family {
        name: "tcpwin_web_config_reloads",
        help: "Times the web configuration file was read again, by what came of it",
        unit: Unit::Count("reloads"),
        kind: Kind::Counter,
        labels: &["outcome"],
        bound: 2,
        example: "increase(tcpwin_web_config_reloads_total{outcome=\"failed\"}[1h]) > 0",
        read: |reading, samples| {
            for (outcome, count) in ["taken", "failed"].into_iter().zip(reading.http.reloads()) {
                samples.push(labelled([outcome], Value::Count(count)));
            }
        },
    },
    Family {
        name: "tcpwin_otlp_exports",
        help: "Messages sent by OTLP, by what became of them: taken, taken but for some points, or refused; told where \
               --otlp.endpoint asks for them",
        unit: Unit::Count("messages"),
        kind: Kind::Counter,
        labels: &["outcome"],
        bound: Sent::ALL.len(),
        example: r#"rate(tcpwin_otlp_exports_total{outcome!="sent"}[5m]) > 0"#,
        read: |reading, samples| {
            for (outcome, count) in Sent::ALL.iter().zip(reading.pushes.iter().flatten()) {
                samples.push(labelled([outcome.name()], Value::Count(*count)));
            }
        },
    },
];
