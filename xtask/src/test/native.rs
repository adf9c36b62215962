//! The suites on this machine's kernel, as root.

use anyhow::Result;

use crate::binaries::Programs;
use crate::process::{self, announce, shown};
use crate::setup;
use crate::suites::report::Recorder;

/// Starts the suites in a process of their own, through sudo unless we are root.
pub fn run(programs: &Programs, suites: &[String], recorder: &mut Recorder) -> Result<()> {
    setup::native()?;
    let dir = tempfile::tempdir()?;
    let report = dir.path().join("report.jsonl");
    let mut command = process::privileged(&programs.xtask)?;
    command
        .args(["suites", "--place", "native", "--report"])
        .arg(&report)
        .args(suites);
    announce(shown(&command));
    let status = command.status()?;
    let before = recorder.failures();
    recorder.begin("native");
    if let Err(error) = recorder.absorb(&report, "native") {
        recorder.fail("suites ran", format!("{status}: {error:#}"))?;
    } else if !status.success() && recorder.failures() == before {
        recorder.fail("suites ended well", status.to_string())?;
    }
    Ok(())
}
