//! `cargo xtask test`: everything that says whether tcpwin is right, in three tiers from quick to thorough.

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::binaries;
use crate::process::announce;
use crate::setup::{self, Download};
use crate::suites::report::{Outcome, Recorder};

mod guest;
mod native;
mod pure;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub struct TestArgs {
    /// Only this tier (repeatable)
    #[arg(long = "tier", value_name = "TIER")]
    tiers: Vec<Tier>,
    /// Boot every kernel, not only those that CI does
    #[arg(long)]
    all_kernels: bool,
    /// In the native and guest tiers, only these suites
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
}

/// How near to the kernel a test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tier {
    /// Formatting, lints, unit and golden tests, layers, licences
    Pure,
    /// The real program on this machine's kernel, in namespaces of its own; as root
    Native,
    /// The same under other kernels, in virtual time
    Guest,
}

/// Runs the tiers in order; everything is run even after a failure.
pub fn run(args: &TestArgs) -> Result<()> {
    let chosen = |tier| args.tiers.is_empty() || args.tiers.contains(&tier);
    let mut recorder = Recorder::default();
    setup::build(Download::Refused)?;
    if chosen(Tier::Pure) {
        timed("pure", || pure::run(&mut recorder))?;
    }
    if chosen(Tier::Native) || chosen(Tier::Guest) {
        let programs = timed("release build", binaries::programs)?;
        if chosen(Tier::Native) {
            timed("native", || native::run(&programs, &args.suites, &mut recorder))?;
        }
        if chosen(Tier::Guest) {
            timed("guest", || {
                guest::run(&programs, &args.suites, args.all_kernels, &mut recorder)
            })?;
        }
    }
    conclude(&recorder)
}

fn conclude(recorder: &Recorder) -> Result<()> {
    let [passed, failed, skipped] =
        [Outcome::Passed, Outcome::Failed, Outcome::Skipped].map(|outcome| recorder.count(outcome));
    println!();
    for check in recorder.failed() {
        println!("{check}");
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    ensure!(failed == 0, "{failed} checks failed");
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a person waits for is told in the person's time"
)]
fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    announce(format_args!("{what} begins"));
    let start = Instant::now();
    let result = work();
    println!("==> {what} took {:.0} s", start.elapsed().as_secs_f64());
    result
}
