//! However many connections, peers, listeners and programs there are, the series are few.

use std::collections::BTreeSet;
use std::sync::Arc;

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model::MetricFamily;
use prost::Message as _;
use tcpwin_agent::classify::Limit;
use tcpwin_agent::connection::Grouping;
use tcpwin_agent::exporter::{Exporter, Format};
use tcpwin_agent::snapshot::Snapshot;
use tokio::sync::watch;

#[path = "support/crowd.rs"]
mod crowd;

/// Series that an agent has by default at most.
const MOST: usize = 2_000;

fn exporter(snapshot: Snapshot, classic_histograms: bool) -> Exporter {
    let (_, latest) = watch::channel(Arc::new(snapshot));
    Exporter::new(latest, classic_histograms)
}

fn text(exporter: &Exporter, format: Format) -> String {
    String::from_utf8(exporter.scrape(format).expect("it can be written")).expect("it is text")
}

/// Lines that are no comments.
fn series(page: &str) -> usize {
    page.lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn a_hundred_thousand_connections_are_few_series_by_default() {
    let snapshot = crowd::snapshot(Grouping::default());
    // The host's whole life is in it, whatever the interval before was.
    let counted: u64 = snapshot.tally.connections.values().sum();
    assert_eq!(counted, u64::from(crowd::CONNECTIONS));
    let plain = exporter(snapshot.clone(), false);
    let classic = exporter(snapshot, true);
    for format in [Format::Classic, Format::OpenMetrics] {
        for exporter in [&plain, &classic] {
            let page = text(exporter, format);
            let count = series(&page);
            println!("{count} series, {} bytes", page.len());
            assert!(count <= MOST, "{count} series");
            assert!(page.contains("tcpwin_listeners 500"), "{page}");
            assert!(!page.contains("10.0."), "a peer's address: {page}");
        }
    }
    let page = plain.scrape(Format::Protobuf).expect("it can be written");
    let (mut rest, mut count) = (page.as_slice(), 0);
    while !rest.is_empty() {
        let family = MetricFamily::decode_length_delimited(&mut rest).expect("it is protobuf");
        count += family.metric.len();
    }
    println!("{count} series in protobuf, {} bytes", page.len());
    assert!(count <= MOST, "{count} series");
}

#[test]
fn told_apart_by_everything_groups_are_capped_and_the_rest_is_one_more() {
    let grouping = crowd::every_grouping();
    let most = grouping.most + 1;
    let snapshot = crowd::snapshot(grouping);
    let whole: u64 = snapshot.tally.spent.values().map(|spent| spent.bytes).sum();
    let by_group = snapshot.tally.groups.values().flat_map(|limits| limits.values());
    assert_eq!(by_group.map(|spent| spent.bytes).sum::<u64>(), whole);
    let page = text(&exporter(snapshot, true), Format::Classic);
    let of_groups: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("tcpwin_group_seconds_total{"))
        .collect();
    let groups: BTreeSet<&str> = of_groups
        .iter()
        .filter_map(|line| Some(line.split_once(",bound=")?.0))
        .collect();
    assert_eq!(groups.len(), most);
    assert!(
        groups.contains("process=\"other\",cgroup=\"other\",listener=\"other\",peer=\"other\""),
        "{groups:?}"
    );
    let count = series(&page);
    println!("{count} series, {} of them of {most} groups", 3 * of_groups.len());
    assert!(count <= MOST + 3 * most * Limit::ALL.len(), "{count} series");
}
