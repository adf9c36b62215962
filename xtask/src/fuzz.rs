//! Gives a parser arbitrary input until it breaks or the time is up. Needs a nightly compiler and a C++ one, as nothing else
//! does: continuous integration leaves it out.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::paths;
use crate::process::{self, announce};

/// Coverage counters for libFuzzer, as cargo-fuzz asks for them.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Arguments of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct FuzzArgs {
    /// What to break: a file in fuzz/fuzz_targets, without `.rs`
    target: String,
    /// For how long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Builds and runs it. New inputs are kept under fuzz/target; what broke it is told and kept there too.
pub fn run(args: &FuzzArgs) -> Result<()> {
    let FuzzArgs { target, seconds } = args;
    let fuzz = paths::workspace().join("fuzz");
    let source = fuzz.join("fuzz_targets").join(format!("{target}.rs"));
    ensure!(source.is_file(), "there is no {}", source.display());
    let [found, broken] = ["corpus", "artifacts"].map(|name| fuzz.join("target").join(name).join(target));
    for folder in [&found, &broken] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    announce(format!(
        "fuzzing {target} for {seconds} s (rustup's nightly toolchain)"
    ));
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo", "run", "--release", "--bin", target])
        // For a target named by hand the flags do not reach build scripts and macros.
        .args([
            "--target",
            &format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
        ])
        .arg("--")
        .args([&found, &fuzz.join("corpus").join(target)])
        .arg(format!("-artifact_prefix={}/", broken.display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-print_final_stats=1", "-max_len=4200"])
        .current_dir(&fuzz)
        .env_remove("CARGO_TARGET_DIR")
        .env("RUSTFLAGS", INSTRUMENTED)
        .env("TCPWIN_EBPF_SKIP", "1");
    process::run(&mut command)
}
