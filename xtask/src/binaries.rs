//! The programs as people get them: release builds.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process::{self, announce};
use crate::{paths, setup};

/// Builds `tcpwin` and returns where it is.
pub fn tcpwin() -> Result<PathBuf> {
    build("tcpwin-agent", "tcpwin")
}

fn build(package: &str, binary: &str) -> Result<PathBuf> {
    setup::build()?;
    announce(format_args!("cargo build --release --package {package}"));
    let mut cargo = Command::new(paths::cargo());
    cargo
        .current_dir(paths::workspace())
        .args(["build", "--release", "--package", package, "--bin", binary]);
    process::run(&mut cargo)?;
    Ok(paths::target().join("release").join(binary))
}
