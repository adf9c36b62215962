//! What a scenario came to: a line for people, JSON for programs.

use std::fmt;

use serde::Serialize;

use super::net::Side;
use super::relay::LinkStats;
use super::run::Run;
use super::scenario::{Expect, Scenario};
use super::truth::Truth;
use super::verdict::{Judgement, error};

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// It could not be run.
    Broken,
}

impl Outcome {
    /// What the run and its judgements come to.
    pub fn of(scenario: &Scenario, run: &Run, judgements: &[Judgement], with_agent: bool) -> Self {
        if run.truths.len() != scenario.flow.count
            || run.truths.iter().any(|truth| off(&scenario.expect, truth))
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

    fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::LabOff => "LAB OFF",
            Self::Measured => "MEASURED",
            Self::Broken => "BROKEN",
        }
    }
}

/// The receiver measured something else than the scenario's construction makes.
fn off(expect: &Expect, truth: &Truth) -> bool {
    let by_construction = |mbit: f64| error(truth.received_bps, mbit * 1e6).abs() > expect.rate_tolerance;
    expect.rate_mbit.is_some_and(by_construction)
}

/// A scenario's report.
#[derive(Debug, Serialize)]
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
            path: Some(run.path),
            error: None,
            ss: run.ss,
        }
    }

    /// Of one that did not.
    pub fn broken(name: &str, scenario: &Scenario, error: &anyhow::Error) -> Self {
        Self {
            name: name.to_owned(),
            outcome: Outcome::Broken,
            expect: scenario.expect.clone(),
            truths: Vec::new(),
            judgements: Vec::new(),
            path: None,
            error: Some(format!("{error:#}")),
            ss: None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} {:<26}", self.outcome.word(), self.name)?;
        for (number, cause) in self.expect.causes().enumerate() {
            let word = if number == 0 { "expects" } else { "then" };
            write!(f, " {word} {cause}")?;
        }
        if self.expect.side == Side::Receiver {
            write!(f, " of the receiver")?;
        }
        writeln!(f)?;
        if let Some(error) = &self.error {
            writeln!(f, "         {error}")?;
        }
        for (number, truth) in self.truths.iter().enumerate() {
            self.show_truth(f, truth)?;
            if let Some(judgement) = self.judgements.get(number) {
                show_judgement(f, judgement)?;
            }
        }
        if let Some(path) = self.path {
            show_path(f, path)?;
        }
        if let Some([sender, receiver]) = &self.ss {
            write!(
                f,
                "         ss -tinm, sender's host:\n{sender}         ss -tinm, receiver's host:\n{receiver}"
            )?;
        }
        Ok(())
    }
}

impl Report {
    fn show_truth(&self, f: &mut fmt::Formatter<'_>, truth: &Truth) -> fmt::Result {
        write!(
            f,
            "         truth    received {:.3} Mbit/s",
            truth.received_bps / 1e6
        )?;
        if let Some(mbit) = self.expect.rate_mbit {
            let percent = error(truth.received_bps, mbit * 1e6) * 100.0;
            write!(f, " ({percent:+.1} % of {mbit} by construction)")?;
        }
        writeln!(
            f,
            ", min_rtt {:.2} ms, srtt {:.2} ms, cwnd {}, snd_wnd {} B, {} retransmits",
            f64::from(truth.min_rtt_us) / 1e3,
            truth.srtt_us / 1e3,
            truth.cwnd,
            truth.snd_wnd_bytes,
            truth.retransmits,
        )?;
        writeln!(
            f,
            "         kernel   busy {:.0} % of the time; of that rwnd_limited {:.0} %, sndbuf_limited {:.0} %",
            truth.busy * 100.0,
            truth.rwnd_limited * 100.0,
            truth.sndbuf_limited * 100.0,
        )
    }
}

fn show_judgement(f: &mut fmt::Formatter<'_>, judgement: &Judgement) -> fmt::Result {
    let verdicts: Vec<_> = judgement
        .verdicts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    write!(
        f,
        "         tcpwin   {} of {} right ({})",
        judgement.right,
        judgement.samples,
        verdicts.join(", ")
    )?;
    if let (Some(said), Some(truth)) = (judgement.ceiling_bps, judgement.true_ceiling_bps) {
        let percent = error(said, truth) * 100.0;
        write!(
            f,
            "; ceiling {:.3} Mbit/s ({percent:+.1} % of {:.3})",
            said / 1e6,
            truth / 1e6
        )?;
    }
    if let Some(said) = judgement.observed_bps {
        write!(f, "; observed {:.3} Mbit/s", said / 1e6)?;
        if judgement.received_bps > 0.0 {
            write!(f, " ({:+.1} %)", error(said, judgement.received_bps) * 100.0)?;
        }
    }
    writeln!(f)?;
    if let Some(proof) = &judgement.proof {
        writeln!(f, "         proof    {proof}")?;
    }
    if !judgement.faults.is_empty() {
        writeln!(f, "         faults   {}", judgement.faults.join("; "))?;
    }
    Ok(())
}

fn show_path(f: &mut fmt::Formatter<'_>, [forward, reverse]: [LinkStats; 2]) -> fmt::Result {
    write!(
        f,
        "         path     {} packets forward, {} back",
        forward.packets, reverse.packets
    )?;
    let causes = [
        ("tail", forward.dropped_tail + reverse.dropped_tail),
        ("loss", forward.dropped_loss + reverse.dropped_loss),
        ("policer", forward.dropped_policer + reverse.dropped_policer),
        ("too large", forward.dropped_too_large + reverse.dropped_too_large),
        ("cut", forward.dropped_blackhole + reverse.dropped_blackhole),
        ("refused", forward.write_errors + reverse.write_errors),
    ];
    for (cause, count) in causes {
        if count > 0 {
            write!(f, ", {count} dropped ({cause})")?;
        }
    }
    writeln!(f)
}
