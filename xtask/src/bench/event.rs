//! What the probes add to the programs of the host: to a request-response, to a short connection, and by run of a program.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::bench::floor::Floor;
use crate::bench::probes::{self, Cost, Costs, Counting};
use crate::bench::stat::Figure;
use crate::bench::worker::{Role, Worker};
use crate::lab::agent::Agent;
use crate::lab::netns::NetNs;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Blocks with and without probes.
    pub blocks: usize,
    /// Samples in a block.
    pub samples: usize,
    /// Request-responses of a sample.
    pub turns: u64,
    /// Connections of a sample.
    pub connects: u64,
}

/// Client and server.
pub struct Talk {
    client: Worker,
    server: Worker,
}

impl Talk {
    /// Starts both in the namespace.
    pub fn start(netns: &NetNs) -> Result<Self> {
        let mut server = Worker::start(netns, &Role::Serve)?;
        let address = server.answer()?.parse().context("the server's address")?;
        let mut client = Worker::start(netns, &Role::Ask { server: address })?;
        client.answer()?;
        Ok(Self { client, server })
    }

    /// CPU time of both for each of `count`, ns. Softirq work of loopback is done in the sender's time.
    fn cpu_each(&mut self, what: &str, count: u64) -> Result<f64> {
        let clocks = [self.client.clock()?, self.server.clock()?];
        let before = clocks[0].now_ns()? + clocks[1].now_ns()?;
        self.client.order(&format!("{what} {count}"))?;
        let after = clocks[0].now_ns()? + clocks[1].now_ns()?;
        Ok((after - before) as f64 / count as f64)
    }

    /// Median of a few samples, after one that warms up.
    fn block(&mut self, what: &str, count: u64, samples: usize) -> Result<f64> {
        self.cpu_each(what, count / 4)?;
        let samples = (0..samples)
            .map(|_| self.cpu_each(what, count))
            .collect::<Result<Vec<_>>>()?;
        Figure::of(&samples)
            .map(|figure| figure.median)
            .context("no samples")
    }
}

/// With and without probes, and what that is in percent.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// Without, µs.
    pub without_us: Figure,
    /// With, µs.
    pub with_us: Figure,
    /// Of neighbouring blocks, percent.
    pub percent: Figure,
}

/// Request-response and connect-request-close, in alternating blocks (off, on, on, off …), so that drift cancels.
pub fn added(talk: &mut Talk, tcpwin: &Path, effort: Effort) -> Result<(Added, Added)> {
    let mut turns = [Vec::new(), Vec::new()];
    let mut connects = [Vec::new(), Vec::new()];
    for block in 0..effort.blocks * 2 {
        let on = matches!(block % 4, 1 | 2);
        let agent = on.then(|| Agent::start(tcpwin, "ebpf")).transpose()?;
        let at = usize::from(on);
        turns[at].push(talk.block("turns", effort.turns, effort.samples)?);
        connects[at].push(talk.block("connects", effort.connects, effort.samples)?);
        drop(agent);
    }
    Ok((compare(&turns)?, compare(&connects)?))
}

fn compare([off, on]: &[Vec<f64>; 2]) -> Result<Added> {
    let percent: Vec<f64> = off
        .iter()
        .zip(on)
        .map(|(off, on)| (on / off - 1.0) * 100.0)
        .collect();
    let figure = |samples: &[f64]| Figure::of(samples).context("no samples");
    Ok(Added {
        without_us: figure(off)?.times(1e-3),
        with_us: figure(on)?.times(1e-3),
        percent: figure(&percent)?,
    })
}

/// Time of a run of each program, warm, in one workload.
#[derive(Clone, Debug)]
pub struct PerRun {
    /// Weighted mean over all programs, floor taken off, ns.
    pub mean: f64,
    /// Runs of programs for each turn or connection.
    pub runs_each: f64,
    /// The same in ns, floor taken off.
    pub ns_each: f64,
    /// By program: name, runs, ns a run, floor taken off.
    pub programs: Vec<(String, u64, f64)>,
}

impl PerRun {
    fn of(costs: &Costs, floor: f64, count: u64) -> Result<Self> {
        let net = |cost: &Cost| cost.ns as f64 - floor * cost.runs as f64;
        let runs: u64 = costs.values().map(|cost| cost.runs).sum();
        ensure!(runs > 0, "no program ran");
        let ns: f64 = costs.values().map(net).sum();
        Ok(Self {
            mean: ns / runs as f64,
            runs_each: runs as f64 / count as f64,
            ns_each: ns / count as f64,
            programs: costs
                .iter()
                .map(|(name, cost)| (name.clone(), cost.runs, net(cost) / cost.runs as f64))
                .collect(),
        })
    }

    /// `probe 60 ns × 100000, …`, the most run first.
    pub fn by_program(&self) -> String {
        let mut programs = self.programs.clone();
        programs.sort_by_key(|(_, runs, _)| std::cmp::Reverse(*runs));
        let mut text = String::new();
        for (name, runs, ns) in &programs {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{separator}{name} {ns:.0} ns × {runs}");
        }
        text
    }
}

/// The kernel's own figures for both workloads.
#[derive(Clone, Debug)]
pub struct Probes {
    /// An empty program's, ns a run.
    pub floor: f64,
    /// Request-response.
    pub turns: PerRun,
    /// Connect-request-close.
    pub connects: PerRun,
}

/// Counts the runs and the time of each program.
pub fn probes(talk: &mut Talk, tcpwin: &Path, effort: Effort) -> Result<Probes> {
    let agent = Agent::start(tcpwin, "ebpf")?;
    let pid = agent.pid();
    talk.cpu_each("turns", effort.turns)?;
    talk.cpu_each("connects", effort.connects)?;
    let counting = Counting::start()?;
    let turns = count(talk, pid, "turns", effort.turns * 4)?;
    let connects = count(talk, pid, "connects", effort.connects * 2)?;
    drop(agent);
    let empty = Floor::attach()?;
    talk.cpu_each("turns", effort.turns * 2)?;
    let floor = empty.per_run()?;
    drop(counting);
    Ok(Probes {
        floor,
        turns: PerRun::of(&turns, floor, effort.turns * 4)?,
        connects: PerRun::of(&connects, floor, effort.connects * 2)?,
    })
}

fn count(talk: &mut Talk, pid: u32, what: &str, times: u64) -> Result<Costs> {
    let before = probes::of_process(pid)?;
    talk.cpu_each(what, times)?;
    Ok(probes::growth(&before, &probes::of_process(pid)?))
}
