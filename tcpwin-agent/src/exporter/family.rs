//! Every metric, once: its name, help, unit, labels, bound and where it is read from.

use std::borrow::Cow;
use std::sync::Arc;

use crate::classify::Limit;
use crate::snapshot::Snapshot;

/// What a scrape reads.
#[derive(Debug)]
pub(super) struct Reading {
    pub snapshot: Arc<Snapshot>,
    pub scrapes: u64,
    pub scrape_ns: u64,
}

/// How the value moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Always 1; the labels tell.
    Info,
}

/// What the value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds; the name ends in it.
    Seconds,
    /// Bytes; the name ends in it.
    Bytes,
    /// Things of this name.
    Count(&'static str),
}

impl Unit {
    /// As in the help text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Count(things) => things,
        }
    }
}

/// One metric.
#[derive(Debug)]
pub struct Family {
    /// Name without unit and `_total` or `_info`.
    pub name: &'static str,
    /// What it says; the unit is added unless there is none to tell.
    pub help: &'static str,
    /// Of the value.
    pub unit: Unit,
    /// Of the metric.
    pub kind: Kind,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// Most series it can have.
    pub bound: usize,
    pub(super) read: for<'a> fn(&'a Reading, &mut Vec<Sample<'a>>),
}

impl Family {
    /// The help text with its unit.
    #[must_use]
    pub fn help_text(&self) -> String {
        match self.kind {
            Kind::Info => format!("{}.", self.help),
            _ => format!("{} ({}).", self.help, self.unit.text()),
        }
    }
}

pub(super) enum Value {
    Count(u64),
    Real(f64),
}

/// Labels, in the order of the family's names, and the value.
pub(super) struct Sample<'a> {
    pub labels: Vec<Cow<'a, str>>,
    pub value: Value,
}

fn one<'a>(value: Value) -> Sample<'a> {
    labelled([], value)
}

fn labelled<'a, const N: usize>(labels: [&'a str; N], value: Value) -> Sample<'a> {
    Sample {
        labels: labels.map(Cow::Borrowed).to_vec(),
        value,
    }
}

macro_rules! count {
    ($($path:ident).+) => {
        |reading, samples| samples.push(one(Value::Count(reading.$($path).+)))
    };
}

/// One sample a limit, zeros too: a counter must be there before it grows, or its first growth is lost.
fn by_limit<'a>(samples: &mut Vec<Sample<'a>>, value: impl Fn(Limit) -> Value) {
    for limit in Limit::ALL {
        samples.push(labelled([limit.bound().name(), limit.name()], value(limit)));
    }
}

const LIMITS: usize = Limit::ALL.len();

/// Every metric, in the order of the page.
pub static FAMILIES: [Family; 26] = [
    Family {
        name: "tcpwin_connections",
        help: "Connections open now, by what limits them",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let counts = &reading.snapshot.summary.connections;
            by_limit(samples, |limit| {
                Value::Count(counts.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_connection",
        help: "Time that connections spent under each limit, summed over all connections",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let seconds = &reading.snapshot.summary.seconds;
            by_limit(samples, |limit| {
                Value::Real(seconds.get(&limit).copied().unwrap_or(0.0))
            });
        },
    },
    Family {
        name: "tcpwin",
        help: "Data moved in both directions while under each limit",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let bytes = &reading.snapshot.summary.bytes;
            by_limit(samples, |limit| {
                Value::Count(bytes.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_bytes_not_moved",
        help: "Data that lifting each limit would have moved beside what was moved, where the next limit is known",
        unit: Unit::Count("bytes"),
        kind: Kind::Counter,
        labels: &["bound", "limit"],
        bound: LIMITS,
        read: |reading, samples| {
            let bytes = &reading.snapshot.summary.bytes_not_moved;
            by_limit(samples, |limit| {
                Value::Count(bytes.get(&limit).copied().unwrap_or(0))
            });
        },
    },
    Family {
        name: "tcpwin_connections_opened",
        help: "Connections seen opening, by which end opened them",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &["origin"],
        bound: 2,
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
        read: count!(snapshot.summary.closed),
    },
    Family {
        name: "tcpwin_acked",
        help: "Data sent and acknowledged by the peers",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.summary.bytes_acked),
    },
    Family {
        name: "tcpwin_received",
        help: "Data received in order",
        unit: Unit::Bytes,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.summary.bytes_received),
    },
    Family {
        name: "tcpwin_retransmitted_segments",
        help: "Retransmissions, by the mechanism that sent them; unknown where the source cannot tell",
        unit: Unit::Count("segments"),
        kind: Kind::Counter,
        labels: &["kind"],
        bound: 5,
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
        read: |reading, samples| {
            let summary = &reading.snapshot.summary;
            samples.push(labelled(["sent"], Value::Count(summary.resets_sent)));
            samples.push(labelled(["received"], Value::Count(summary.resets_received)));
        },
    },
    Family {
        name: "tcpwin_build",
        help: "Running version of tcpwin; always 1",
        unit: Unit::Count("agents"),
        kind: Kind::Info,
        labels: &["version"],
        bound: 1,
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
        read: count!(snapshot.health.table_used),
    },
    Family {
        name: "tcpwin_table_capacity",
        help: "Most connections the table holds (--max-connections)",
        unit: Unit::Count("connections"),
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        read: count!(snapshot.health.table_capacity),
    },
    Family {
        name: "tcpwin_table_evictions",
        help: "Connections thrown out to stay within the table's capacity",
        unit: Unit::Count("connections"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(snapshot.health.evictions),
    },
    Family {
        name: "tcpwin_probe_runs",
        help: "Runs of the kernel probes, where the kernel counts them (kernel.bpf_stats_enabled)",
        unit: Unit::Count("runs"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
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
        read: count!(snapshot.tick),
    },
    Family {
        name: "tcpwin_interval",
        help: "Length of the last interval",
        unit: Unit::Seconds,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        read: |reading, samples| samples.push(one(Value::Real(reading.snapshot.interval_us as f64 / 1e6))),
    },
    Family {
        name: "tcpwin_tick_cpu",
        help: "CPU time that the end of the last interval took",
        unit: Unit::Seconds,
        kind: Kind::Gauge,
        labels: &[],
        bound: 1,
        read: |reading, samples| {
            let micros = reading.snapshot.health.tick_cpu_us;
            samples.push(one(Value::Real(micros as f64 / 1e6)));
        },
    },
    Family {
        name: "tcpwin_process_cpu",
        help: "CPU time of the agent's process, user and system",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
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
        read: count!(snapshot.health.rss_bytes),
    },
    Family {
        name: "tcpwin_scrapes",
        help: "Scrapes of the metrics answered before this one",
        unit: Unit::Count("scrapes"),
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: count!(scrapes),
    },
    Family {
        name: "tcpwin_scrape",
        help: "Time that answering those scrapes took",
        unit: Unit::Seconds,
        kind: Kind::Counter,
        labels: &[],
        bound: 1,
        read: |reading, samples| samples.push(one(Value::Real(reading.scrape_ns as f64 / 1e9))),
    },
];
