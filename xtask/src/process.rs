//! Running other programs: every failure names the program, what it was for and how it ended.

use std::ffi::OsStr;
use std::fmt::Display;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::paths;

/// Says what is about to happen; long steps follow with their own output.
pub fn announce(step: impl Display) {
    eprintln!("==> {step}");
}

/// Runs to the end with our standard streams; anything but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| could_not_start(command))?;
    ensure!(status.success(), "`{}` failed: {status}", shown(command));
    Ok(())
}

/// Runs to the end and returns standard output; standard error goes into the error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| could_not_start(command))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}: {}", shown(command), output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` answered no text", shown(command)))
}

/// A command that runs as root: through sudo unless we are.
pub fn privileged(program: impl AsRef<OsStr>) -> Result<Command> {
    if is_root() {
        return Ok(Command::new(program));
    }
    let program = program.as_ref();
    let Some(sudo) = paths::program("sudo") else {
        bail!(
            "`{}` needs root, and sudo is not installed: run this as root",
            program.display()
        );
    };
    let mut command = Command::new(sudo);
    command.arg(program);
    Ok(command)
}

/// Whether no sudo is needed.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The command line as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

fn could_not_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().display())
}
