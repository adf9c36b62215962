use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use crate::classify::Limit;
use crate::observation::{HookState, Retransmits};
use crate::snapshot::{AcceptQueues, FastOpenCounts, Health, HostFacts, MemoryPressure, Summary};

fn snapshot() -> Snapshot {
    let hook = |name: &str, missing: Option<&str>| HookState {
        hook: name.to_owned(),
        missing: missing.map(str::to_owned),
    };
    Snapshot {
        at_ns: 7_000_000_000,
        interval_us: 1_000_250,
        tick: 7,
        health: Health {
            source: "ebpf".to_owned(),
            source_reason: Some("tp_btf \"refused\"\nby lockdown".to_owned()),
            hooks: vec![
                hook("tcp_probe", None),
                hook("tcp_sendpage", Some("not in this kernel")),
            ],
            losses: BTreeMap::from([("ring_full".to_owned(), 3), ("no_slot".to_owned(), 0)]),
            table_used: 12,
            table_capacity: 131_072,
            evictions: 1,
            probe_runs: Some(1_000),
            probe_run_ns: Some(84_000),
            tick_cpu_us: 420,
            cpu_us: 1_250_000,
            rss_bytes: 20_000_000,
            host: "host".to_owned(),
            kernel: "6.18.0".to_owned(),
            version: "0.1.0".to_owned(),
        },
        summary: Summary {
            connections: BTreeMap::from([(Limit::RwndScale, 2), (Limit::None, 10)]),
            seconds: BTreeMap::from([(Limit::RwndScale, 14.5)]),
            bytes: BTreeMap::from([(Limit::RwndScale, u64::MAX)]),
            opened: 20,
            opened_connect: 8,
            closed: 8,
            bytes_acked: 5_000_000_000,
            bytes_received: 700,
            retransmits: Retransmits {
                fast: 5,
                rto: 2,
                tlp: 1,
            },
            retransmits_unknown: 4,
            retransmits_syn: 3,
            resets_sent: 1,
            resets_received: 2,
            ..Summary::default()
        },
        facts: HostFacts {
            accept_queues: Some(AcceptQueues {
                listeners: 5,
                waiting: 140,
                full: 1,
                fullest: 129.0 / 128.0,
            }),
            fastopen: Some(FastOpenCounts {
                active: 4,
                active_failed: 1,
                passive: 9,
                passive_failed: 2,
                listen_overflows: 3,
                cookies_requested: 6,
                blackholes: 1,
            }),
            listen_overflows: Some(31),
            listen_drops: Some(33),
            memory_pressures: Some(2),
            memory: Some(MemoryPressure {
                used_bytes: 1_257_472,
                pressure_bytes: 1_558_753_280,
                limit_bytes: 2_338_111_488,
            }),
            softnet_dropped: Some(8),
            softnet_squeezed: Some(16),
            softirq_busiest: Some(0.25),
            ..HostFacts::default()
        },
        ..Snapshot::default()
    }
}

fn exporter(snapshot: Snapshot) -> Exporter {
    let (_, latest) = watch::channel(Arc::new(snapshot));
    Exporter::new(latest)
}

#[test]
fn classic_page() {
    let exporter = exporter(snapshot());
    exporter.note_scrape(Duration::from_micros(1_500));
    insta::assert_snapshot!(exporter.scrape(Format::Classic).unwrap());
}

#[test]
fn open_metrics_page() {
    insta::assert_snapshot!(exporter(snapshot()).scrape(Format::OpenMetrics).unwrap());
}

#[test]
fn what_the_kernel_does_not_count_is_absent() {
    let page = exporter(Snapshot::default()).scrape(Format::Classic).unwrap();
    assert!(!page.contains("probe_run"), "{page}");
    assert!(!page.contains("hook_attached"), "{page}");
    for family in ["listen", "fastopen", "tcp_memory", "soft"] {
        assert!(!page.contains(&format!("tcpwin_{family}")), "{page}");
    }
    assert!(
        page.contains("tcpwin_bytes_total{bound=\"window\",limit=\"rwnd\"} 0\n"),
        "{page}"
    );
}

#[test]
fn every_metric_says_what_it_counts_and_keeps_its_bound() {
    let snapshot = snapshot();
    let reading = Reading {
        snapshot: Arc::new(snapshot),
        scrapes: 1,
        scrape_ns: 1,
    };
    let page = exporter((*reading.snapshot).clone())
        .scrape(Format::Classic)
        .unwrap();
    let mut bound = 0;
    for family in families() {
        assert!(family.help.len() > 10, "{}", family.name);
        assert!(page.contains(&family.help_text()), "{}", family.name);
        let mut samples = Vec::new();
        (family.read)(&reading, &mut samples);
        assert!(samples.len() <= family.bound, "{}", family.name);
        assert!(
            samples
                .iter()
                .all(|sample| sample.labels.len() == family.labels.len()),
            "{}",
            family.name
        );
        bound += family.bound;
    }
    assert!(bound <= 2_000, "{bound} series");
}

#[test]
fn open_metrics_is_for_who_asks() {
    let prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
    assert_eq!(Format::negotiate(Some(prometheus)), Format::OpenMetrics);
    for classic in [
        None,
        Some("*/*"),
        Some("text/plain"),
        Some("application/openmetrics-text;q=0"),
    ] {
        assert_eq!(Format::negotiate(classic), Format::Classic, "{classic:?}");
    }
}

/// Where promtool is installed (the test command installs it), it has no complaint.
#[test]
fn promtool_has_no_complaint() {
    let spawned = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut promtool = match spawned {
        Ok(promtool) => promtool,
        Err(error) => {
            eprintln!("skipped: promtool: {error}");
            return;
        }
    };
    let page = exporter(snapshot()).scrape(Format::Classic).unwrap();
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let complaints = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success() && complaints.is_empty(),
        "{}",
        String::from_utf8_lossy(&complaints)
    );
}
