use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model::MetricFamily;
use prost::Message as _;

use super::*;
use crate::classify::{Direction, Limit};
use crate::observation::{HookState, Key, Retransmits};
use crate::snapshot::{
    AcceptQueues, Distribution, Distributions, FastOpenCounts, FastOpenOutcomes, Group, Health, HostFacts,
    Interface, MemoryPressure, Spent, Summary, Tally, Witness,
};

pub(super) fn snapshot() -> Snapshot {
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
            windows_closed: Some(12),
            zero_window_drops: Some(0),
            memory_pressures: Some(2),
            memory: Some(MemoryPressure {
                used_bytes: 1_257_472,
                pressure_bytes: 1_558_753_280,
                limit_bytes: 2_338_111_488,
            }),
            softnet_dropped: Some(8),
            softnet_squeezed: Some(16),
            softirq_busiest: Some(0.25),
            interfaces: vec![interface("eth0", Some("fq_codel")), interface("veth1", None)],
            ..HostFacts::default()
        },
        tally: Arc::new(tally()),
        ticks: Arc::new(of(&[0.000_42, 0.000_44])),
        ..Snapshot::default()
    }
}

fn interface(name: &str, qdisc: Option<&str>) -> Interface {
    Interface {
        name: name.to_owned(),
        speed_bps: None,
        qdisc: qdisc.map(str::to_owned),
        receive_dropped: 2,
        transmit_dropped: 5,
    }
}

fn tally() -> Tally {
    let scaled = (Limit::RwndScale, Some(Direction::Send));
    let spent = Spent {
        seconds: 14.5,
        bytes: u64::MAX,
        not_moved: 9_000_000,
    };
    let group = Group {
        process: "nginx".to_owned(),
        cgroup: String::new(),
        listener: "443".to_owned(),
        peer: "203.0.113.0/24".to_owned(),
    };
    Tally {
        connections: BTreeMap::from([(scaled, 2), ((Limit::None, None), 10)]),
        spent: BTreeMap::from([(scaled, spent)]),
        witnesses: BTreeMap::from([(
            scaled,
            Witness {
                tick: 7,
                not_moved: 4_500_000,
                key: Key {
                    cookie: 1_234,
                    netns: 4_026_531_840,
                },
            },
        )]),
        groups: BTreeMap::from([(group, BTreeMap::from([(Limit::RwndScale, spent)]))]),
        budget: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        zero_window: 0.25,
        fastopen: FastOpenOutcomes {
            requested: 1,
            taken: 2,
            refused: 3,
            accepted: 4,
        },
        distributions: Distributions {
            srtt: of(&[0.030, 0.031, 0.181]),
            handshake_connect: of(&[0.181]),
            received: of(&[0.0]),
            ..Distributions::default()
        },
    }
}

fn of(values: &[f64]) -> Distribution {
    let mut distribution = Distribution::default();
    for value in values {
        distribution.observe(*value);
    }
    distribution
}

pub(super) fn exporter(snapshot: Snapshot) -> Exporter {
    let (_, latest) = watch::channel(Arc::new(snapshot));
    Exporter::new(latest, false)
}

fn scraped(exporter: &Exporter, format: Format) -> String {
    String::from_utf8(exporter.scrape(format).unwrap()).unwrap()
}

#[test]
fn classic_page() {
    let exporter = exporter(snapshot());
    exporter.note_scrape(Duration::from_micros(1_500));
    insta::assert_snapshot!(scraped(&exporter, Format::Classic));
}

#[test]
fn open_metrics_page() {
    insta::assert_snapshot!(scraped(&exporter(snapshot()), Format::OpenMetrics));
}

#[test]
fn what_the_kernel_does_not_count_is_absent() {
    let page = scraped(&exporter(Snapshot::default()), Format::Classic);
    assert!(!page.contains("probe_run"), "{page}");
    assert!(!page.contains("hook_attached"), "{page}");
    for family in [
        "listen",
        "fastopen",
        "tcp_memory",
        "soft",
        "interface",
        "windows",
        "zero_window_d",
    ] {
        assert!(!page.contains(&format!("tcpwin_{family}")), "{page}");
    }
    assert!(
        page.contains("tcpwin_bytes_total{bound=\"window\",limit=\"rwnd\",direction=\"send\"} 0\n"),
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
        http: Arc::default(),
        pushes: Some([1, 0, 2]),
    };
    let exporter = exporter((*reading.snapshot).clone());
    exporter.note_pushes();
    let page = scraped(&exporter, Format::Classic);
    for family in families() {
        assert!(family.help.len() > 10, "{}", family.name);
        assert!(page.contains(&family.help_text()), "{}", family.name);
        let mut samples = Vec::new();
        (family.read)(&reading, &mut samples);
        assert!(samples.len() <= family.bound.max(1), "{}", family.name);
        assert!(
            samples
                .iter()
                .all(|sample| sample.labels.len() == family.labels.len()),
            "{}",
            family.name
        );
    }
}

#[test]
fn by_default_there_are_few_series() {
    let series = |family: &Family| match family.kind {
        Kind::Histogram(octaves) => (3 + octaves.bounds().count()) * family.bound,
        _ => family.bound,
    };
    let bound: usize = families().map(series).sum();
    assert!(bound <= 500, "{bound} series");
}

/// The page in protobuf, decoded.
fn protobuf(exporter: &Exporter) -> Vec<MetricFamily> {
    let page = exporter.scrape(Format::Protobuf).unwrap();
    let mut rest = page.as_slice();
    let mut families = Vec::new();
    while !rest.is_empty() {
        families.push(MetricFamily::decode_length_delimited(&mut rest).unwrap());
    }
    families
}

#[test]
fn exemplars_name_a_connection_and_no_address() {
    let families = protobuf(&exporter(snapshot()));
    let mut exemplars = Vec::new();
    for family in families {
        let counters = family.metric.into_iter().filter_map(|metric| metric.counter);
        let found = counters.filter_map(|counter| counter.exemplar);
        exemplars.extend(found.map(|exemplar| (family.name.clone(), exemplar)));
    }
    let [(name, exemplar)] = exemplars.as_slice() else {
        panic!("{exemplars:?}");
    };
    assert_eq!(name, "tcpwin_not_moved_bytes_total");
    assert_eq!(exemplar.value, 4_500_000.0);
    let labels: Vec<(&str, &str)> = exemplar
        .label
        .iter()
        .map(|label| (label.name.as_str(), label.value.as_str()))
        .collect();
    assert_eq!(labels, [("connection_id", "1234"), ("netns", "4026531840")]);
}

#[test]
fn protobuf_has_native_buckets() {
    let families = protobuf(&exporter(snapshot()));
    let srtt = families
        .iter()
        .find(|family| family.name == "tcpwin_srtt_seconds")
        .and_then(|family| family.metric[0].histogram.clone())
        .unwrap();
    assert_eq!((srtt.sample_count, srtt.schema, srtt.bucket.len()), (3, 2, 0));
    // 30 and 31 ms are above 2^(-21/4) = 26.3 ms and not above 2^-5 = 31.25 ms, the bucket that ends at 2^(-20/4).
    assert_eq!(srtt.positive_span[0].offset, -20);
    assert_eq!(srtt.positive_delta[0], 2);
    assert_eq!(srtt.positive_delta.iter().sum::<i64>(), 1);
}

#[test]
fn classic_buckets_are_told_on_request() {
    let (_, latest) = watch::channel(Arc::new(snapshot()));
    let page = scraped(&Exporter::new(latest, true), Format::Classic);
    assert!(
        page.contains("tcpwin_srtt_seconds_bucket{le=\"0.0625\"} 2\n"),
        "{page}"
    );
    assert!(
        page.contains("tcpwin_srtt_seconds_bucket{le=\"+Inf\"} 3\n"),
        "{page}"
    );
}

#[test]
fn the_documents_page_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/metrics.md");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == document(),
        "docs/metrics.md is not up to date: run `cargo xtask docs`"
    );
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
    let (_, latest) = watch::channel(Arc::new(snapshot()));
    let page = Exporter::new(latest, true).scrape(Format::Classic).unwrap();
    promtool.stdin.take().unwrap().write_all(&page).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let complaints = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success() && complaints.is_empty(),
        "{}",
        String::from_utf8_lossy(&complaints)
    );
}
