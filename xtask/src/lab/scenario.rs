//! Scenarios: data, one TOML file each in `scenarios/`, built into the binary so that a guest needs nothing else.
//!
//! The comment lines that begin a file say why its truth holds by construction; the first one is what a list shows.

pub mod expect;

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::flow::FlowSpec;
use super::net::{HostSpec, PathSpec};
use super::program::ProgramSpec;
use super::what_if::WhatIf;

pub use expect::{Cause, Expect, SAMPLE_SPAN_S};

// (name, text) of each file, in alphabetical order.
include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// A scenario file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One of the few that every kernel is judged by where time is short.
    #[serde(default)]
    pub core: bool,
    /// The path between the hosts.
    pub path: PathSpec,
    /// What the hosts are set to.
    #[serde(default)]
    pub hosts: Hosts,
    /// The lab's own programs and their sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSpec>,
    /// Real programs instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// Flows that begin before and share the path; nothing is said of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<FlowSpec>,
    /// What is true of it.
    pub expect: Expect,
    /// How tcpwin's advice is applied, to see whether its promise holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
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

impl Scenario {
    /// Parses and checks a file's text.
    pub fn parse(text: &str) -> Result<Self> {
        let scenario: Self = toml::from_str(text)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Refuses what has no meaning.
    pub fn check(&self) -> Result<()> {
        self.path.check()?;
        self.expect.check()?;
        if let Some(what_if) = &self.what_if {
            what_if.check(self)?;
        }
        match (&self.flow, &self.program) {
            (Some(flow), None) => flow.check()?,
            (None, Some(program)) => program.check()?,
            _ => bail!("a scenario has either [flow] or [program]"),
        }
        for flow in &self.beside {
            flow.check()?;
        }
        Ok(())
    }

    /// Connections at the same time.
    pub fn count(&self) -> usize {
        match (&self.flow, &self.program) {
            (Some(flow), _) => flow.count,
            (None, Some(program)) => program.count,
            (None, None) => 0,
        }
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
    names_of(|scenario| scenario.expect.is_judged())
}

/// The few of them that are marked `core = true`.
pub fn core() -> Result<Vec<&'static str>> {
    names_of(|scenario| scenario.core && scenario.expect.is_judged())
}

fn names_of(wanted: impl Fn(&Scenario) -> bool) -> Result<Vec<&'static str>> {
    let mut names = Vec::new();
    for (name, _) in SCENARIOS {
        if wanted(&Scenario::named(name)?) {
            names.push(*name);
        }
    }
    Ok(names)
}

/// What a scenario is called, given by its name or its file.
pub fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name).trim_end_matches(".toml")
}

/// Every scenario as a list shows it: its name, whether it is one of the core, and the first line of its reason.
pub fn list() -> Result<Vec<(&'static str, bool, &'static str)>> {
    let of = |(name, text): &(&'static str, &'static str)| {
        let why = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        Ok((*name, Scenario::named(name)?.core, why))
    };
    SCENARIOS.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    fn the_core_has_every_limit() {
        let causes_of = |names: Vec<&str>| -> BTreeSet<String> {
            let expects = names
                .into_iter()
                .map(|name| Scenario::named(name).expect("valid").expect);
            expects
                .flat_map(|expect| expect.causes().map(|cause| cause.to_string()).collect::<Vec<_>>())
                .collect()
        };
        let all = causes_of(super::judged().expect("valid"));
        assert_eq!(causes_of(super::core().expect("valid")), all);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = SCENARIOS[0].1.replace("[path]", "[path]\nrtt = 3");
        assert!(format!("{:#}", Scenario::parse(&text).unwrap_err()).contains("unknown field `rtt`"));
    }
}
