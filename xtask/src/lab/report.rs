//! What a scenario came to: a line for people, JSON for programs.

mod show;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::interval::Interval;
use super::relay::LinkStats;
use super::run::Run;
use super::scenario::{Expect, Scenario};
use super::truth::Truth;
use super::verdict::{Judgement, error};
use super::what_if::Applied;

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// tcpwin was right.
    Pass,
    /// tcpwin was wrong.
    Fail,
    /// The lab's own path or flow was not what the scenario says: nothing can be judged.
    LabOff,
    /// The scenario only measures, or no agent was asked.
    Measured,
    /// Its programs are not installed here.
    Skipped,
    /// It could not be run.
    Broken,
}

impl Outcome {
    /// What the run and its judgements come to.
    pub fn of(scenario: &Scenario, run: &Run, judgements: &[Judgement], with_agent: bool) -> Self {
        let unsteady = |judgement: &Judgement| judgement.unsteady > judgement.samples;
        if run.truths.len() != scenario.count()
            || run.truths.iter().any(|truth| off(&scenario.expect, truth))
            || judgements.iter().any(unsteady)
        {
            Self::LabOff
        } else if !with_agent || !scenario.expect.is_judged() {
            Self::Measured
        } else if judgements.iter().all(|judgement| judgement.faults.is_empty()) {
            Self::Pass
        } else {
            Self::Fail
        }
    }

    /// Whether the run as a whole fails by it.
    pub fn fails(self) -> bool {
        matches!(self, Self::Fail | Self::LabOff | Self::Broken)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::LabOff => "lab off",
            Self::Measured => "measured",
            Self::Skipped => "skipped",
            Self::Broken => "broken",
        })
    }
}

/// The receiver measured something else than the scenario's construction makes.
fn off(expect: &Expect, truth: &Truth) -> bool {
    let by_construction = |mbit: f64| error(truth.received_bps, mbit * 1e6).abs() > expect.rate_tolerance;
    expect.rate_mbit.is_some_and(by_construction)
}

/// A scenario's report.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What was expected.
    pub expect: Expect,
    /// What the flows did.
    pub truths: Vec<Truth>,
    /// What was said of them, in the same order.
    pub judgements: Vec<Judgement>,
    /// What came of tcpwin's advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<Applied>,
    /// The path, forward and in reverse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<[LinkStats; 2]>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip)]
    ss: Option<[String; 2]>,
}

impl Report {
    /// Of a scenario that ran.
    pub fn new(
        name: &str,
        scenario: &Scenario,
        outcome: Outcome,
        run: Run,
        judgements: Vec<Judgement>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            expect: scenario.expect.clone(),
            truths: run.truths,
            judgements,
            what_if: None,
            path: Some(run.path),
            error: None,
            ss: run.ss,
        }
    }

    /// Of one that could not be run.
    pub fn broken(name: &str, scenario: &Scenario, error: &anyhow::Error) -> Self {
        Self::not_run(name, scenario, Outcome::Broken, format!("{error:#}"))
    }

    /// Of one that is not for this machine.
    pub fn skipped(name: &str, scenario: &Scenario, why: String) -> Self {
        Self::not_run(name, scenario, Outcome::Skipped, why)
    }

    fn not_run(name: &str, scenario: &Scenario, outcome: Outcome, why: String) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            expect: scenario.expect.clone(),
            truths: Vec::new(),
            judgements: Vec::new(),
            what_if: None,
            path: None,
            error: Some(why),
            ss: None,
        }
    }
}

impl Report {
    /// Every judged second of its connections.
    pub fn intervals(&self) -> impl Iterator<Item = &Interval> {
        self.judgements.iter().flat_map(|judgement| &judgement.intervals)
    }

    /// Why its intervals do not count, in a few words.
    pub fn why_not_judged(&self) -> String {
        match (&self.error, self.outcome) {
            (Some(error), _) => error.clone(),
            (None, Outcome::LabOff) => {
                let measured = self.truths.iter().map(|truth| truth.received_bps).sum::<f64>();
                format!(
                    "the lab was off: the receivers measured {:.2} Mbit/s",
                    measured / 1e6
                )
            }
            (None, outcome) => outcome.to_string(),
        }
    }
}
