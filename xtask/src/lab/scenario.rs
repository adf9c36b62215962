//! Scenarios: data, one TOML file each in `scenarios/`, built into the binary so that a guest needs nothing else.
//!
//! The comment lines that begin a file say why its truth holds by construction; the first one is what a list shows.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::flow::{FlowSpec, Pattern};
use super::net::{HostSpec, PathSpec};

// (name, text) of each file, in alphabetical order.
include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// A scenario file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The path between the hosts.
    pub path: PathSpec,
    /// What the hosts are set to.
    #[serde(default)]
    pub hosts: Hosts,
    /// The programs and their sockets.
    pub flow: FlowSpec,
    /// What is true of it.
    pub expect: Expect,
    /// An interval of a real run, which the pure tests of the classifier read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<toml::Table>,
}

/// `[hosts]` of a scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    /// The host of the sender.
    #[serde(default)]
    pub sender: HostSpec,
    /// The host of the receiver.
    #[serde(default)]
    pub receiver: HostSpec,
}

/// `[expect]` of a scenario: the truth, known before anything runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The class of the verdict on the sender's socket; absent: the scenario only measures the lab.
    pub bound: Option<String>,
    /// The cause within it; absent where the class has none.
    pub limit: Option<String>,
    /// The ceiling by construction.
    pub ceiling_mbit: Option<f64>,
    /// The ceiling is what the receiver measures: only the binding limit holds the rate.
    #[serde(default)]
    pub ceiling_is_achieved: bool,
    /// How far tcpwin's ceiling may be off, as a share.
    #[serde(default = "default_ceiling_tolerance")]
    pub ceiling_tolerance: f64,
    /// How far tcpwin's observed rate may be off the receiver's, as a share.
    #[serde(default = "default_observed_tolerance")]
    pub observed_tolerance: f64,
    /// What the receiver must measure by construction; else the lab itself is off.
    pub rate_mbit: Option<f64>,
    /// How far the receiver's measurement may be off, as a share.
    #[serde(default = "default_rate_tolerance")]
    pub rate_tolerance: f64,
    /// The truth holds from this second of the flow on.
    pub steady_after_s: f64,
    /// Length of the flow.
    pub seconds: f64,
    /// Share of the steady samples that must have the right verdict.
    #[serde(default = "default_min_share")]
    pub min_share: f64,
}

fn default_ceiling_tolerance() -> f64 {
    0.05
}

fn default_observed_tolerance() -> f64 {
    0.03
}

fn default_rate_tolerance() -> f64 {
    0.03
}

fn default_min_share() -> f64 {
    0.95
}

impl Scenario {
    /// Parses and checks a file's text.
    pub fn parse(text: &str) -> Result<Self> {
        let scenario: Self = toml::from_str(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<()> {
        self.path.check()?;
        let expect = &self.expect;
        if !(0.0..=expect.seconds - 2.0).contains(&expect.steady_after_s) || expect.seconds > 120.0 {
            bail!("expect.steady_after_s must leave two seconds of at most 120 expect.seconds");
        }
        if expect.ceiling_is_achieved && expect.ceiling_mbit.is_some() {
            bail!("expect.ceiling_mbit and expect.ceiling_is_achieved exclude each other");
        }
        if expect.limit.is_some() && expect.bound.is_none() {
            bail!("expect.limit needs expect.bound");
        }
        if self.flow.count == 0 || self.flow.count > 1000 {
            bail!("flow.count = {} is not within 1–1,000", self.flow.count);
        }
        if matches!(
            self.flow.pattern,
            Pattern::Short { .. }
                | Pattern::Bulk {
                    total_bytes: Some(_),
                    ..
                }
        ) {
            bail!("a scenario's flow goes on until the lab ends it");
        }
        Ok(())
    }

    /// The scenario of that name, or of that file if it ends in `.toml`.
    pub fn named(name: &str) -> Result<Self> {
        if name.ends_with(".toml") {
            let text = fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
            return Self::parse(&text).with_context(|| name.to_owned());
        }
        let (_, text) = SCENARIOS
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| anyhow!("no scenario is called {name:?}; `cargo xtask lab` lists them"))?;
        Self::parse(text).with_context(|| format!("scenarios/{name}.toml"))
    }
}

/// Every scenario that expects a verdict. The others measure the lab, and leave no core for anybody else.
pub fn judged() -> Result<Vec<&'static str>> {
    let mut names = Vec::new();
    for (name, _) in SCENARIOS {
        if Scenario::named(name)?.expect.bound.is_some() {
            names.push(*name);
        }
    }
    Ok(names)
}

/// What a scenario is called, given by its name or its file.
pub fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name).trim_end_matches(".toml")
}

/// Every scenario's name and the first line of its reason.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCENARIOS.iter().map(|(name, text)| {
        (
            *name,
            text.lines().next().unwrap_or_default().trim_start_matches("# "),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{SCENARIOS, Scenario};

    #[test]
    fn every_scenario_is_valid_and_says_why() {
        assert!(!SCENARIOS.is_empty());
        for (name, text) in SCENARIOS {
            Scenario::parse(text).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            assert!(text.starts_with("# "), "{name} does not begin with its reason");
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = SCENARIOS[0].1.replace("[path]", "[path]\nrtt = 3");
        assert!(format!("{:#}", Scenario::parse(&text).unwrap_err()).contains("unknown field `rtt`"));
    }
}
