//! A scenario's recording: what went into the agent's table while it ran, cut to the scenario's own hosts, and beside it the
//! events as they were told live. A replay has to tell the same ones, byte for byte.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::agent::Agent;
use super::clock::Timer;
use super::netns::die_with_parent;

/// How often it is looked whether anything is recorded yet. The first frame comes within a second.
const TRIES: usize = 100;
const PAUSE_NS: u64 = 100_000_000;

/// A `tcpwin trace` that records the scenario.
pub struct Recording {
    binary: PathBuf,
    child: Child,
    folder: PathBuf,
    name: String,
    /// The scenario's network namespaces.
    hosts: Vec<u64>,
}

impl Recording {
    /// Begins it, of all that the agent sees: the scenario's hosts are not there yet.
    pub fn begin(agent: &Agent, folder: &Path, name: &str) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let raw = folder.join(format!("{name}.raw"));
        let lines = folder.join(format!("{name}.live"));
        for old in [raw.clone(), folder.join(format!("{name}.tcpwin"))] {
            // A recording that is there already would be kept beside the new one.
            if old.exists() {
                fs::remove_file(&old).with_context(|| format!("cannot delete {}", old.display()))?;
            }
        }
        let told = File::create(&lines).with_context(|| format!("cannot create {}", lines.display()))?;
        let mut command = Command::new(agent.binary());
        command
            .args(["trace", "--json", "--connect", agent.url(), "--record"])
            .arg(&raw)
            .stdin(Stdio::null())
            .stdout(told);
        die_with_parent(&mut command);
        let child = command.spawn().context("cannot start tcpwin trace")?;
        let mut recording = Self {
            binary: agent.binary().to_owned(),
            child,
            folder: folder.to_owned(),
            name: name.to_owned(),
            hosts: Vec::new(),
        };
        let looks = Timer::every(PAUSE_NS)?;
        for _ in 0..TRIES {
            if raw.exists() {
                return Ok(recording);
            }
            if let Some(status) = recording.child.try_wait()? {
                bail!("tcpwin trace ended: {status}");
            }
            looks.wait();
        }
        bail!(
            "nothing was recorded within {} s",
            TRIES as u64 * PAUSE_NS / 1_000_000_000
        )
    }

    /// One of the scenario's hosts.
    pub fn has_host(&mut self, netns: u64) {
        if !self.hosts.contains(&netns) {
            self.hosts.push(netns);
        }
    }

    /// Ends it; cuts it to the scenario's hosts, and compares what a replay tells with what was told live.
    pub fn end(mut self) -> Result<()> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::INT).context("cannot end tcpwin trace")?;
        }
        let status = self.child.wait().context("tcpwin trace is lost")?;
        ensure!(status.success(), "tcpwin trace --record ended with {status}");
        let path = |ending: &str| self.folder.join(format!("{}.{ending}", self.name));
        let (raw, cut, live) = (path("raw"), path("tcpwin"), path("live"));
        let mut arguments = vec!["--record".into(), cut.clone().into_os_string()];
        for host in &self.hosts {
            arguments.extend(["--record-netns".into(), host.to_string().into()]);
        }
        self.replay(&raw, &arguments)?;
        let replayed = self.replay(&cut, &[])?;
        let told = fs::read_to_string(&live).context("the live events are gone")?;
        let golden: String = told
            .lines()
            .filter(|line| self.is_ours(line))
            .map(with_end)
            .collect();
        let ours: String = replayed.lines().map(with_end).collect();
        // The agent writes a frame at the end of an interval: what was told after the last one is not in the recording.
        ensure!(
            !ours.is_empty() && golden.starts_with(&ours),
            "a replay of {} tells other events than were told live ({})",
            cut.display(),
            live.display()
        );
        fs::write(path("jsonl"), ours)?;
        for done in [raw, live] {
            fs::remove_file(done)?;
        }
        Ok(())
    }

    fn replay(&self, file: &Path, arguments: &[std::ffi::OsString]) -> Result<String> {
        let output = Command::new(&self.binary)
            .args(["trace", "--json", "--replay"])
            .arg(file)
            .args(arguments)
            .output()
            .context("cannot start tcpwin trace --replay")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "tcpwin trace --replay {}: {}\n{said}",
            file.display(),
            output.status
        );
        String::from_utf8(output.stdout).context("events are text")
    }

    fn is_ours(&self, line: &str) -> bool {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let netns = event["netns"].as_u64().or(event["connection"]["netns"].as_u64());
        netns.is_some_and(|netns| self.hosts.contains(&netns))
    }
}

fn with_end(line: &str) -> String {
    format!("{line}\n")
}

/// A scenario that broke off leaves no process.
impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
