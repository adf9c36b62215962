//! The programs as people get them: release builds.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::paths;
use crate::process::{self, announce};
use crate::setup::{self, Download};

/// What the native tests run and what guests are given.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The agent.
    pub tcpwin: PathBuf,
    /// This program, which has the lab and the suites in it.
    pub xtask: PathBuf,
}

impl Programs {
    /// Those that lie in one directory: where cargo, or a guest, puts them.
    pub fn beside_us() -> Result<Self> {
        let xtask = env::current_exe()?;
        let tcpwin = xtask.with_file_name("tcpwin");
        ensure!(tcpwin.is_file(), "{} is not built", tcpwin.display());
        Ok(Self { tcpwin, xtask })
    }
}

/// Whether cargo built us on the way to a command whose work is for the release build: `cargo xtask` itself is an
/// unoptimised build.
pub fn is_stand_in() -> bool {
    env::var_os("CARGO").is_some() && env::current_exe().is_ok_and(|us| us != release("xtask"))
}

/// Builds both programs, prepares the machine and becomes the release build of ourselves, as root, with the same
/// arguments.
pub fn run_again_as_root(prepare: fn() -> Result<()>) -> Result<ExitCode> {
    let programs = programs()?;
    prepare()?;
    let mut again = process::privileged(&programs.xtask)?;
    again.args(env::args_os().skip(1));
    Err(again.exec()).with_context(|| format!("cannot start {}", programs.xtask.display()))
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
    setup::build(Download::Allowed)?;
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
