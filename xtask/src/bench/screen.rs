//! What the live screen costs: `tcpwin top` in a terminal of its own, which takes what is drawn and shows it to nobody.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::bench::cpu::{CpuClock, Resident};
use crate::bench::stat::Figure;
use crate::lab::clock::{Timer, now_ns};
use crate::lab::netns::tool;

const SECOND_NS: u64 = 1_000_000_000;
/// Seconds after all connections are on the screen that are not measured.
const SETTLE: usize = 5;
/// Seconds that they may take to come.
const LIMIT_S: u64 = 60;
/// What is typed into the filter, a letter at a time: each one arranges the table anew.
const TYPED: &str = "/worker and rtt";
/// Between two letters.
const PAUSE_NS: u64 = SECOND_NS / 2;

/// `tcpwin top` in a terminal of 200 cells and 50 lines.
pub struct Screen {
    tmux: PathBuf,
    dir: TempDir,
    pid: u32,
    clock: CpuClock,
}

impl Screen {
    /// Starts it with arguments, and waits until it shows so many connections.
    pub fn start(tcpwin: &Path, arguments: &[&str], sockets: usize) -> Result<Self> {
        let (tmux, dir) = (tool("tmux")?, tempfile::tempdir()?);
        let command = format!("exec {} top {}", tcpwin.display(), arguments.join(" "));
        let new = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "bench",
            "-x",
            "200",
            "-y",
            "50",
        ];
        told(&tmux, &dir, &[new.as_slice(), &[&command]].concat())?;
        let pid = told(
            &tmux,
            &dir,
            &["display-message", "-p", "-t", "=bench:", "#{pane_pid}"],
        )?;
        let pid = pid.trim().parse().context("tcpwin's pid")?;
        let screen = Self {
            tmux,
            dir,
            pid,
            clock: CpuClock::of(pid)?,
        };
        screen.shows(sockets)?;
        screen.each(SECOND_NS, SETTLE, |_| Ok(()))?;
        Ok(screen)
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String> {
        told(&self.tmux, &self.dir, arguments)
    }

    /// Waits until the header tells of as many connections.
    fn shows(&self, sockets: usize) -> Result<()> {
        let limit = now_ns() + LIMIT_S * SECOND_NS;
        let timer = Timer::every(SECOND_NS / 5)?;
        loop {
            let seen = self.tmux(&["capture-pane", "-p", "-t", "=bench:"])?;
            let counts = seen
                .lines()
                .filter_map(|line| line.trim().split_once(" connections"));
            let shown = counts.filter_map(|(count, _)| count.replace(',', "").parse::<usize>().ok());
            if shown.max().is_some_and(|shown| shown >= sockets) {
                return Ok(());
            }
            ensure!(
                now_ns() < limit,
                "the screen does not show {sockets} connections:\n{seen}"
            );
            timer.wait();
        }
    }

    /// CPU time of each of the next periods, ns, with what is done at its start.
    fn each(
        &self,
        period_ns: u64,
        count: usize,
        mut act: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let timer = Timer::every(period_ns)?;
        let mut spent = Vec::with_capacity(count);
        for at in 0..count {
            let (begin, before) = (now_ns(), self.clock.now_ns()?);
            act(at)?;
            timer.wait();
            let elapsed = (now_ns() - begin) as f64 / period_ns as f64;
            spent.push((self.clock.now_ns()? - before) as f64 / elapsed);
        }
        Ok(spent)
    }

    /// CPU time a second, ns, the mean of so many.
    pub fn cpu_per_second(&self, seconds: usize) -> Result<Figure> {
        let spent = self.each(SECOND_NS, seconds, |_| Ok(()))?;
        mean(&spent)
    }

    /// CPU time of a letter in the filter, from the key to the frame, ns; what the screen does anyway is taken off.
    pub fn keystroke(&self, idle: Figure) -> Result<Figure> {
        let anyway = idle.median * PAUSE_NS as f64 / SECOND_NS as f64;
        let letters: Vec<String> = TYPED.chars().map(String::from).collect();
        let typed = self.each(PAUSE_NS, letters.len(), |at| {
            self.tmux(&["send-keys", "-t", "=bench:", "-l", &letters[at]])
                .map(drop)
        })?;
        self.tmux(&["send-keys", "-t", "=bench:", "Escape"])?;
        let net: Vec<f64> = typed.iter().map(|spent| spent - anyway).collect();
        mean(&net)
    }

    /// Resident memory.
    pub fn resident(&self) -> Result<Resident> {
        Resident::of(self.pid)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Fails where the terminal has gone already; tcpwin ends with it.
        let _ = self.tmux(&["kill-server"]);
    }
}

fn mean(samples: &[f64]) -> Result<Figure> {
    let spread = Figure::of(samples).context("no samples")?;
    Ok(Figure {
        median: samples.iter().sum::<f64>() / samples.len() as f64,
        ..spread
    })
}

fn told(tmux: &Path, dir: &TempDir, arguments: &[&str]) -> Result<String> {
    let output = Command::new(tmux)
        .arg("-u")
        .arg("-S")
        .arg(dir.path().join("socket"))
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "screen-256color")
        .env_remove("TMUX")
        .stdin(Stdio::null())
        .output()
        .context("cannot run tmux")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "tmux {arguments:?}: {}",
        complaint.trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
