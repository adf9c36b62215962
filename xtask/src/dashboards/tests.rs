use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{all, file, json};
use crate::paths;

/// Grafana's names of units that panels may have.
const UNITS: [&str; 8] = [
    "short",
    "percentunit",
    "bps",
    "pps",
    "cps",
    "s",
    "bytes",
    "decbytes",
];

#[test]
fn the_files_are_those_of_the_source() {
    for dashboard in all() {
        let written = fs::read_to_string(file(&dashboard)).unwrap_or_default();
        assert!(
            written == json::text(&dashboard),
            "dashboards/{}.json is not up to date: run `cargo xtask docs`",
            dashboard.uid
        );
    }
}

/// The rules of Grafana's dashboard-linter that concern plain panels.
#[test]
fn the_linters_rules_hold() {
    for dashboard in all() {
        let value = json::value(&dashboard);
        let variables: Vec<&str> = list(&value["templating"]["list"], "name");
        assert_eq!(variables, ["datasource", "job", "instance"]);
        assert_eq!(value["editable"], false);
        let mut titles = BTreeSet::new();
        let panels = value["panels"].as_array().unwrap();
        let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
        assert_eq!(ids.len(), panels.len());
        for panel in panels.iter().filter(|panel| panel["type"] != "row") {
            let title = panel["title"].as_str().unwrap();
            assert!(titles.insert(title), "{}: {title} twice", dashboard.uid);
            assert!(panel["description"].as_str().unwrap().len() > 15, "{title}");
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
            let unit = panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap();
            assert!(UNITS.contains(&unit), "{title}: {unit}");
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{title}");
            for target in targets {
                assert!(!target["legendFormat"].as_str().unwrap().is_empty(), "{title}");
                assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
                is_by_the_rules(target["expr"].as_str().unwrap());
            }
        }
    }
}

/// Every selector takes job and instance; counters are asked for their rate, over the interval that fits the scrapes.
fn is_by_the_rules(expr: &str) {
    let selectors = expr.matches("tcpwin_").count();
    assert_eq!(
        expr.matches(r#"job=~"$job", instance=~"$instance""#).count(),
        selectors,
        "{expr}"
    );
    let ranges = expr.matches('[').count();
    assert_eq!(expr.matches("[$__rate_interval]").count(), ranges, "{expr}");
    let rates = expr.matches("rate(tcpwin_").count() + expr.matches("increase(tcpwin_").count();
    assert_eq!(rates, ranges, "{expr}");
    assert!(expr.matches("_total{").count() <= rates, "{expr}");
}

#[test]
fn every_metric_that_is_asked_for_is_documented() {
    let documented = fs::read_to_string(paths::workspace().join("docs/metrics.md")).unwrap();
    let asked = all()
        .into_iter()
        .flat_map(|dashboard| dashboard.rows)
        .flat_map(|row| row.panels)
        .flat_map(|panel| panel.queries)
        .map(|query| query.expr());
    let rules = ["recording", "alerts"].map(rules_file);
    for text in asked.chain(rules) {
        for name in metrics_in(&text) {
            assert!(documented.contains(&format!("### `{name}`\n")), "{name}: {text}");
        }
    }
}

/// Names that begin with `tcpwin_`, but those of recorded rules, which have a level before them.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let of_name = |at: char| at.is_ascii_alphanumeric() || at == '_' || at == ':';
    text.split(|at| !of_name(at))
        .filter(|word| word.starts_with("tcpwin_") && !word.contains(':'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_alert_has_its_runbook_and_every_runbook_its_alert() {
    let text = rules_file("alerts");
    let after = |mark: &'static str| {
        text.lines()
            .filter_map(move |line| line.trim().strip_prefix(mark))
            .collect::<Vec<_>>()
    };
    let alerts = after("- alert: ");
    let pages: Vec<String> = alerts
        .iter()
        .map(|alert| format!("docs/runbooks/{alert}.md"))
        .collect();
    assert_eq!(after("runbook_url: "), pages);
    for (alert, page) in alerts.iter().zip(&pages) {
        let text = fs::read_to_string(paths::workspace().join(page)).unwrap();
        assert!(text.starts_with(&format!("# {alert}\n")), "{page}");
    }
    let runbooks = fs::read_dir(paths::workspace().join("docs/runbooks"))
        .unwrap()
        .count();
    assert_eq!(runbooks, alerts.len());
}

/// Where promtool is installed (the test command installs it), the rules are sound and do what their tests say.
#[test]
fn promtool_has_no_complaint() {
    let Some(promtool) = paths::program("promtool") else {
        eprintln!("skipped: promtool is not installed");
        return;
    };
    let rules = paths::workspace().join("dashboards/rules");
    for arguments in [
        ["check", "rules", "recording.yaml", "alerts.yaml"].as_slice(),
        ["test", "rules", "tests.yaml"].as_slice(),
    ] {
        let output = Command::new(&promtool)
            .args(arguments)
            .current_dir(&rules)
            .output()
            .unwrap();
        let told = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
    }
}

/// Fields of a mixin are hidden until they are asked for.
const MIXIN: &str = "local mixin = import 'mixin.libsonnet';
{ [name]: mixin[name] for name in ['grafanaDashboards', 'prometheusRules', 'prometheusAlerts'] }";

/// Where jsonnet is installed, the mixin has every dashboard and rule.
#[test]
fn the_mixin_has_everything() {
    let Some(jsonnet) = paths::program("jsonnet") else {
        eprintln!("skipped: jsonnet is not installed");
        return;
    };
    let output = Command::new(jsonnet)
        .args(["--exec", MIXIN])
        .current_dir(paths::workspace().join("dashboards"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let mixin: Value = serde_json::from_slice(&output.stdout).unwrap();
    for dashboard in all() {
        let name = format!("{}.json", dashboard.uid);
        assert_eq!(
            mixin["grafanaDashboards"][&name],
            json::value(&dashboard),
            "{name}"
        );
    }
    let count = mixin["grafanaDashboards"].as_object().unwrap().len();
    assert_eq!(count, all().len());
    for rules in ["prometheusRules", "prometheusAlerts"] {
        assert!(mixin[rules]["groups"][0]["rules"][0].is_object(), "{rules}");
    }
}

fn rules_file(name: &str) -> String {
    fs::read_to_string(paths::workspace().join(format!("dashboards/rules/{name}.yaml"))).unwrap()
}

fn list<'a>(values: &'a Value, key: &str) -> Vec<&'a str> {
    let names = values.as_array().unwrap().iter();
    names.filter_map(|value| value[key].as_str()).collect()
}
