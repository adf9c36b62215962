//! A shell beside running flows, to look at them by hand.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, thread};

use anyhow::{Context, Result, bail};

use super::clock::{now_ns, seconds_ns};
use super::net::Side;
use super::run::lay_out;
use super::scenario::Scenario;
use super::traffic::Traffic;

/// Runs the scenario's flows until the shell ends.
pub fn open(scenario: &Scenario) -> Result<()> {
    let (net, _beside) = lay_out(scenario)?;
    let mut flow = Traffic::start(&net, scenario)?;
    let (sender, receiver) = (net.host(Side::Sender).name(), net.host(Side::Receiver).name());
    println!("The flow runs. Its hosts are network namespaces:");
    println!("  sender    ss -N {sender} -tinm      ip netns exec {sender} …");
    println!("  receiver  ss -N {receiver} -tinm      ip netns exec {receiver} …");
    println!("It ends with this shell.");
    let shell = env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut child = Command::new(shell)
        .env("LAB_SENDER", sender)
        .env("LAB_RECEIVER", receiver)
        .spawn()
        .context("cannot start a shell")?;
    let left = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let status = child.wait();
            left.store(true, Ordering::Relaxed);
            status
        });
        while !left.load(Ordering::Relaxed) {
            flow.listen_until(now_ns() + seconds_ns(0.2))?;
            if flow.over() {
                break;
            }
        }
        match waiting.join() {
            Ok(status) => status.context("cannot wait for the shell"),
            Err(_) => bail!("the thread that waits for the shell panicked"),
        }
    })?;
    flow.stop()?;
    if !status.success() {
        println!("the shell ended with {status}");
    }
    Ok(())
}
