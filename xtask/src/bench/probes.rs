//! What the kernel programs of one agent cost, as the kernel counts it while its statistics are on.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;

use anyhow::{Context as _, Result};
use aya::programs::loaded_programs;
use aya::sys::{Stats, enable_stats};

/// Runs and run time of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Times it ran.
    pub runs: u64,
    /// Time in it, statistics' floor included, ns.
    pub ns: u64,
}

impl Cost {
    /// Growth since `before`.
    pub const fn since(self, before: Self) -> Self {
        Self {
            runs: self.runs.saturating_sub(before.runs),
            ns: self.ns.saturating_sub(before.ns),
        }
    }
}

/// By name of the program.
pub type Costs = BTreeMap<String, Cost>;

/// Has the kernel count as long as this lives: it stops by itself when the descriptor closes, however we end.
pub struct Counting {
    _descriptor: OwnedFd,
}

impl Counting {
    /// Starts.
    pub fn start() -> Result<Self> {
        let descriptor = enable_stats(Stats::RunTime).context("cannot enable the kernel's BPF statistics")?;
        Ok(Self {
            _descriptor: descriptor,
        })
    }
}

/// Costs so far of the programs that a process holds.
pub fn of_process(pid: u32) -> Result<Costs> {
    let ids = program_ids(pid)?;
    let mut costs = Costs::new();
    for program in loaded_programs() {
        // Programs of others come and go while we look.
        let Ok(program) = program else { continue };
        if ids.contains(&program.id()) {
            let name = program.name_as_str().unwrap_or("?").to_owned();
            let cost = costs.entry(name).or_default();
            cost.runs += program.run_count();
            cost.ns += program.run_time().as_nanos() as u64;
        }
    }
    Ok(costs)
}

/// Growth of each program's cost.
pub fn growth(before: &Costs, after: &Costs) -> Costs {
    after
        .iter()
        .map(|(name, cost)| {
            let before = before.get(name).copied().unwrap_or_default();
            (name.clone(), cost.since(before))
        })
        .filter(|(_, cost)| cost.runs > 0)
        .collect()
}

/// Probes of others on the same hooks: they would run in our measurements too.
pub fn strangers() -> usize {
    loaded_programs()
        .flatten()
        .filter(|program| {
            matches!(
                program.name_as_str(),
                Some("set_state" | "send_length" | "recv_length" | "tcp_sendmsg" | "tcp_probe")
            )
        })
        .count()
}

fn program_ids(pid: u32) -> Result<Vec<u32>> {
    let path = format!("/proc/{pid}/fdinfo");
    let entries = fs::read_dir(&path).with_context(|| format!("cannot read {path}"))?;
    let texts = entries
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path()).ok());
    Ok(texts.filter_map(|text| number(&text, "prog_id:")).collect())
}

fn number(text: &str, field: &str) -> Option<u32> {
    text.lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|value| value.trim().parse().ok())
}
