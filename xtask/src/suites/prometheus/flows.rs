//! A flow of each class, side by side, as the lab runs them.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::lab::netns::die_with_parent;
use crate::paths;

/// One scenario of each class, and those that alerts are for.
const SCENARIOS: [&str; 7] = [
    "rwnd_scale_181ms",
    "bandwidth_cubic_20mbit",
    "loss_1percent_30ms",
    "turns_30ms",
    "host_tbf_30ms",
    "stalled_30ms",
    "mtu_blackhole_30ms",
];
/// How long they run: until every question has been asked.
const SECONDS: u32 = 44;

/// The running flows.
pub struct Flows(Child);

impl Flows {
    /// Starts them. They end by themselves, and with us.
    pub fn start(xtask: &Path, dir: &Path) -> Result<Self> {
        let mut lab = Command::new(xtask);
        lab.args(["lab", "--no-agent", "--jobs", &SCENARIOS.len().to_string()]);
        for name in SCENARIOS {
            let file = dir.join(format!("{name}.toml"));
            fs::write(&file, lasting(name)?)?;
            lab.arg(file);
        }
        lab.stdin(Stdio::null()).stdout(Stdio::null());
        die_with_parent(&mut lab);
        Ok(Self(lab.spawn().context("cannot start the lab")?))
    }

    /// Whether another lab runs on this machine: then nobody can tell whose flows are counted.
    pub fn are_alone(&self) -> Result<bool> {
        let ours = format!("tcpwin-{}-", self.0.id());
        for entry in fs::read_dir("/run/netns")? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("tcpwin-") && !name.starts_with(&ours) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until they have ended.
    pub fn end(&mut self) -> Result<()> {
        let status = self.0.wait()?;
        if !status.success() {
            bail!("the lab ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Flows {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Connections over loopback, one after another: each a handshake at both ends.
pub struct Knocks(TcpListener);

impl Knocks {
    /// None so far.
    pub fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on loopback")?;
        Ok(Self(listener))
    }

    /// One more, opened, accepted and closed.
    pub fn once(&self) -> Result<()> {
        let _client = TcpStream::connect(self.0.local_addr()?)?;
        let _server = self.0.accept()?;
        Ok(())
    }
}

/// The scenario's text, with its length as we need it.
fn lasting(name: &str) -> Result<String> {
    let path = paths::workspace().join(format!("scenarios/{name}.toml"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let line = |line: &str| match line.strip_prefix("seconds = ") {
        Some(_) => format!("seconds = {SECONDS}\n"),
        None => format!("{line}\n"),
    };
    Ok(text.lines().map(line).collect())
}
