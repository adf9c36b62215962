//! The programs as people get them: release builds.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process::{self, announce};
use crate::{paths, setup};

/// What the native tests run and what guests are given.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The agent.
    pub tcpwin: PathBuf,
    /// This program, which has the lab and the suites in it.
    pub xtask: PathBuf,
}

/// Builds `tcpwin` and returns where it is.
pub fn tcpwin() -> Result<PathBuf> {
    build(&["tcpwin-agent"])?;
    Ok(release("tcpwin"))
}

/// Builds both programs.
pub fn programs() -> Result<Programs> {
    build(&["tcpwin-agent", "xtask"])?;
    Ok(Programs {
        tcpwin: release("tcpwin"),
        xtask: release("xtask"),
    })
}

fn build(packages: &[&str]) -> Result<()> {
    setup::build()?;
    announce(format_args!("cargo build --release ({})", packages.join(", ")));
    let mut cargo = Command::new(paths::cargo());
    cargo
        .current_dir(paths::workspace())
        .args(["build", "--release", "--bins"]);
    for package in packages {
        cargo.args(["--package", package]);
    }
    process::run(&mut cargo)
}

fn release(binary: &str) -> PathBuf {
    paths::target().join("release").join(binary)
}
