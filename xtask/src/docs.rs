//! `cargo xtask docs`: files that are made from the code. Tests hold them to it.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process::{self, announce};
use crate::{dashboards, paths};

/// Writes them.
pub fn run() -> Result<()> {
    let mut example = Command::new(paths::cargo());
    example.current_dir(paths::workspace()).args([
        "run",
        "--quiet",
        "--package",
        "tcpwin-agent",
        "--example",
        "metrics_document",
    ]);
    write("docs/metrics.md", &process::output(&mut example)?)?;
    dashboards::write()
}

fn write(path: &str, text: &str) -> Result<()> {
    announce(format_args!("writes {path}"));
    fs::write(paths::workspace().join(path), text).with_context(|| format!("cannot write {path}"))
}
