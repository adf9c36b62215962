//! From a clone to the live screen in one command.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::{binaries, process};

/// Arguments of `cargo xtask top`.
#[derive(clap::Args)]
pub struct TopArgs {
    /// Passed on to `tcpwin top`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Builds and becomes `tcpwin top`, as root.
pub fn run(args: &TopArgs) -> Result<ExitCode> {
    let tcpwin = binaries::tcpwin()?;
    let mut top = process::privileged(&tcpwin)?;
    top.arg("top").args(&args.args);
    // The screen's keys and signals belong to it alone: nothing of us stays between.
    Err(top.exec()).with_context(|| format!("cannot start {}", tcpwin.display()))
}
