//! The native lab: two hosts in network namespaces, a path between them, flows whose limiting factor is known by
//! construction, and the real agent judged against that truth.
//!
//! Other suites build on its parts: [`net::Net`] makes the hosts and the path, [`net::Net::spawn_flow`] the traffic,
//! [`agent::Agent`] runs the real program. `check` shows how.

mod accuracy;
pub mod agent;
mod check;
pub mod cleanup;
pub mod clock;
pub mod flow;
mod interval;
pub mod net;
pub mod netns;
mod peers;
pub mod priority;
mod program;
pub mod record;
pub mod recording;
pub mod relay;
pub mod report;
pub mod run;
pub mod scenario;
mod shell;
mod suite;
pub mod traffic;
mod truth;
mod tun;
mod verdict;
mod what_if;

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use agent::Agent;
use record::Record;
use report::Report;
use scenario::Scenario;

/// Arguments of `cargo xtask lab`.
#[derive(Clone, Debug, clap::Args)]
pub struct LabArgs {
    /// Scenarios or files to run, `all` that have a verdict, or the `core` of them; none: list them
    names: Vec<String>,
    /// Where the agent's observations come from
    #[arg(long, value_name = "SOURCE", default_value = "ebpf")]
    source: String,
    /// The tcpwin to judge [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    tcpwin: Option<PathBuf>,
    /// Run without an agent: only the flows, and the truth beside `ss -tinm` of both hosts
    #[arg(long)]
    no_agent: bool,
    /// Scenarios at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    jobs: usize,
    /// Write the report to a file [default: one named after kernel and source, in target/lab]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    json: Option<Option<PathBuf>>,
    /// Write docs/accuracy.md from the reports given as names [default: those in target/lab]
    #[arg(long, conflicts_with_all = ["json", "keep_samples", "no_agent", "shell"])]
    report: bool,
    /// Keep what the agent said each second, one file a scenario
    #[arg(long, value_name = "DIR")]
    keep_samples: Option<PathBuf>,
    /// Keep a recording of each scenario, and the events that a replay has to tell
    #[arg(long, value_name = "DIR", conflicts_with = "no_agent")]
    record: Option<PathBuf>,
    /// Open a shell beside the running flows of one scenario instead of judging them
    #[arg(long, conflicts_with_all = ["json", "keep_samples", "no_agent"])]
    shell: bool,
    /// Check the lab itself: its path, its system calls, many connections at once and one after another
    #[arg(long, conflicts_with_all = ["names", "json", "keep_samples", "shell", "report"])]
    check: bool,
    /// Play one side of a flow (the lab starts itself with this)
    #[arg(long, hide = true)]
    worker: Option<String>,
}

impl LabArgs {
    /// Whether namespaces are made, thus root and built programs needed.
    pub fn is_live(&self) -> bool {
        self.worker.is_none() && !self.report && (self.check || !self.names.is_empty())
    }
}

/// Runs the lab.
pub fn run(args: LabArgs) -> Result<()> {
    if let Some(spec) = &args.worker {
        return flow::run_worker(spec);
    }
    if args.report {
        return accuracy::write(&args.names);
    }
    cleanup::sweep();
    if args.check {
        return check::run();
    }
    if args.names.is_empty() {
        for (name, core, why) in scenario::list()? {
            println!("{name:<34} {:<5} {why}", if core { "core" } else { "" });
        }
        return Ok(());
    }
    let names: Vec<&str> = match args.names.as_slice() {
        [all] if all == "all" => scenario::judged()?,
        [core] if core == "core" => scenario::core()?,
        names => names.iter().map(String::as_str).collect(),
    };
    let scenarios = names
        .into_iter()
        .map(|name| Ok((scenario::stem(name).to_owned(), Scenario::named(name)?)))
        .collect::<Result<Vec<_>>>()?;
    if args.shell {
        return match scenarios.as_slice() {
            [(_, scenario)] => shell::open(scenario),
            _ => bail!("--shell takes one scenario"),
        };
    }
    if args.json == Some(None) && args.names.as_slice() != ["all"] {
        bail!("--json needs a file: only the report of `all` has a place of its own");
    }
    let agent = match args.no_agent {
        true => None,
        false => Some(Agent::start(&tcpwin(&args)?, &args.source)?),
    };
    let options = suite::Options {
        jobs: args.jobs,
        keep_samples: args.keep_samples.clone(),
        record: args.record.clone(),
        with_ss: args.no_agent,
    };
    let reports = suite::run_all(&scenarios, agent.as_ref(), &options)?;
    let passed = conclude(&reports, agent);
    if let Some(path) = &args.json {
        let source = (!args.no_agent).then_some(args.source.as_str());
        Record::new(&args.names, source, args.jobs, reports)?.write(path.as_deref())?;
    }
    passed
}

fn conclude(reports: &[Report], agent: Option<Agent>) -> Result<()> {
    let failed = reports.iter().filter(|report| report.outcome.fails()).count();
    println!("lab: {} passed, {failed} failed", reports.len() - failed);
    if failed > 0 {
        if let Some(agent) = agent {
            eprint!("{}", agent.last_lines());
        }
        bail!("{failed} of {} scenarios failed", reports.len());
    }
    Ok(())
}

/// The tcpwin of `--tcpwin`, or the one that was built beside this program.
fn tcpwin(args: &LabArgs) -> Result<PathBuf> {
    if let Some(path) = &args.tcpwin {
        return Ok(path.clone());
    }
    let beside = env::current_exe()
        .context("cannot find this program's folder")?
        .with_file_name("tcpwin");
    if !beside.exists() {
        bail!(
            "{} is not built; build it, or name another with --tcpwin, or use --no-agent",
            beside.display()
        );
    }
    Ok(beside)
}
