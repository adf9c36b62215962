//! What the agent costs with many sockets open, beside `ss` on the same sockets.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::bench::cpu::{self, CpuClock, Resident};
use crate::bench::stat::Figure;
use crate::lab::agent::Agent;
use crate::lab::clock::{Timer, now_ns};
use crate::lab::netns::{NetNs, tool};

const SECOND_NS: u64 = 1_000_000_000;
/// Seconds that a start may take to have every socket in the table.
const START_LIMIT: u64 = 60;
/// Seconds after a start that are not measured.
const SETTLE: usize = 3;

/// An agent that has every socket in its table, and what that took.
pub struct Started {
    /// It.
    pub agent: Agent,
    clock: CpuClock,
    /// CPU time until the table was full, ms.
    pub cpu_ms: f64,
    /// The same by the wall, ms.
    pub wall_ms: f64,
}

impl Started {
    /// Starts an agent while `sockets` are open.
    pub fn with_sockets(tcpwin: &Path, source: &str, sockets: usize) -> Result<Self> {
        let begin = now_ns();
        let agent = Agent::start(tcpwin, source)?;
        let clock = CpuClock::of(agent.pid())?;
        let pause = Timer::every(SECOND_NS / 20)?;
        loop {
            let entries = metric(&agent.get("/metrics")?, "tcpwin_table_entries")?;
            if entries >= sockets as f64 {
                break;
            }
            ensure!(
                now_ns() - begin < START_LIMIT * SECOND_NS,
                "the agent has {entries} of {sockets} sockets in its table:\n{}",
                agent.last_lines()
            );
            pause.wait();
        }
        let started = Self {
            cpu_ms: clock.now_ns()? as f64 / 1e6,
            wall_ms: (now_ns() - begin) as f64 / 1e6,
            agent,
            clock,
        };
        started.each_second(SETTLE)?;
        Ok(started)
    }

    /// CPU time of each of the next seconds, ns.
    fn each_second(&self, seconds: usize) -> Result<Vec<f64>> {
        let timer = Timer::every(SECOND_NS)?;
        let mut before = (now_ns(), self.clock.now_ns()?);
        let mut spent = Vec::with_capacity(seconds);
        for _ in 0..seconds {
            timer.wait();
            let now = (now_ns(), self.clock.now_ns()?);
            let elapsed = (now.0 - before.0) as f64 / 1e9;
            spent.push((now.1 - before.1) as f64 / elapsed);
            before = now;
        }
        Ok(spent)
    }

    /// CPU time a second, ns: nobody asks it anything meanwhile.
    pub fn cpu_per_second(&self, seconds: usize) -> Result<Figure> {
        let spent = self.each_second(seconds)?;
        let mean = spent.iter().sum::<f64>() / spent.len().max(1) as f64;
        let spread = Figure::of(&spent).context("no samples")?;
        // The mean: what comes every few seconds only is a cost too.
        Ok(Figure {
            median: mean,
            ..spread
        })
    }

    /// CPU time of a tick as the agent itself tells, µs.
    pub fn tick_us(&self, ticks: usize) -> Result<Figure> {
        let timer = Timer::every(SECOND_NS)?;
        let mut samples = Vec::with_capacity(ticks);
        for _ in 0..ticks {
            timer.wait();
            // The metric of it sums all ticks; this is the last one.
            let health: Value = serde_json::from_str(&self.agent.get("/healthz")?)?;
            let tick = health["tick_cpu_us"].as_f64();
            samples.push(tick.context("/healthz has no tick_cpu_us")?);
        }
        Figure::of(&samples).context("no samples")
    }

    /// Resident memory.
    pub fn resident(&self) -> Result<Resident> {
        Resident::of(self.agent.pid())
    }

    /// Scrapes of the metrics: CPU time of one, ms, with the agent's other work taken off; series and bytes.
    pub fn scrapes(&self, count: usize, idle_ns_per_second: f64) -> Result<Scrape> {
        let page = self.agent.get("/metrics")?;
        let mut samples = Vec::new();
        for _ in 0..5 {
            let (begin, before) = (now_ns(), self.clock.now_ns()?);
            for _ in 0..count {
                self.agent.get("/metrics")?;
            }
            let spent = (self.clock.now_ns()? - before) as f64;
            let elapsed = (now_ns() - begin) as f64 / 1e9;
            samples.push((spent - elapsed * idle_ns_per_second) / count as f64 / 1e6);
        }
        Ok(Scrape {
            cpu_ms: Figure::of(&samples).context("no samples")?,
            series: page.lines().filter(|line| !line.starts_with('#')).count(),
            bytes: page.len(),
        })
    }
}

/// One scrape.
#[derive(Clone, Copy, Debug)]
pub struct Scrape {
    /// CPU time of the agent, ms.
    pub cpu_ms: Figure,
    /// Series in the answer.
    pub series: usize,
    /// Its length.
    pub bytes: usize,
}

/// CPU time of `ss -tinmH` in the namespace, ns.
pub fn ss(netns: &NetNs, runs: usize) -> Result<Figure> {
    let ss = tool("ss")?;
    let samples = (0..runs)
        .map(|_| {
            let mut command: Command = netns.command(&ss)?;
            command.arg("-tinmH").stdin(Stdio::null()).stdout(Stdio::null());
            Ok(cpu::of_command(&mut command)? as f64)
        })
        .collect::<Result<Vec<_>>>()?;
    Figure::of(&samples).context("no samples")
}

/// Value of a metric without labels.
fn metric(page: &str, name: &str) -> Result<f64> {
    page.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .and_then(|value| value.trim().parse().ok())
        .with_context(|| format!("the agent's page has no {name}"))
}
