//! The budgets, measured: what tcpwin costs the host, beside `ss` in the same run.
//!
//! CPU time only, never wall time: the machine may be shared. Everything happens on loopback, in a network namespace of the
//! bench's own; the agent watches it from outside, as it watches containers. No test depends on a figure.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

use crate::bench::machine::Machine;
use crate::bench::plan::Plan;
use crate::bench::row::Row;
use crate::lab::cleanup;
use crate::lab::netns::NetNs;
use crate::process::announce;

mod cpu;
mod event;
mod floor;
mod herd;
mod hold;
mod machine;
mod plan;
mod probes;
mod row;
mod scale;
mod screen;
mod stat;
mod talk;
mod worker;

/// Arguments of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchArgs {
    /// A short run with a tenth of the sockets; figures are told but not judged
    #[arg(long)]
    quick: bool,
    /// Only these rows
    #[arg(long, value_name = "ROWS", value_delimiter = ',', value_parser = plan::GROUPS)]
    rows: Vec<String>,
    /// Write the figures to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page of docs/ to a file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Fail if a row has no figure; how high they are is no test
    #[arg(long)]
    check_runs: bool,
    /// The tcpwin to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    tcpwin: Option<PathBuf>,
    /// Play a part of the traffic (the bench starts itself with this)
    #[arg(long, hide = true, value_name = "ROLE")]
    worker: Option<String>,
}

impl BenchArgs {
    /// Whether it measures, thus needs root and built programs.
    pub const fn is_live(&self) -> bool {
        self.worker.is_none()
    }
}

/// Runs the bench.
pub fn run(args: &BenchArgs) -> Result<()> {
    if let Some(role) = &args.worker {
        return worker::play(role);
    }
    cleanup::sweep();
    cleanup::on_signals()?;
    let tcpwin = match &args.tcpwin {
        Some(path) => path.clone(),
        None => env::current_exe()
            .context("cannot find this program")?
            .with_file_name("tcpwin"),
    };
    ensure!(tcpwin.is_file(), "{} is not built", tcpwin.display());
    let machine = Machine::read(probes::strangers());
    announce(machine.line());

    let netns = NetNs::create("0a")?;
    netns.ip(&["link set lo up".to_owned()])?;
    netns.sysctl("net.ipv4.ip_local_port_range", "1024 65000")?;
    netns.sysctl("net.core.somaxconn", "4096")?;
    let plan = Plan::new(args.quick, &args.rows);
    let rows = plan.measure(&tcpwin, &netns)?;
    drop(netns);

    println!("{}\n", machine.line());
    print!("{}", row::table(&rows));
    conclude(args, &machine, &plan, &rows)
}

fn conclude(args: &BenchArgs, machine: &Machine, plan: &Plan, rows: &[Row]) -> Result<()> {
    if let Some(path) = &args.json {
        let report = serde_json::json!({ "machine": machine, "quick": args.quick, "rows": rows });
        write(path, &serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = &args.write {
        write(path, &page(machine, plan, rows))?;
    }
    if args.check_runs {
        let numbers = |row: &&Row| row.measured.is_some_and(|figure| figure.median.is_finite());
        let budgeted = rows.iter().filter(|row| row.budget.is_some());
        let without: Vec<_> = budgeted
            .filter(|row| !numbers(row))
            .map(|row| &row.what)
            .collect();
        ensure!(without.is_empty(), "no figure for {without:?}");
        ensure!(rows.iter().filter(numbers).count() > 0, "no figures at all");
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn page(machine: &Machine, plan: &Plan, rows: &[Row]) -> String {
    format!(
        "# What tcpwin costs\n\n\
         Written by `cargo xtask bench --write docs/performance.md`; repeat it on your machine with `cargo xtask bench`.\n\n\
         **Machine.** {}.\n\n\
         **Method.** {}\n\n\
         Figures that fall short of their budget say so. The least and the greatest sample stand in brackets.\n\n{}",
        machine.line(),
        plan.method(),
        row::markdown(rows)
    )
}
