//! `tcpwin doctor`: facts and connections in, findings out; and the experiment that `--apply` makes.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};

use tcpwin_agent::cli::{DoctorArgs, Exit};
use tcpwin_agent::daemon::audit::{Audit, Which};
use tcpwin_agent::daemon::experiment::{self, Experiment, Outcome as Tried};
use tcpwin_agent::doctor::plan::Plan;
use tcpwin_agent::doctor::{self, Report, Severity};
use tcpwin_agent::source::netns::NetnsError;

use super::watched::{Watched, interrupted_within, wait};
use super::{Outcome, WATCHED, failure, log_warnings, tell};

pub(super) fn run(arguments: &DoctorArgs) -> Outcome {
    log_warnings();
    match &arguments.apply {
        Some(plan) => apply(plan, arguments),
        None => examine(arguments),
    }
}

/// The guard's end of an experiment.
pub(super) fn restore() -> Outcome {
    experiment::restore().map_err(|error| failure(Exit::Runtime, error))?;
    Ok(Exit::Done)
}

fn examine(arguments: &DoctorArgs) -> Outcome {
    let door = arguments.door();
    let which = door.as_deref().map_or(Which::All, Which::One);
    let audit = Audit::begin(which).map_err(|error| {
        let denied = error.downcast_ref().is_some_and(NetnsError::is_denied);
        failure(if denied { Exit::Privilege } else { Exit::Runtime }, error)
    })?;
    let mut source = Watched::open(&arguments.connect, &arguments.watch)?;
    let watched = wait(arguments.duration.unwrap_or(WATCHED))?;
    let snapshot = source.feed.latest()?;
    let (machine, namespaces, left_out) = audit.finish(&snapshot.facts, watched.as_secs_f64());
    source.close()?;
    if namespaces.is_empty() {
        return Err(anyhow!("nothing is left to look at: {}", left_out.join("; ")).into());
    }
    let report = doctor::examine(&machine, &namespaces, &snapshot);
    for left_out in &left_out {
        eprintln!("tcpwin: a network namespace is left out: {left_out}");
    }
    if let Some(file) = &arguments.plan {
        plan(&report, file)?;
    }
    tell(&report, arguments.json, doctor::write)?;
    Ok(match report.worst() {
        Some(Severity::Hurts | Severity::Risk) => Exit::Problems,
        _ if left_out.is_empty() => Exit::Done,
        _ => Exit::Partial,
    })
}

fn plan(report: &Report, file: &Path) -> anyhow::Result<()> {
    let plan = Plan::of(report);
    let text = plan.text().context("cannot write the plan")?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("tcpwin: {} changes are in {}", plan.changes.len(), file.display());
    Ok(())
}

fn apply(file: &Path, arguments: &DoctorArgs) -> Outcome {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let plan = Plan::parse(&text)
        .with_context(|| file.display().to_string())
        .map_err(|error| failure(Exit::Usage, error))?;
    let time = arguments.duration.unwrap_or(WATCHED);
    let experiment = Experiment::prepare(&plan)?;
    let mut source = Watched::open(&arguments.connect, &arguments.watch)?;
    let tried = experiment.run(&mut *source.feed, time, &mut interrupted_within, &mut |how_far| {
        // Nowhere is left to say it when standard error is gone.
        let _ = writeln!(std::io::stderr(), "tcpwin: {how_far}");
    })?;
    source.close()?;
    report(&tried, arguments.json)?;
    Ok(if tried.interrupted || !tried.is_taken_back() {
        Exit::Partial
    } else {
        Exit::Done
    })
}

fn report(tried: &Tried, json: bool) -> anyhow::Result<()> {
    let text = if json {
        serde_json::to_string_pretty(tried)? + "\n"
    } else {
        tried.to_string()
    };
    // A reader who has gone has read enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}
