//! One scenario that goes on for as long as somebody looks.

use std::collections::VecDeque;

use anyhow::{Context as _, Result};

use crate::lab::clock::{now_ns, seconds_ns};
use crate::lab::flow::FlowHandle;
use crate::lab::net::{Event, Net, Side};
use crate::lab::run::lay_out;
use crate::lab::scenario::Scenario;
use crate::lab::traffic::Traffic;

use super::cast::Part;

/// Time between two reports of a flow's workers: nobody reads them here.
const TICK_MS: u64 = 1_000;

/// A scenario on its stage.
pub struct Scene {
    part: Part,
    scenario: Scenario,
    // Before the hosts it runs between.
    traffic: Traffic,
    _beside: Vec<FlowHandle>,
    net: Net,
    events: VecDeque<(f64, Event)>,
}

impl Scene {
    /// Makes the hosts and the path, and starts the flow. It ends with the thread that calls this.
    pub fn begin(part: Part) -> Result<Self> {
        let mut scenario = Scenario::named(part.scenario)?;
        let side = scenario.expect.side;
        if let Some(flow) = &mut scenario.flow {
            flow.tick_ms = TICK_MS;
            flow.names.insert(side, part.limit()?);
            flow.names.insert(side.other(), "peer".to_owned());
        }
        let (net, beside) = lay_out(&scenario).with_context(|| part.scenario.to_owned())?;
        let traffic = Traffic::start(&net, &scenario).with_context(|| part.scenario.to_owned())?;
        Ok(Self {
            part,
            events: scenario.path.events().into(),
            scenario,
            traffic,
            _beside: beside,
            net,
        })
    }

    /// Does what is due by now; a flow that has ended, or shown what it had to show, begins again.
    pub fn go_on(&mut self) -> Result<()> {
        let now = now_ns();
        let age_ns = now.saturating_sub(self.traffic.started_ns());
        while let Some((second, event)) = self.events.front().copied()
            && seconds_ns(second) <= age_ns
        {
            self.events.pop_front();
            self.net.apply(event);
        }
        // A worker that failed has ended: a stalled connection times out in the end.
        let failed = self.traffic.listen_until(now).is_err();
        if failed || self.traffic.over() {
            *self = Self::begin(self.part)?;
        } else if self.part.is_short && age_ns > seconds_ns(self.scenario.expect.seconds) {
            self.traffic = Traffic::start(&self.net, &self.scenario)?;
        }
        Ok(())
    }

    /// The limit it shows.
    pub fn limit(&self) -> Result<String> {
        self.part.limit()
    }

    /// The namespace of the end that is judged.
    pub fn judged_in(&self) -> Result<u64> {
        self.net.host(self.scenario.expect.side).inode()
    }

    /// The namespaces of both ends.
    pub fn namespaces(&self) -> Result<[u64; 2]> {
        Ok([
            self.net.host(Side::Sender).inode()?,
            self.net.host(Side::Receiver).inode()?,
        ])
    }
}
