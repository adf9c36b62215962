//! `doctor --apply`: the gain is as predicted, and whatever ends the experiment, everything is as it was.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::bench::{Bench, value, well_set};
use super::flow::{Running, WMEM};
use super::route::shown;
use crate::lab::net::Side;
use crate::lab::netns::NetNs;

const NAME: &str = "net.ipv4.tcp_wmem";
const SMALL: &str = "4096 16384 65536";
/// How far a promise may be off.
const TOLERANCE: f64 = 0.1;
/// What doctor says once the changes are made.
const CHANGED: &str = "changed as planned";

pub fn run(bench: &mut Bench<'_>) -> Result<()> {
    let mut running = Running::start(WMEM)?;
    running.listen(6.0)?;
    let dir = tempfile::tempdir()?;
    let plan = dir.path().join("plan.toml");
    write(bench, running.net.host(Side::Sender), &plan)?;
    measured(bench, &running, &plan)?;
    for (signal, name) in [(Signal::KILL, "SIGKILL"), (Signal::TERM, "SIGTERM")] {
        ended(bench, &running, &plan, signal, name)?;
    }
    refused(bench, &running, &plan)?;
    route(bench)
}

/// A route's metric is tried and taken back too, and the rest of the route with it.
fn route(bench: &mut Bench<'_>) -> Result<()> {
    const BEFORE: &str = "203.0.113.0/24 via 198.51.100.2 dev near proto static metric 77 initcwnd 2";
    const AFTER: &str = "203.0.113.0/24 via 198.51.100.2 dev near proto static metric 77";
    let netns = well_set(140)?;
    netns.ip(&[
        "link add near type veth peer name far".into(),
        "link set far up".into(),
        "link set near up".into(),
        "addr add 198.51.100.1/24 dev near".into(),
        format!("route add {BEFORE}"),
    ])?;
    let dir = tempfile::tempdir()?;
    let plan = dir.path().join("plan.toml");
    write(bench, &netns, &plan)?;
    let now = || shown(&netns, "-4", "203.0.113.0/24");
    let mut faults = Vec::new();
    let status = end_once_changed(apply(bench, &plan, 4)?, Signal::KILL, || {
        let changed = now()?;
        faults.extend((changed != AFTER).then(|| format!("it was `{changed}`, not `{AFTER}`")));
        Ok(())
    })?;
    let restored = now()?;
    faults.extend((restored != BEFORE).then(|| format!("it is `{restored}` now")));
    bench.tell("--apply takes a route back after SIGKILL", &faults, &status)
}

fn write(bench: &Bench<'_>, netns: &NetNs, plan: &Path) -> Result<()> {
    let output = Command::new(bench.agent.binary())
        .args(["doctor", "--netns", netns.name()])
        .args(["--duration", "3s", "--connect", bench.agent.url(), "--plan"])
        .arg(plan)
        .output()?;
    if !plan.exists() {
        bail!(
            "doctor wrote no plan: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

fn apply(bench: &Bench<'_>, plan: &Path, seconds: u32) -> Result<Child> {
    Command::new(bench.agent.binary())
        .args(["doctor", "--json", "--connect", bench.agent.url(), "--duration"])
        .arg(format!("{seconds}s"))
        .arg("--apply")
        .arg(plan)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start tcpwin doctor")
}

fn measured(bench: &mut Bench<'_>, running: &Running, plan: &Path) -> Result<()> {
    let output = apply(bench, plan, 6)?.wait_with_output()?;
    let outcome: Value = read(&output)?;
    let mut faults = Vec::new();
    let measured = outcome["measured"].as_array().cloned().unwrap_or_default();
    let wmem = measured.iter().find(|each| each["finding"] == "tcp-wmem-max");
    let error = wmem.and_then(|each| each["error"].as_f64());
    match error {
        None => faults.push(format!("no promise was measured: {outcome}")),
        Some(error) if error.abs() > TOLERANCE => {
            faults.push(format!("the promise is off by {:+.1} %", error * 100.0));
        }
        Some(_) => {}
    }
    if outcome["restored"].as_array().is_none_or(Vec::is_empty) || outcome["left"] != serde_json::json!([]) {
        faults.push(format!(
            "restored {}, left {}",
            outcome["restored"], outcome["left"]
        ));
    }
    faults.extend(differs(running)?);
    let mbit = |name: &str| wmem.and_then(|each| each[name].as_f64()).unwrap_or(0.0) / 1e6;
    let numbers = format!(
        "{:.1} Mbit/s before, {:.1} after, {:.1} promised ({:+.1} %)",
        mbit("before_bps"),
        mbit("after_bps"),
        mbit("predicted_bps"),
        error.unwrap_or(0.0) * 100.0
    );
    bench.tell("--apply makes what was promised", &faults, &numbers)
}

/// Whatever ends it once the change is made, the change is taken back.
fn ended(bench: &mut Bench<'_>, running: &Running, plan: &Path, signal: Signal, name: &str) -> Result<()> {
    let mut faults = Vec::new();
    let status = end_once_changed(apply(bench, plan, 4)?, signal, || {
        let now = value(running.net.host(Side::Sender), NAME)?;
        faults.extend((now == SMALL).then(|| "nothing was changed".to_owned()));
        Ok(())
    })?;
    faults.extend(differs(running)?);
    bench.tell(&format!("--apply takes back after {name}"), &faults, &status)
}

/// Sends the signal once the changes are made, after a look at them, and waits for the end of all who hold its standard error: the guard
/// is the last of them.
fn end_once_changed(mut child: Child, signal: Signal, look: impl FnOnce() -> Result<()>) -> Result<String> {
    let mut said = BufReader::new(child.stderr.take().context("no standard error")?);
    let mut line = String::new();
    while !line.contains(CHANGED) {
        line.clear();
        if said.read_line(&mut line)? == 0 {
            bail!("doctor ended with {} and changed nothing", child.wait()?);
        }
    }
    let looked = look();
    kill(&child, signal)?;
    let mut rest = String::new();
    said.read_to_string(&mut rest)?;
    looked?;
    Ok(child.wait()?.to_string())
}

/// Something was changed since the plan was made.
fn refused(bench: &mut Bench<'_>, running: &Running, plan: &Path) -> Result<()> {
    const OTHER: &str = "4096 16384 131072";
    running.net.host(Side::Sender).sysctl(NAME, OTHER)?;
    let output = apply(bench, plan, 1)?.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut faults = Vec::new();
    if output.status.code() != Some(1) || !said.contains("nothing was changed") {
        faults.push(format!("it ended with {}: {said}", output.status));
    }
    let now = value(running.net.host(Side::Sender), NAME)?;
    if now != OTHER {
        faults.push(format!("{NAME} is {now}"));
    }
    bench.tell("--apply refuses another state of things", &faults, said.trim())
}

fn kill(child: &Child, signal: Signal) -> Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok(kill_process(pid.context("a process id")?, signal)?)
}

fn read(output: &Output) -> Result<Value> {
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "doctor ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

fn differs(running: &Running) -> Result<Option<String>> {
    let now = value(running.net.host(Side::Sender), NAME)?;
    Ok((now != SMALL).then(|| format!("{NAME} is {now}, not {SMALL}")))
}
