//! The native lab: two hosts in network namespaces, a path between them, flows whose limiting factor is known by
//! construction, and the real agent judged against that truth.

mod cleanup;
mod clock;
mod flow;
mod net;
mod netns;
mod relay;
mod run;
mod scenario;
mod truth;
mod tun;

use anyhow::{Result, bail};

use run::{Run, Watch};
use scenario::Scenario;

/// Arguments of `cargo xtask lab`.
#[derive(Debug, clap::Args)]
pub struct LabArgs {
    /// Scenarios to run, or `all`; none: list them
    names: Vec<String>,
    /// Only run the flows and show the truth beside `ss -tinm` of both hosts
    #[arg(long)]
    no_agent: bool,
    /// Play one side of a flow (the lab starts itself with this)
    #[arg(long, hide = true)]
    worker: Option<String>,
}

/// Runs the lab.
pub fn run(args: LabArgs) -> Result<()> {
    if let Some(spec) = &args.worker {
        return flow::run_worker(spec);
    }
    if args.names.is_empty() {
        for (name, why) in scenario::list() {
            println!("{name:<28} {why}");
        }
        return Ok(());
    }
    cleanup::sweep();
    let names: Vec<&str> = match args.names.as_slice() {
        [all] if all == "all" => scenario::list().map(|(name, _)| name).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    if !args.no_agent {
        bail!("only --no-agent yet");
    }
    for name in names {
        let scenario = Scenario::named(name)?;
        let run = run::run(&scenario, &mut Nobody, true)?;
        show(name, &scenario, &run);
    }
    Ok(())
}

struct Nobody;

impl Watch for Nobody {
    fn second(&mut self, _: &net::Net, _: &flow::FlowHandle) -> Result<()> {
        Ok(())
    }
}

fn show(name: &str, scenario: &Scenario, run: &Run) {
    println!("{name}");
    if let Some([sender, receiver]) = &run.ss {
        println!("  sender's host:\n{sender}  receiver's host:\n{receiver}");
    }
    for truth in &run.truths {
        println!("  {truth:?}");
        if let Some(rate) = scenario.expect.rate_mbit {
            println!("  {:.4} of {rate} Mbit/s", truth.received_bps / 1e6 / rate);
        }
    }
    println!("  {:?}", run.path);
}
