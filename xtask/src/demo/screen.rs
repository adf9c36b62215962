//! The real screen in front of the flows.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::lab::cleanup;
use crate::lab::clock::{now_ns, seconds_ns};
use crate::lab::netns::die_with_parent;

use super::play::Play;

/// Between two looks at the flows.
const PAUSE: Duration = Duration::from_millis(200);

/// Shows the screen until it is left, or so many seconds have passed; returns what could not be shown.
pub fn show(tcpwin: &Path, args: &[OsString], seconds: Option<f64>) -> Result<Vec<String>> {
    // Before the screen: a signal that comes now finds something to take away.
    cleanup::on_signals()?;
    let end_ns = seconds.map(|seconds| now_ns() + seconds_ns(seconds));
    let mut screen = Screen::open(tcpwin, args)?;
    let mut play = Play::default();
    while !screen.is_left(if play.is_complete() { PAUSE } else { Duration::ZERO })? {
        if end_ns.is_some_and(|end_ns| now_ns() >= end_ns) {
            screen.leave();
        }
        play.go_on();
    }
    let status = screen.child.wait().context("cannot wait for tcpwin top")?;
    ensure!(status.success(), "`tcpwin top` ended with {status}");
    Ok(play.into_faults())
}

/// `tcpwin top` on our terminal. It ends by SIGTERM, also when this process does: so it gives the terminal back.
struct Screen {
    child: Child,
    pidfd: OwnedFd,
}

impl Screen {
    fn open(tcpwin: &Path, args: &[OsString]) -> Result<Self> {
        let mut top = Command::new(tcpwin);
        top.arg("top").args(args);
        die_with_parent(&mut top);
        let child = top
            .spawn()
            .with_context(|| format!("cannot start {}", tcpwin.display()))?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())
            .context("cannot watch the screen's process")?;
        Ok(Self { child, pidfd })
    }

    /// Waits so long at most.
    fn is_left(&self, within: Duration) -> Result<bool> {
        let mut ended = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let within = Timespec::try_from(within).context("a time span")?;
        Ok(retry_on_intr(|| poll(&mut ended, Some(&within)))? > 0)
    }

    fn leave(&self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
        let _ = self.child.wait();
    }
}
