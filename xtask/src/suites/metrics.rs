//! `/metrics` as Prometheus' own linter sees it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::lab::agent::Agent;
use crate::paths;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};

/// Scrapes a running agent and has `promtool check metrics` read the answer.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let Some(promtool) = paths::program("promtool") else {
        return recorder.skip("promtool check metrics", "promtool is not installed");
    };
    let agent = Agent::start(&context.programs.tcpwin, "auto")?;
    let scrape = agent.get("/metrics")?;

    let mut child = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start promtool")?;
    child
        .stdin
        .take()
        .context("no stdin")?
        .write_all(scrape.as_bytes())?;
    let output = child.wait_with_output()?;
    // promtool complains on both streams and exits with 3 for lint alone.
    let complaints = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();

    let series = scrape.lines().filter(|line| !line.starts_with('#')).count();
    let families = scrape
        .lines()
        .filter(|line| line.starts_with("# TYPE tcpwin_"))
        .count();
    let clean = output.status.success() && complaints.trim().is_empty() && families > 0;
    let outcome = if clean { Outcome::Passed } else { Outcome::Failed };
    let detail = format!(
        "{families} families, {series} series {}",
        complaints.trim().replace('\n', "; ")
    );
    recorder.check("promtool check metrics", outcome, detail.trim_end())
}
