//! The lab's scenarios, each judged against the truth of its construction.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::suites::report::{Outcome, Recorder};
use crate::suites::{Context, Place};

/// Outcome of a scenario whose own truth was not met.
const LAB_OFF: &str = "lab_off";
/// One in so many scenarios may end so; more of them and nothing has been shown.
const MOST_OFF: usize = 4;

/// What `xtask lab --json` writes, as far as it is needed here.
#[derive(Deserialize)]
struct LabReport {
    scenarios: Vec<ScenarioReport>,
}

#[derive(Deserialize)]
struct ScenarioReport {
    name: String,
    outcome: String,
    #[serde(default)]
    judgements: Vec<Judgement>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Judgement {
    right: usize,
    samples: usize,
    #[serde(default)]
    faults: Vec<String>,
}

/// The lab measures itself before it judges.
pub fn check_the_lab(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let status = Command::new(&context.programs.xtask)
        .args(["lab", "--check"])
        .status()?;
    ensure!(status.success(), "`xtask lab --check` failed: {status}");
    recorder.pass("path, system calls, many connections", "")
}

/// Runs every scenario.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let mut lab = Command::new(&context.programs.xtask);
    lab.args(["lab", "all", "--tcpwin"])
        .arg(&context.programs.tcpwin)
        .arg("--json")
        .arg(file.path());
    // It exits with failure when a scenario fails; the report says which.
    let status = lab.status()?;
    let text = std::fs::read_to_string(file.path())?;
    let report: LabReport =
        serde_json::from_str(&text).with_context(|| format!("`xtask lab all` left no report ({status})"))?;
    for scenario in &report.scenarios {
        recorder.check(
            &scenario.name,
            scenario.outcome(context.place),
            scenario.detail(context.place),
        )?;
    }
    let off = report
        .scenarios
        .iter()
        .filter(|scenario| scenario.outcome == LAB_OFF)
        .count();
    ensure!(
        off * MOST_OFF <= report.scenarios.len(),
        "{off} of {} scenarios could not be judged: this machine is too busy for the lab",
        report.scenarios.len()
    );
    Ok(())
}

impl ScenarioReport {
    fn outcome(&self, place: Place) -> Outcome {
        match self.outcome.as_str() {
            "pass" => Outcome::Passed,
            "measured" => Outcome::Skipped,
            // Real time is shared with whoever else uses the machine. Virtual time is not: there it is a defect of the lab.
            LAB_OFF if place == Place::Native => Outcome::Skipped,
            _ => Outcome::Failed,
        }
    }

    fn detail(&self, place: Place) -> String {
        let judged = self.judgements.iter().map(|judgement| {
            let faults = judgement.faults.join("; ");
            format!("{} of {} right {faults}", judgement.right, judgement.samples)
                .trim_end()
                .to_owned()
        });
        let mut parts: Vec<String> = judged.collect();
        if self.outcome == LAB_OFF {
            parts.push("not judged: the lab's own path was not what the scenario says".to_owned());
        } else if self.outcome(place) != Outcome::Passed {
            parts.push(self.outcome.clone());
        }
        parts.extend(self.error.clone());
        parts.join(", ")
    }
}
