//! `/metrics` as Prometheus' own tools read it; protobuf is what the suite `prometheus` scrapes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::lab::agent::Agent;
use crate::paths;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};

/// Scrapes running agents: `promtool check metrics` reads the text format without and with classic buckets, its importer
/// OpenMetrics.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let Some(promtool) = paths::program("promtool") else {
        return recorder.skip("promtool check metrics", "promtool is not installed");
    };
    let tcpwin = &context.programs.tcpwin;
    let agent = Agent::start(tcpwin, "auto")?;
    check_text(&promtool, &agent, recorder, "promtool check metrics")?;
    import(&promtool, &agent, recorder)?;
    let classic = Agent::start_with(tcpwin, "auto", &["--metrics.classic-histograms"])?;
    check_text(
        &promtool,
        &classic,
        recorder,
        "promtool check metrics, classic histograms",
    )
}

fn check_text(promtool: &Path, agent: &Agent, recorder: &mut Recorder, name: &str) -> Result<()> {
    let scrape = agent.get("/metrics")?;
    let mut check = Command::new(promtool);
    check.args(["check", "metrics"]);
    let complaints = complaints(&mut check, &scrape)?;
    tell(recorder, name, &scrape, complaints)
}

/// The one of promtool's commands that parses OpenMetrics; it wants a time with each sample.
fn import(promtool: &Path, agent: &Agent, recorder: &mut Recorder) -> Result<()> {
    let scrape = agent.get_as("/metrics", "application/openmetrics-text")?;
    let timed: String = scrape
        .lines()
        .map(|line| match line.starts_with('#') {
            true => format!("{line}\n"),
            false => format!("{line} 1700000000\n"),
        })
        .collect();
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("metrics.txt");
    fs::write(&file, timed)?;
    let mut import = Command::new(promtool);
    import
        .args(["tsdb", "create-blocks-from", "openmetrics", "--quiet"])
        .args([&file, &dir.path().join("blocks")]);
    let faults = match import.output()? {
        output if output.status.success() => String::new(),
        output => text(&[output.stdout, output.stderr].concat()),
    };
    tell(recorder, "promtool imports OpenMetrics", &scrape, faults)
}

/// promtool complains on both streams and exits with 3 for lint alone.
fn complaints(command: &mut Command, input: &str) -> Result<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start promtool")?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let told = text(&[output.stdout, output.stderr].concat());
    Ok(match output.status.success() || !told.trim().is_empty() {
        true => told,
        false => format!("it ended with {}", output.status),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn tell(recorder: &mut Recorder, name: &str, scrape: &str, complaints: String) -> Result<()> {
    let series = scrape.lines().filter(|line| !line.starts_with('#')).count();
    let families = scrape
        .lines()
        .filter(|line| line.starts_with("# TYPE tcpwin_"))
        .count();
    let clean = complaints.trim().is_empty() && families > 0;
    let outcome = if clean { Outcome::Passed } else { Outcome::Failed };
    let detail = format!(
        "{families} families, {series} series {}",
        complaints.trim().replace('\n', "; ")
    );
    recorder.check(name, outcome, detail.trim_end())
}
