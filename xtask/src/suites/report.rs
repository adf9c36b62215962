//! What suites found: a line each for people, a JSON line each for whoever started us.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// Not as it should be.
    Failed,
    /// Impossible here; the detail says why.
    Skipped,
}

/// One thing that was checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Check {
    /// Which suite it belongs to.
    pub suite: String,
    /// What was checked.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The numbers, or the reason.
    pub detail: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.outcome {
            Outcome::Passed => "PASS",
            Outcome::Failed => "FAIL",
            Outcome::Skipped => "SKIP",
        };
        write!(f, "{word} {}: {}", self.suite, self.name)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Collects checks and tells them as they come.
#[derive(Debug, Default)]
pub struct Recorder {
    suite: String,
    checks: Vec<Check>,
    file: Option<File>,
}

impl Recorder {
    /// One that also writes JSON lines to a file.
    pub fn new(report: Option<&Path>) -> Result<Self> {
        let create = |path: &Path| File::create(path).with_context(|| path.display().to_string());
        Ok(Self {
            file: report.map(create).transpose()?,
            ..Self::default()
        })
    }

    /// What follows belongs to this suite.
    pub fn begin(&mut self, suite: &str) {
        suite.clone_into(&mut self.suite);
    }

    /// As it should be, with the numbers that show it.
    pub fn pass(&mut self, name: &str, numbers: impl Into<String>) -> Result<()> {
        self.check(name, Outcome::Passed, numbers)
    }

    /// Not as it should be.
    pub fn fail(&mut self, name: &str, numbers: impl Into<String>) -> Result<()> {
        self.check(name, Outcome::Failed, numbers)
    }

    /// Impossible on this machine, and why.
    pub fn skip(&mut self, name: &str, reason: impl Into<String>) -> Result<()> {
        self.check(name, Outcome::Skipped, reason)
    }

    /// Records any outcome.
    pub fn check(&mut self, name: &str, outcome: Outcome, detail: impl Into<String>) -> Result<()> {
        self.add(Check {
            suite: self.suite.clone(),
            name: name.to_owned(),
            outcome,
            detail: detail.into(),
        })
    }

    /// How many checks failed.
    pub fn failures(&self) -> usize {
        self.count(Outcome::Failed)
    }

    /// How many checks ended like this.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.checks
            .iter()
            .filter(|check| check.outcome == outcome)
            .count()
    }

    /// What failed.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(|check| check.outcome == Outcome::Failed)
    }

    /// Takes over what a recorder in another process wrote; it has been shown already.
    pub fn absorb(&mut self, report: &Path, place: &str) -> Result<()> {
        let text = std::fs::read_to_string(report).with_context(|| format!("the report of {place}"))?;
        for line in text.lines() {
            let mut check: Check =
                serde_json::from_str(line).with_context(|| format!("the report of {place}"))?;
            check.suite = format!("{place} {}", check.suite);
            self.checks.push(check);
        }
        Ok(())
    }

    fn add(&mut self, check: Check) -> Result<()> {
        println!("{check}");
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(&check)?)?;
        }
        self.checks.push(check);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Recorder};

    #[test]
    fn a_report_travels_between_processes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut there = Recorder::new(Some(file.path())).unwrap();
        there.begin("lab");
        there.pass("sndbuf", "12 of 12").unwrap();
        there.fail("rwnd", "3 of 12").unwrap();

        let mut here = Recorder::default();
        here.absorb(file.path(), "guest 6.1").unwrap();
        assert_eq!(here.count(Outcome::Passed), 1);
        assert_eq!(
            here.failed().next().unwrap().to_string(),
            "FAIL guest 6.1 lab: rwnd: 3 of 12"
        );
    }
}
