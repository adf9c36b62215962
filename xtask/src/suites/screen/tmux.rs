//! A terminal that nobody looks at but the test: tmux, with a server of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use crate::lab::clock::{Timer, now_ns, seconds_ns};
use crate::lab::traffic::Traffic;

/// A screen that does not come by then does not come; generous, since machines are shared.
const LIMIT_S: f64 = 60.0;
/// How often it is looked at.
const LOOK_S: f64 = 0.1;
/// Target of every command: the one session there is.
const SESSION: &str = "=person:";

/// Somebody at a shell in a terminal, while the flow goes on.
pub struct Person {
    program: PathBuf,
    flow: Traffic,
    dir: TempDir,
}

impl Person {
    /// Opens the terminal: 120 cells, 36 lines, a shell that says `prompt`.
    pub fn sit_down(program: &Path, flow: Traffic, prompt: &str) -> Result<Self> {
        let mut person = Self {
            program: program.to_owned(),
            flow,
            dir: tempfile::tempdir()?,
        };
        // Monitor mode, or there is no job control.
        let shell = format!("PS1='{prompt} ' TERM=screen-256color exec sh -i -m");
        person.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "person",
            "-x",
            "120",
            "-y",
            "36",
            &shell,
        ])?;
        // What programs copy goes into tmux's buffer; the size is ours, not that of a client there is none of.
        person.tmux(&["set-option", "-s", "set-clipboard", "on"])?;
        person.tmux(&["set-option", "-g", "window-size", "manual"])?;
        person.sees("the shell", |screen| screen.contains(prompt))?;
        Ok(person)
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) -> Result<()> {
        self.type_text(text)?;
        self.keys(&["Enter"])
    }

    /// Types letters.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.tmux(&["send-keys", "-t", SESSION, "-l", text]).map(drop)
    }

    /// Presses keys, as tmux names them.
    pub fn keys(&mut self, keys: &[&str]) -> Result<()> {
        for key in keys {
            self.tmux(&["send-keys", "-t", SESSION, key])?;
            // An Escape and the key after it are two keys only with time between them.
            self.flow.listen_until(now_ns() + seconds_ns(LOOK_S))?;
        }
        Ok(())
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, width: u16, height: u16) -> Result<()> {
        let (width, height) = (width.to_string(), height.to_string());
        self.tmux(&["resize-window", "-t", SESSION, "-x", &width, "-y", &height])
            .map(drop)
    }

    /// Looks at the screen until it shows what is wanted.
    pub fn sees(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<()> {
        self.until(what, |person| {
            let screen = person.tmux(&["capture-pane", "-p", "-t", SESSION])?;
            Ok(if wanted(&screen) { Ok(()) } else { Err(screen) })
        })
    }

    /// Looks at what was copied until it has `text` in it.
    pub fn has_copied(&mut self, text: &str) -> Result<()> {
        self.until(text, |person| {
            // It is an error to ask while there is no buffer.
            let buffer = person.tmux(&["show-buffer"]).unwrap_or_default();
            Ok(if buffer.contains(text) {
                Ok(())
            } else {
                Err(buffer)
            })
        })
    }

    fn until(&mut self, what: &str, look: impl Fn(&mut Self) -> Result<Result<(), String>>) -> Result<()> {
        let limit_ns = now_ns() + seconds_ns(LIMIT_S);
        loop {
            match look(self)? {
                Ok(()) => return Ok(()),
                Err(seen) if now_ns() >= limit_ns => bail!("{what} does not come; this is there:\n{seen}"),
                Err(_) => self.flow.listen_until(now_ns() + seconds_ns(LOOK_S))?,
            }
        }
    }

    /// Processes that the shell has started.
    pub fn children(&mut self) -> Result<Vec<u32>> {
        let shell = self.tmux(&["display-message", "-p", "-t", SESSION, "#{pane_pid}"])?;
        let shell: u32 = shell.trim().parse().context("the shell's pid")?;
        let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"))?;
        Ok(children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect())
    }

    /// Takes the terminal away.
    pub fn stands_up(mut self) -> Result<()> {
        self.tmux(&["kill-server"]).map(drop)
    }

    fn tmux(&mut self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(&self.program)
            .arg("-u")
            .arg("-S")
            .arg(self.dir.path().join("socket"))
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .env_remove("NO_COLOR")
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
}

impl Drop for Person {
    fn drop(&mut self) {
        // Fails where the server has ended already.
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Waits until none of the processes runs.
pub fn is_gone(processes: &[u32]) -> Result<()> {
    let limit_ns = now_ns() + seconds_ns(LIMIT_S);
    let timer = Timer::every(seconds_ns(LOOK_S))?;
    while processes.iter().any(|pid| runs(*pid)) {
        ensure!(now_ns() < limit_ns, "{processes:?} still run without a terminal");
        timer.wait();
    }
    Ok(())
}

/// One that has ended and that its parent has not asked for yet (`Z`) runs no more: the shell is gone, and whoever inherits
/// its children takes his time.
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(") ")?.1.chars().next())
        .is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
