//! A real Prometheus beside the agent while a flow of each class runs: every expression of the dashboards and rules says
//! what these flows are, alerts fire for them and for nothing else, and resolve once they have ended.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::lab::agent::Agent;
use crate::lab::clock::Timer;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};
use crate::{dashboards, paths};

mod expected;
mod flows;
mod rules;
mod server;

use flows::{Flows, Knocks};
use server::{Answer, Server};

const SECOND_NS: u64 = 1_000_000_000;
/// Length of the intervals over which rates are taken, here and in the shortened rules: $__rate_interval in the dashboards.
const RATE: &str = "20s";
/// The flows are steady over the whole of that by now.
const STEADY_S: u32 = 38;
/// Rates have forgotten the flows, and alerts have resolved, so long after their end.
const FORGOTTEN_S: u32 = 26;

/// Why nothing is judged: what is counted is the whole machine's.
const OTHERS: &str = "another lab runs on this machine, and its flows count too";

/// Runs everything; some 80 seconds.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    if paths::program("prometheus").is_none() {
        return recorder.skip("a real Prometheus", "prometheus is not installed");
    }
    let dir = tempfile::tempdir()?;
    let arguments = [
        "--metrics.group-by",
        "process",
        "--metrics.group-by",
        "listener",
        "--metrics.peer-prefix",
        "10.0.0.0/8",
    ];
    let agent = Agent::start_with(&context.programs.tcpwin, "auto", &arguments)?;
    let server = Server::start(dir.path(), agent.address(), &rules::shortened(dir.path(), RATE)?)?;
    let mut flows = Flows::start(&context.programs.xtask, dir.path())?;
    let knocks = Knocks::new()?;
    let seconds = Timer::every(SECOND_NS)?;
    let mut alone = true;
    for _ in 0..STEADY_S {
        seconds.wait();
        knocks.once()?;
        alone &= flows.are_alone()?;
    }
    if !alone {
        return recorder.skip("flows of each class", OTHERS);
    }
    ask_dashboards(&server, recorder)?;
    ask_flows(&server, recorder)?;
    ask_recorded(&server, recorder)?;
    let degraded = is_degraded(&agent)?;
    ask_alerts(&server, recorder, "alerts fire", &expected::firing(degraded), &[])?;
    flows.end()?;
    for _ in 0..FORGOTTEN_S {
        seconds.wait();
        alone &= flows.are_alone()?;
    }
    if !alone {
        return recorder.skip("alerts resolve", OTHERS);
    }
    ask_alerts(
        &server,
        recorder,
        "alerts resolve",
        &expected::resolved(degraded),
        &expected::LINGERING,
    )
}

/// Each expression of each dashboard.
fn ask_dashboards(server: &Server, recorder: &mut Recorder) -> Result<()> {
    for dashboard in dashboards::all() {
        let (mut asked, mut faults) = (0, Vec::new());
        for (title, query) in dashboard.queries() {
            let expr = query
                .expr()
                .replace("$__rate_interval", RATE)
                .replace("$job", ".+")
                .replace("$instance", ".+");
            asked += 1;
            let answer = server.ask(&expr)?;
            if let Some(fault) = query.expect.fault(&answer.values()) {
                faults.push(format!("{title}: {expr}: {fault}"));
            }
        }
        record(recorder, &format!("dashboard {}", dashboard.uid), asked, &faults)?;
    }
    Ok(())
}

/// What the flows are by construction.
fn ask_flows(server: &Server, recorder: &mut Recorder) -> Result<()> {
    let mut faults = Vec::new();
    for (expr, expect) in expected::FLOWS {
        let expr = expr.replace("RATE", RATE);
        let answer = server.ask(&expr)?;
        if let Some(fault) = expect.fault(&answer.values()) {
            faults.push(format!("{expr}: {fault}"));
        }
    }
    record(
        recorder,
        "flows as they were made",
        expected::FLOWS.len(),
        &faults,
    )
}

/// Recording rules; the server says of each whether it could be evaluated.
fn ask_recorded(server: &Server, recorder: &mut Recorder) -> Result<()> {
    let mut faults = server.sick_rules()?;
    for (name, expect) in expected::RECORDED {
        let answer = server.ask(name)?;
        if let Some(fault) = expect.fault(&answer.values()) {
            faults.push(format!("{name}: {fault}"));
        }
    }
    let recorded = server.recorded()?;
    faults.extend(
        recorded
            .iter()
            .filter(|name| !expected::RECORDED.iter().any(|(known, _)| known == name))
            .map(|name| format!("nothing is expected of {name}")),
    );
    record(recorder, "recording rules", recorded.len(), &faults)
}

/// Alerts that are firing, against those that should; `either` may or may not.
fn ask_alerts(
    server: &Server,
    recorder: &mut Recorder,
    what: &str,
    expected: &[&str],
    either: &[&str],
) -> Result<()> {
    let Answer(firing) = server.ask(r#"ALERTS{alertstate="firing"}"#)?;
    let mut firing: Vec<String> = firing
        .iter()
        .filter_map(|(labels, _)| labels["alertname"].as_str())
        .filter(|name| !either.contains(name))
        .map(str::to_owned)
        .collect();
    firing.sort();
    firing.dedup();
    let outcome = if firing == expected {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let detail = format!("firing: {}; expected: {}", firing.join(", "), expected.join(", "));
    recorder.check(what, outcome, detail)
}

fn is_degraded(agent: &Agent) -> Result<bool> {
    let health: Value = serde_json::from_str(&agent.get("/healthz")?)?;
    let status = health["status"].as_str().context("/healthz has no status")?;
    ensure!(status != "starting", "the agent has not begun");
    Ok(status == "degraded")
}

fn record(recorder: &mut Recorder, name: &str, asked: usize, faults: &[String]) -> Result<()> {
    if faults.is_empty() {
        return recorder.pass(name, format!("{asked} expressions"));
    }
    let detail = format!("{} of {asked} expressions: {}", faults.len(), faults.join("; "));
    recorder.fail(name, detail)
}
