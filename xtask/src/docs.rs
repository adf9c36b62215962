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
    // The test that holds the document to the code writes it.
    announce("writes docs/openapi.json");
    let mut test = Command::new(paths::cargo());
    test.current_dir(paths::workspace())
        .env("TCPWIN_WRITE_DOCS", "1")
        .args([
            "test",
            "--quiet",
            "--package",
            "tcpwin-agent",
            "--lib",
            "the_document_is_that_of_the_types",
        ]);
    process::output(&mut test)?;
    dashboards::write()
}

fn write(path: &str, text: &str) -> Result<()> {
    announce(format_args!("writes {path}"));
    fs::write(paths::workspace().join(path), text).with_context(|| format!("cannot write {path}"))
}
