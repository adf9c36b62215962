//! Scenarios one after another, or several at a time, under one agent.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

use super::agent::Agent;
use super::flow::Connection;
use super::net::{Net, Side};
use super::program::ProgramSpec;
use super::recording::Recording;
use super::report::{Outcome, Report};
use super::run::{Run, Watch, run};
use super::scenario::Scenario;
use super::verdict::{Judgement, Sample, judge};
use super::what_if::{self, WhatIf};

/// What a suite does beside running its scenarios.
#[derive(Debug, Default)]
pub struct Options {
    /// Scenarios at the same time.
    pub jobs: usize,
    /// Keep every sample in this directory, one file a scenario.
    pub keep_samples: Option<PathBuf>,
    /// Keep a recording of each scenario in this directory.
    pub record: Option<PathBuf>,
    /// Show `ss -tinm` of both hosts.
    pub with_ss: bool,
}

/// Runs the scenarios and judges the agent, if there is one; prints each outcome as it comes.
pub fn run_all(
    scenarios: &[(String, Scenario)],
    agent: Option<&Agent>,
    options: &Options,
) -> Result<Vec<Report>> {
    if let Some(dir) = &options.keep_samples {
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    }
    let waiting = Mutex::new(scenarios.iter());
    let reports = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some((name, scenario)) = waiting.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                return;
            };
            let report = run_one(name, scenario, agent, options)
                .unwrap_or_else(|error| Report::broken(name, scenario, &error));
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            // Whole, while the list is held: lines of two scenarios do not mix.
            let _ = write!(std::io::stdout().lock(), "{report}");
            reports.push(report);
        }
    };
    thread::scope(|scope| {
        for _ in 1..options.jobs.clamp(1, scenarios.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_by_key(|report| scenarios.iter().position(|(name, _)| *name == report.name));
    Ok(reports)
}

fn run_one(name: &str, scenario: &Scenario, agent: Option<&Agent>, options: &Options) -> Result<Report> {
    let missing = scenario
        .program
        .as_ref()
        .map(ProgramSpec::missing)
        .unwrap_or_default();
    if !missing.is_empty() {
        let why = format!("not installed here: {}", missing.join(", "));
        return Ok(Report::skipped(name, scenario, why));
    }
    let mut sampler = Sampler::asking(agent);
    if let (Some(agent), Some(folder)) = (agent, &options.record) {
        sampler.recording = Some(Recording::begin(agent, folder, name)?);
    }
    let run = run(scenario, &mut sampler, options.with_ss)?;
    if let Some(recording) = sampler.recording.take() {
        recording.end()?;
    }
    if let Some(dir) = &options.keep_samples {
        sampler.keep(&dir.join(format!("{name}.jsonl")))?;
    }
    let judgements = match agent {
        Some(_) if scenario.expect.is_judged() => judged(scenario, &run, &sampler),
        _ => Vec::new(),
    };
    let outcome = Outcome::of(scenario, &run, &judgements, agent.is_some());
    let report = Report::new(name, scenario, outcome, run, judgements);
    match (&scenario.what_if, outcome) {
        (Some(what_if), Outcome::Pass | Outcome::Fail) => with_advice(report, scenario, what_if),
        _ => Ok(report),
    }
}

/// Runs the scenario again with the advice applied.
fn with_advice(mut report: Report, scenario: &Scenario, what_if: &WhatIf) -> Result<Report> {
    let [judgement] = report.judgements.as_slice() else {
        bail!("a [what_if] is for one connection")
    };
    let (again, mut applied) = what_if::prepare(scenario, what_if, judgement)?;
    let mut outcome = report.outcome;
    if let Some(again) = again {
        let run = run(&again, &mut Sampler::asking(None), false)?;
        if Outcome::of(&again, &run, &[], false) == Outcome::LabOff {
            outcome = Outcome::LabOff;
        }
        let after_bps = run.truths.iter().map(|truth| truth.received_bps).sum();
        applied.measured(after_bps, what_if.tolerance);
    }
    if outcome == Outcome::Pass && !applied.faults.is_empty() {
        outcome = Outcome::Fail;
    }
    report.outcome = outcome;
    report.what_if = Some(applied);
    Ok(report)
}

fn judged(scenario: &Scenario, run: &Run, sampler: &Sampler<'_>) -> Vec<Judgement> {
    run.truths
        .iter()
        .map(|truth| {
            let (local, peer, samples) = match scenario.expect.side {
                Side::Sender => (&truth.local, &truth.peer, &sampler.senders),
                Side::Receiver => (&truth.peer, &truth.local, &sampler.receivers),
            };
            // Both ends' addresses: a server's own is the same for all its clients.
            let of_it = |(ends, sample): &(Ends, Sample)| {
                (ends.local == *local && ends.peer == *peer).then(|| sample.clone())
            };
            let samples: Vec<_> = samples.iter().filter_map(of_it).collect();
            judge(&scenario.expect, &samples, truth)
        })
        .collect()
}

/// A connection as one end sees it.
struct Ends {
    local: String,
    peer: String,
}

/// Asks the agent once a second for every connection of the flow.
struct Sampler<'a> {
    agent: Option<&'a Agent>,
    /// An agent of this scenario's own, younger than its flow.
    late: Option<Agent>,
    recording: Option<Recording>,
    /// At the senders' ends.
    senders: Vec<(Ends, Sample)>,
    /// At the receivers' ends.
    receivers: Vec<(Ends, Sample)>,
    second: u32,
}

impl Watch for Sampler<'_> {
    fn aged(&mut self) -> Result<()> {
        self.late = self.agent.map(Agent::start_another).transpose()?;
        Ok(())
    }

    fn second(&mut self, second: u32, net: &Net, connections: &[Connection]) -> Result<()> {
        let Some(agent) = self.late.as_ref().or(self.agent) else {
            return Ok(());
        };
        self.second = second;
        for side in [Side::Sender, Side::Receiver] {
            let host = net.host(side).inode()?;
            if let Some(recording) = &mut self.recording {
                recording.has_host(host);
            }
            let listed = agent.connections(host)?;
            for connection in connections {
                let (local, peer) = match side {
                    Side::Sender => (connection.local.to_string(), connection.peer.to_string()),
                    Side::Receiver => (connection.peer.to_string(), connection.local.to_string()),
                };
                let found = listed
                    .iter()
                    .find(|listed| listed["local"] == *local && listed["peer"] == *peer);
                let sample = Sample {
                    second,
                    connection: found.cloned(),
                };
                let ends = Ends { local, peer };
                match side {
                    Side::Sender => self.senders.push((ends, sample)),
                    Side::Receiver => self.receivers.push((ends, sample)),
                }
            }
        }
        Ok(())
    }
}

impl<'a> Sampler<'a> {
    /// One that asks this agent, or nobody.
    fn asking(agent: Option<&'a Agent>) -> Self {
        Self {
            agent,
            late: None,
            recording: None,
            senders: Vec::new(),
            receivers: Vec::new(),
            second: 0,
        }
    }

    fn keep(&self, path: &std::path::Path) -> Result<()> {
        let mut lines = String::new();
        for (end, samples) in [("sender", &self.senders), ("receiver", &self.receivers)] {
            for (_, sample) in samples {
                let line = serde_json::json!({
                    "second": sample.second, "end": end, "connection": sample.connection,
                });
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        fs::write(path, lines).with_context(|| format!("cannot write {}", path.display()))
    }
}
