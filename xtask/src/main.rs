//! The one door for people and CI: prepares the machine, builds, runs, tests and measures tcpwin.
//!
//! Each command first makes sure of what it needs, says what it installs before it does, and does nothing twice.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod binaries;
mod dashboards;
mod demo;
mod docs;
mod fuzz;
mod lab;
mod paths;
mod process;
mod setup;
mod suites;
mod test;
mod top;
mod vm;

/// Prepare, build, run, test and measure tcpwin.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find or install the eBPF toolchain, so that plain `cargo build` works
    Setup(setup::SetupArgs),
    /// Build tcpwin and watch this host's TCP connections live
    Top(top::TopArgs),
    /// See every verdict alive: flows of the lab behind the real screen
    Demo(demo::DemoArgs),
    /// Run every test: pure, on this kernel, and under other kernels
    Test(test::TestArgs),
    /// Run a scenario whose limiting factor is known by construction
    Lab(lab::LabArgs),
    /// Measure what tcpwin costs, beside `ss` in the same run
    Bench(bench::BenchArgs),
    /// Give a parser arbitrary input until it breaks or the time is up
    Fuzz(fuzz::FuzzArgs),
    /// Write what is made from the code: docs/metrics.md and the dashboards
    Docs,
    /// Run a command under another kernel
    Vm(vm::VmArgs),
    /// The end-to-end suites of one place, as `test` starts them
    #[command(hide = true)]
    Suites(suites::SuitesArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Setup(args) => setup::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Top(args) => top::run(&args),
        Command::Demo(args) if args.is_live() && binaries::is_stand_in() => {
            binaries::run_again_as_root(setup::demo)
        }
        Command::Demo(args) => demo::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Lab(args) if args.is_live() && binaries::is_stand_in() => {
            binaries::run_again_as_root(setup::native)
        }
        Command::Bench(args) if args.is_live() && binaries::is_stand_in() => {
            binaries::run_again_as_root(setup::native)
        }
        Command::Bench(args) => bench::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Lab(args) => lab::run(args).map(|()| ExitCode::SUCCESS),
        Command::Test(args) => test::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Fuzz(args) => fuzz::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Suites(args) => suites::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Docs => docs::run().map(|()| ExitCode::SUCCESS),
        Command::Vm(args) => vm::command(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
