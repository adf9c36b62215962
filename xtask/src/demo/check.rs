//! Whether every limit of the demo is really told, without a screen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::lab::agent::Agent;
use crate::lab::clock::{Timer, now_ns, seconds_ns};

use super::play::{Play, wanted};

/// A limit that is not told by then is not told.
const LIMIT_S: f64 = 60.0;

/// Starts an agent and the flows, and waits until each limit has been told of the connection that it holds.
pub fn check(tcpwin: &Path) -> Result<()> {
    let agent = Agent::start(tcpwin, "auto")?;
    let mut play = Play::default();
    while !play.is_complete() {
        play.go_on();
    }
    let begun_ns = now_ns();
    let timer = Timer::every(seconds_ns(1.0))?;
    let mut told: BTreeMap<String, f64> = BTreeMap::new();
    loop {
        timer.wait();
        play.go_on();
        let after_s = (now_ns() - begun_ns) as f64 / 1e9;
        let wanted = wanted(&play)?;
        for (limit, netns) in &wanted {
            if !told.contains_key(limit) && is_told(&agent, limit, *netns)? {
                println!("{limit:<14} told after {after_s:.0} s");
                told.insert(limit.clone(), after_s);
            }
        }
        let missing: Vec<&String> = wanted
            .iter()
            .map(|(limit, _)| limit)
            .filter(|limit| !told.contains_key(*limit))
            .collect();
        if missing.is_empty() {
            break;
        }
        ensure!(
            after_s < LIMIT_S,
            "not told within {LIMIT_S} s: {missing:?}\n{}",
            agent.last_lines()
        );
    }
    let faults = play.into_faults();
    ensure!(faults.is_empty(), "not shown: {}", faults.join("; "));
    println!("demo: {} limits told", told.len());
    Ok(())
}

/// If a connection in the namespace is told to be held by this limit now.
pub fn is_told(agent: &Agent, limit: &str, netns: u64) -> Result<bool> {
    let connections = agent.connections(netns)?;
    Ok(connections.iter().any(|connection| connection["limit"] == limit))
}
