//! The lab's scenarios, each judged against the truth of its construction.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::lab::record::Record;
use crate::lab::report::{Outcome as LabOutcome, Report};
use crate::suites::report::{Outcome, Recorder};
use crate::suites::{Context, Place};

/// One in so many scenarios may have a lab that was off; more of them and nothing has been shown.
const MOST_OFF: usize = 4;

/// The lab measures itself before it judges.
pub fn check_the_lab(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let status = Command::new(&context.programs.xtask)
        .args(["lab", "--check"])
        .status()?;
    ensure!(status.success(), "`xtask lab --check` failed: {status}");
    recorder.pass("path, system calls, many connections", "")
}

/// Runs the core of the scenarios: every limit is in it. All of them are for `lab all --json` and `lab --report`.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let mut lab = Command::new(&context.programs.xtask);
    let jobs = match context.place {
        Place::Native => "3",
        Place::Guest => "1",
    };
    lab.args(["lab", "core", "--jobs", jobs, "--tcpwin"])
        .arg(&context.programs.tcpwin)
        .arg("--json")
        .arg(file.path());
    // It exits with failure when a scenario fails; the report says which.
    let status = lab.status()?;
    let record =
        Record::read(file.path()).with_context(|| format!("`xtask lab core` left no report ({status})"))?;
    for report in &record.scenarios {
        recorder.check(
            &report.name,
            outcome(report, context.place),
            detail(report, context.place),
        )?;
    }
    let off = record
        .scenarios
        .iter()
        .filter(|report| report.outcome == LabOutcome::LabOff)
        .count();
    ensure!(
        off * MOST_OFF <= record.scenarios.len(),
        "{off} of {} scenarios could not be judged: this machine is too busy for the lab",
        record.scenarios.len()
    );
    Ok(())
}

fn outcome(report: &Report, place: Place) -> Outcome {
    match report.outcome {
        LabOutcome::Pass => Outcome::Passed,
        LabOutcome::Measured | LabOutcome::Skipped => Outcome::Skipped,
        // Real time is shared with whoever else uses the machine. Virtual time is not: there it is a defect of the lab.
        LabOutcome::LabOff if place == Place::Native => Outcome::Skipped,
        LabOutcome::Fail | LabOutcome::LabOff | LabOutcome::Broken => Outcome::Failed,
    }
}

fn detail(report: &Report, place: Place) -> String {
    let judged = report.judgements.iter().map(|judgement| {
        let faults = judgement.faults.join("; ");
        format!("{} of {} right {faults}", judgement.right, judgement.samples)
            .trim_end()
            .to_owned()
    });
    let mut parts: Vec<String> = judged.collect();
    parts.extend(report.what_if.iter().flat_map(|applied| applied.faults.clone()));
    if report.outcome == LabOutcome::LabOff {
        parts.push("not judged: the lab's own path was not what the scenario says".to_owned());
    } else if outcome(report, place) != Outcome::Passed {
        parts.push(report.outcome.to_string());
    }
    parts.extend(report.error.clone());
    parts.join(", ")
}
