//! What needs no kernel: formatting, lints, cargo's own tests, licences.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::paths;
use crate::process::{self, announce, shown};
use crate::suites::report::{Outcome, Recorder};

/// Runs each of them.
pub fn run(recorder: &mut Recorder) -> Result<()> {
    recorder.begin("pure");
    step(recorder, "format", &["fmt", "--all", "--check"])?;
    step(
        recorder,
        "lints",
        &["clippy", "--all-targets", "--quiet", "--", "--deny=warnings"],
    )?;
    tests(recorder)?;
    licences(recorder)
}

fn step(recorder: &mut Recorder, name: &str, args: &[&str]) -> Result<()> {
    let mut command = cargo(args);
    announce(shown(&command));
    let status = command.status().context("cannot start cargo")?;
    let outcome = if status.success() {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    recorder.check(name, outcome, format!("cargo {}", args.join(" ")))
}

/// Cargo's own tests, counted.
fn tests(recorder: &mut Recorder) -> Result<()> {
    let mut command = cargo(&["test", "--quiet", "--no-fail-fast"]);
    announce(shown(&command));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let (mut passed, mut failed) = (0, 0);
    for line in BufReader::new(child.stdout.take().context("no stdout")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some((good, bad)) = counts(&line) {
            passed += good;
            failed += bad;
        }
    }
    let ok = child.wait()?.success() && failed == 0 && passed > 0;
    let outcome = if ok { Outcome::Passed } else { Outcome::Failed };
    recorder.check(
        "tests",
        outcome,
        format!("{passed} tests passed, {failed} did not"),
    )
}

fn licences(recorder: &mut Recorder) -> Result<()> {
    let installed = Command::new("cargo-deny")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        return recorder.skip(
            "licences",
            "cargo-deny is not installed (`cargo install cargo-deny`)",
        );
    }
    // Of every platform: the list is checked as a whole.
    process::run(&mut cargo(&["fetch", "--locked", "--quiet"]))?;
    step(
        recorder,
        "licences",
        &["deny", "--offline", "check", "bans", "licenses", "sources"],
    )
}

fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(paths::cargo());
    command.current_dir(paths::workspace()).args(args);
    command
}

/// Of `test result: ok. 12 passed; 1 failed; …`.
fn counts(line: &str) -> Option<(u32, u32)> {
    let rest = line.strip_prefix("test result: ")?;
    let before = |word: &str| rest.split(word).next()?.split_whitespace().last()?.parse().ok();
    Some((before(" passed")?, before(" failed")?))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn results_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(counts(line), Some((12, 3)));
        assert_eq!(counts("running 12 tests"), None);
    }
}
