//! `tcpwin doctor` against planted faults: each is planted in network namespaces of its own, doctor must find it and say how bad it
//! is, the very command it prints is run, and doctor must be silent after. A well-set namespace gives no finding.

mod apply;
mod bench;
mod device;
mod flow;
mod listener;
mod route;
mod setting;

use anyhow::Result;

use crate::lab::agent::Agent;
use crate::lab::cleanup;
use crate::suites::report::Recorder;
use crate::suites::{Context, Place};

use self::bench::Bench;

/// Plants one fault after another.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    cleanup::on_signals()?;
    let agent = Agent::start(&context.programs.tcpwin, "auto")?;
    let mut bench = Bench {
        agent: &agent,
        recorder,
        // Emulated: what takes a moment here takes a while there.
        patience: match context.place {
            Place::Native => 1.0,
            Place::Guest => 2.0,
        },
    };
    // Each question starts a program, which is dear where it is emulated: there the faults of older kernels are planted together.
    if context.place == Place::Guest {
        setting::together(&mut bench)?;
        route::together(&mut bench)?;
        listener::run(&mut bench)?;
        return flow::few(&mut bench);
    }
    setting::run(&mut bench)?;
    route::run(&mut bench)?;
    device::run(&mut bench)?;
    listener::run(&mut bench)?;
    flow::run(&mut bench)?;
    apply::run(&mut bench)
}
