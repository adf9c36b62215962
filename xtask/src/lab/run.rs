//! One scenario from nothing to its outcome.

use std::process::Stdio;

use anyhow::Result;

use super::clock::{now_ns, seconds_ns};
use super::flow::{Connection, FlowHandle};
use super::net::{Net, Side};
use super::netns::tool;
use super::relay::LinkStats;
use super::scenario::Scenario;
use super::traffic::Traffic;
use super::truth::Truth;

/// How old a flow becomes before an agent that is to be younger starts.
const AGE_S: f64 = 2.0;

/// What is done to a running flow once a second.
pub trait Watch {
    /// Called once, some seconds after a flow that is to be older than the agent has begun.
    fn aged(&mut self) -> Result<()>;

    /// Called at each full second of the steady part.
    fn second(&mut self, second: u32, net: &Net, connections: &[Connection]) -> Result<()>;
}

/// What a scenario's flows did.
pub struct Run {
    /// Each connection over the steady part.
    pub truths: Vec<Truth>,
    /// The path, forward and in reverse.
    pub path: [LinkStats; 2],
    /// `ss -tinm` of the sender's and the receiver's host, where asked for.
    pub ss: Option<[String; 2]>,
}

/// Runs the scenario's flows; `watch` looks on once a second in the steady part.
pub fn run(scenario: &Scenario, watch: &mut dyn Watch, with_ss: bool) -> Result<Run> {
    let (mut net, mut beside) = lay_out(scenario)?;
    let mut flow = Traffic::start(&net, scenario)?;
    if scenario.flow.as_ref().is_some_and(|flow| flow.older_than_agent) {
        flow.listen_until(now_ns() + seconds_ns(AGE_S))?;
        watch.aged()?;
    }
    let started_ns = flow.started_ns();
    let at = |seconds: f64| started_ns + seconds_ns(seconds);
    let steady_ns = at(scenario.expect.steady_after_s);
    // An agent that has only just started has no interval yet to speak of.
    let sampled_ns = steady_ns.max(now_ns()) + seconds_ns(2.0);
    let end_ns = at(scenario.expect.seconds);
    let mut events = scenario.path.events().into_iter().peekable();
    let (mut second, mut second_ns) = (1, at(1.0));
    let mut ss = None;
    while second_ns <= end_ns {
        while let Some((event_s, event)) = events.next_if(|(event_s, _)| at(*event_s) <= second_ns) {
            flow.listen_until(at(event_s))?;
            net.apply(event);
        }
        flow.listen_until(second_ns)?;
        // The agent's last interval began up to two seconds ago, and all of it must be steady.
        // A second late is a second lost, not one to be caught up with.
        if second_ns >= sampled_ns && now_ns() < second_ns + seconds_ns(1.0) {
            watch.second(second, &net, flow.connections())?;
        }
        if with_ss && ss.is_none() && second_ns >= u64::midpoint(steady_ns, end_ns) {
            ss = Some([ss_of(&net, Side::Sender)?, ss_of(&net, Side::Receiver)?]);
        }
        second += 1;
        second_ns += seconds_ns(1.0);
    }
    flow.listen_until(end_ns)?;
    flow.stop()?;
    for other in &mut beside {
        other.stop()?;
    }
    let truths = flow
        .connections()
        .iter()
        .filter_map(|connection| {
            let truth = Truth::between(connection, steady_ns, end_ns)?;
            Some(truth.with_seconds(connection, flow.started_ns()))
        })
        .collect();
    Ok(Run {
        truths,
        path: net.stats(),
        ss,
    })
}

/// Makes the hosts, the path and the flows that others share it with.
pub fn lay_out(scenario: &Scenario) -> Result<(Net, Vec<FlowHandle>)> {
    let net = Net::new(&scenario.path)?;
    net.configure(Side::Sender, &scenario.hosts.sender)?;
    net.configure(Side::Receiver, &scenario.hosts.receiver)?;
    let beside = scenario.beside.iter().map(|flow| net.spawn_flow(flow));
    let beside = beside.collect::<Result<_>>()?;
    Ok((net, beside))
}

fn ss_of(net: &Net, side: Side) -> Result<String> {
    let output = net
        .host(side)
        .command(tool("ss")?)?
        .arg("-tinmH")
        .stdin(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
