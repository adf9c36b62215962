//! What the probes add to the programs of the host: to a request-response, to a short connection, and by run of a program.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::bench::floor::Floor;
use crate::bench::probes::{self, Cost, Costs, Counting};
use crate::bench::stat::{Figure, fastest_tenth};
use crate::bench::worker::{Role, Worker};
use crate::lab::agent::Agent;
use crate::lab::clock::Timer;
use crate::lab::netns::NetNs;

/// Before a block, with probes and without.
const SETTLE_NS: u64 = 1_500_000_000;

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

    /// The fastest tenth of the samples, after one that warms up.
    fn block(&mut self, what: &str, count: u64, samples: usize) -> Result<f64> {
        self.cpu_each(what, count)?;
        let samples = (0..samples)
            .map(|_| self.cpu_each(what, count))
            .collect::<Result<Vec<_>>>()?;
        fastest_tenth(&samples).context("no samples")
    }
}

/// With and without probes, and what that is in percent.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// Without, µs.
    pub without_us: Figure,
    /// With, µs.
    pub with_us: Figure,
    /// What that is in percent, by pairs of blocks.
    pub percent: Figure,
}

/// Request-response and connect-request-close, in alternating blocks (off, on, on, off …), so that drift cancels.
pub fn added(talk: &mut Talk, tcpwin: &Path, effort: Effort) -> Result<(Added, Added)> {
    let mut turns = [Vec::new(), Vec::new()];
    let mut connects = [Vec::new(), Vec::new()];
    for block in 0..effort.blocks * 2 {
        let on = matches!(block % 4, 1 | 2);
        let agent = on.then(|| Agent::start(tcpwin, "ebpf")).transpose()?;
        // Its start is over by then: a busy neighbour would slow the talk down.
        Timer::every(SETTLE_NS)?.wait();
        let at = usize::from(on);
        turns[at].push(talk.block("turns", effort.turns, effort.samples)?);
        connects[at].push(talk.block("connects", effort.connects, effort.samples)?);
        drop(agent);
    }
    Ok((compare(&turns)?, compare(&connects)?))
}

/// The middle of the pairs and the middle half of them: single pairs on a shared machine say little.
fn compare([off, on]: &[Vec<f64>; 2]) -> Result<Added> {
    let percent: Vec<f64> = off
        .iter()
        .zip(on)
        .map(|(off, on)| (on / off - 1.0) * 100.0)
        .collect();
    let figure = |samples: &[f64]| Figure::quartiles(samples).context("no samples");
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
    /// What an empty program costs meanwhile, ns a run.
    pub floor: f64,
    /// Runs of programs for each turn or connection.
    pub runs_each: f64,
    /// The same in ns, floor taken off.
    pub ns_each: f64,
    /// By program: name, runs, ns a run, floor taken off.
    programs: Vec<(String, u64, f64)>,
}

impl PerRun {
    fn of(costs: &Costs, floor: f64, count: u64) -> Result<Self> {
        let net = |cost: &Cost| cost.ns as f64 - floor * cost.runs as f64;
        let runs: u64 = costs.values().map(|cost| cost.runs).sum();
        ensure!(runs > 0, "no program ran");
        let ns: f64 = costs.values().map(net).sum();
        Ok(Self {
            mean: ns / runs as f64,
            floor,
            runs_each: runs as f64 / count as f64,
            ns_each: ns / count as f64,
            programs: costs
                .iter()
                .map(|(name, cost)| (name.clone(), cost.runs, net(cost) / cost.runs as f64))
                .collect(),
        })
    }

    /// `probe 60 ns × 2.0, …`, runs for each turn or connection, the most run first; without what hardly runs.
    pub fn by_program(&self) -> String {
        let all: u64 = self.programs.iter().map(|(_, runs, _)| runs).sum();
        let mut programs = self.programs.clone();
        programs.retain(|(_, runs, _)| runs * 1_000 > all);
        programs.sort_by_key(|(_, runs, _)| std::cmp::Reverse(*runs));
        let mut text = String::new();
        for (name, runs, ns) in &programs {
            let separator = if text.is_empty() { "" } else { ", " };
            let each = *runs as f64 / all as f64 * self.runs_each;
            let _ = write!(text, "{separator}{name} {ns:.0} ns × {each:.1}");
        }
        text
    }
}

/// The kernel's own figures for request-responses and for short connections, beside an empty program at the same hook.
pub fn probes(talk: &mut Talk, tcpwin: &Path, effort: Effort) -> Result<[PerRun; 2]> {
    let agent = Agent::start(tcpwin, "ebpf")?;
    let empty = Floor::attach()?;
    let counting = Counting::start()?;
    let turns = count(talk, &agent, &empty, "turns", effort.turns, effort)?;
    let connects = count(talk, &agent, &empty, "connects", effort.connects, effort)?;
    drop(counting);
    Ok([turns, connects])
}

/// The fastest tenth of many samples.
fn count(
    talk: &mut Talk,
    agent: &Agent,
    empty: &Floor,
    what: &str,
    times: u64,
    effort: Effort,
) -> Result<PerRun> {
    talk.cpu_each(what, times)?;
    let mut samples = Vec::new();
    for _ in 0..effort.blocks * effort.samples {
        let before = (probes::of_process(agent.pid())?, empty.cost());
        talk.cpu_each(what, times)?;
        let after = (probes::of_process(agent.pid())?, empty.cost());
        let floor = after.1.since(before.1);
        ensure!(floor.runs > 0, "the empty program does not run");
        let floor = floor.ns as f64 / floor.runs as f64;
        samples.push(PerRun::of(&probes::growth(&before.0, &after.0), floor, times)?);
    }
    samples.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    let tenth = samples.len() / 10;
    samples.into_iter().nth(tenth).context("no samples")
}
