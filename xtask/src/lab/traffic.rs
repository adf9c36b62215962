//! What runs between the two hosts: the lab's own flows, or real programs.

use anyhow::{Result, anyhow};

use super::flow::{Connection, FlowHandle};
use super::net::Net;
use super::program::Programs;
use super::scenario::Scenario;

/// It ends when this is dropped.
pub enum Traffic {
    /// Of the lab's own workers.
    Flow(FlowHandle),
    /// Of real programs.
    Programs(Box<Programs>),
}

impl Traffic {
    /// Starts what the scenario says and waits until every connection is open.
    pub fn start(net: &Net, scenario: &Scenario) -> Result<Self> {
        match (&scenario.flow, &scenario.program) {
            (Some(flow), None) => Ok(Self::Flow(net.spawn_flow(flow)?)),
            (None, Some(spec)) => Ok(Self::Programs(Box::new(Programs::start(net, spec)?))),
            _ => Err(anyhow!("a scenario has either [flow] or [program]")),
        }
    }

    /// When every connection was open.
    pub fn started_ns(&self) -> u64 {
        match self {
            Self::Flow(flow) => flow.started_ns(),
            Self::Programs(programs) => programs.started_ns(),
        }
    }

    /// The connections so far.
    pub fn connections(&self) -> &[Connection] {
        match self {
            Self::Flow(flow) => flow.connections(),
            Self::Programs(programs) => programs.connections(),
        }
    }

    /// Takes readings until then.
    pub fn listen_until(&mut self, until_ns: u64) -> Result<()> {
        match self {
            Self::Flow(flow) => flow.listen_until(until_ns),
            Self::Programs(programs) => programs.listen_until(until_ns),
        }
    }

    /// Whether it has ended by itself.
    pub fn over(&self) -> bool {
        match self {
            Self::Flow(flow) => flow.over(),
            Self::Programs(_) => false,
        }
    }

    /// Ends it.
    pub fn stop(&mut self) -> Result<()> {
        match self {
            Self::Flow(flow) => flow.stop(),
            Self::Programs(programs) => {
                programs.stop();
                Ok(())
            }
        }
    }
}
