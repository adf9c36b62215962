//! docs/metrics.md, written from the table of metrics.

use std::fmt::Write as _;

use super::family::{Family, Kind, Octaves, families};

const HEAD: &str = "\
<!-- Written by `cargo xtask docs` from tcpwin-agent/src/exporter/family; a test holds it to that. -->
# Metrics

`tcpwin agent` answers them at `/metrics` (`--web.telemetry-path`) of 127.0.0.1:10430 (`--web.listen-address`): in
Prometheus' text format, in OpenMetrics, or in Prometheus' protobuf, as the reader's `Accept` header asks. Names, units
and labels are those below; a renamed metric is a breaking change and stands in CHANGELOG.md.

**Labels are bounded.** Nothing here tells of a single connection or an address, and of a port only where groups by listener
are asked for: that is what the API and `tcpwin top` are for. *Series* is the most that one agent can have of a metric,
whatever happens on its host.

**Limits.** `bound` is the class (`window`, `bandwidth`, `loss`, `app`, `host`, `none`, `unknown`), `limit` the cause
within it, as in [verdicts.md](verdicts.md). `direction` says which way the bytes go that it holds: `send`, `receive`,
or `none` where nothing holds them or nobody knows what.

**Histograms** are native ones with four buckets to a factor of two: a quantile is off by 9 % at most. Prometheus takes
them in protobuf, once `--enable-feature=native-histograms`, or a newer one's `scrape_native_histograms`, tells it to. In text a
histogram says count and sum alone, which gives the mean; with `--metrics.classic-histograms` it has a few classic
buckets in every format. Samples are taken at the end of an interval, of each connection that moved data in it, or
when a connection closes: the help text says which.

**Groups.** `--metrics.group-by process`, `cgroup` or `listener` (the port that connections came to; `none` where this host
opened them) and `--metrics.peer-prefix 203.0.113.0/24` add the `tcpwin_group_` metrics, which tell time and bytes apart by
these; `--metrics.max-groups` (50) is how many at most. Who comes later is in one group more, `other`. The file of
`--config.file` has the same under `[metrics]`.

**Exemplars.** In OpenMetrics and protobuf `tcpwin_not_moved_bytes_total` names the connection that a limit cost most in the
last interval in which it cost anything: its `connection_id` (the `id` of the API) and `netns`, never an address.

**OTLP.** `--otlp.endpoint URL` sends the same to an OpenTelemetry receiver, as protobuf over HTTP, each minute
(`--otlp.interval`): counters as cumulative sums, histograms as exponential ones, units by UCUM, and `service.name`,
`service.version`, `service.instance.id`, `host.name` of the resource. Names have no `_total`, which a Prometheus that takes OTLP
adds. Headers, such as a key, come from the lines of `--otlp.headers-file`; an `https` receiver is known by the certificates of
`--otlp.ca-file`, else by those that the system trusts. A receiver that refuses or is gone is tried again after twice as long each
time, five minutes at most; nothing waits for it, and sums lose nothing by it. The file has the same under `[otlp]`.
";

const SECTIONS: [(&str, &str); 6] = [
    ("tcpwin_connections", "What limits connections"),
    ("tcpwin_group", "By process, cgroup and peer"),
    ("tcpwin_connections_opened", "What happens on connections"),
    ("tcpwin_srtt", "How figures are distributed"),
    ("tcpwin_listeners", "The host"),
    ("tcpwin_build", "The agent itself"),
];

/// The page.
#[must_use]
pub fn document() -> String {
    let mut page = HEAD.to_owned();
    for family in families() {
        let begins = SECTIONS.iter().find(|(first, _)| *first == family.name);
        // Two families share the first name of the groups: the section begins with the first of them.
        if let Some((_, title)) = begins
            && !page.contains(&format!("\n## {title}\n"))
        {
            let _ = write!(page, "\n## {title}\n");
        }
        entry(&mut page, family);
    }
    page
}

fn entry(page: &mut String, family: &Family) {
    let _ = write!(
        page,
        "\n### `{name}`\n\n{help}.\n\n| type | unit | labels | series |\n|---|---|---|---|\n| {kind} | {unit} | {labels} | {series} |\n\n",
        name = family.full_name(),
        help = family.help,
        kind = kind(family.kind),
        unit = family.unit.text(),
        labels = labels(family),
        series = series(family),
    );
    let _ = write!(page, "```promql\n{}\n```\n", family.example);
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Info => "info",
        Kind::Histogram(_) => "histogram",
    }
}

fn labels(family: &Family) -> String {
    if family.labels.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
    quoted.join(", ")
}

fn series(family: &Family) -> String {
    match family.kind {
        Kind::Histogram(octaves) => format!(
            "{} native; {} in text; {} with classic buckets",
            family.bound,
            3 * family.bound,
            (3 + bounds(octaves)) * family.bound
        ),
        _ if family.bound == 0 => "none by default; 21 a group".to_owned(),
        _ => family.bound.to_string(),
    }
}

fn bounds(octaves: Octaves) -> usize {
    octaves.bounds().count()
}
