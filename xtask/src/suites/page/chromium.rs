//! A headless Chromium of our own, told what to do over its DevTools pipe: JSON messages with a NUL after each, written to
//! its descriptor 3 and read from its descriptor 4. No port, no helper program.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use std::{io, thread};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lab::netns::die_with_parent;

/// An answer that does not come by then does not come; generous, since machines are shared.
const PATIENCE: Duration = Duration::from_secs(120);

/// What makes it quiet, small and the same on every machine.
const FLAGS: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-pipe",
    // Root has no sandbox, and the page is ours.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en-US",
    "about:blank",
];

/// The browser; it ends when this is dropped.
pub struct Chromium {
    child: Child,
    commands: PipeWriter,
    answers: Receiver<Value>,
    /// Messages that came while another one was waited for.
    events: VecDeque<Value>,
    last_id: u64,
    /// Its profile.
    _dir: TempDir,
}

impl Chromium {
    /// Starts it.
    pub fn start(program: &Path) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let (commands_end, commands) = io::pipe()?;
        let (answers, answers_end) = io::pipe()?;
        let mut command = Command::new(program);
        command
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", dir.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        die_with_parent(&mut command);
        let (reads, writes) = (commands_end.as_raw_fd(), answers_end.as_raw_fd());
        // SAFETY: bare system calls between fork and exec. The four ends are open, so that 3 and 4 are none of the
        // descriptors that `Command` opens for itself after them.
        unsafe {
            command.pre_exec(move || {
                // First out of the way: either may be 3 or 4 itself.
                let reads = above(reads)?;
                let writes = above(writes)?;
                becomes(reads, 3)?;
                becomes(writes, 4)
            });
        }
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        drop((commands_end, answers_end));
        Ok(Self {
            child,
            commands,
            answers: read_on(answers)?,
            events: VecDeque::new(),
            last_id: 0,
            _dir: dir,
        })
    }

    /// Calls a method, of a session if there is one, and waits for what it returns.
    pub fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.commands
            .write_all(&text)
            .with_context(|| format!("Chromium is gone; {method}"))?;
        loop {
            let mut message = self.receive().with_context(|| method.to_owned())?;
            if message["id"] != id {
                self.events.push_back(message);
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(message["result"].take());
        }
    }

    /// What happened in the meantime, the oldest first.
    pub fn take_events(&mut self) -> impl Iterator<Item = Value> + '_ {
        self.events.extend(self.answers.try_iter());
        self.events.drain(..)
    }

    fn receive(&self) -> Result<Value> {
        self.answers
            .recv_timeout(PATIENCE)
            .map_err(|_| anyhow!("Chromium does not answer"))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends its own processes when it is asked; it cannot be asked if it is gone.
        let asked = self
            .commands
            .write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        if asked.is_err() || !self.says_good_bye() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Chromium {
    /// Whether its end of the pipe closes in time.
    fn says_good_bye(&self) -> bool {
        loop {
            match self.answers.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

/// A copy of the descriptor that is neither 3 nor 4.
fn above(fd: i32) -> io::Result<i32> {
    // SAFETY: a bare system call.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 10) } {
        -1 => Err(io::Error::last_os_error()),
        copy => Ok(copy),
    }
}

/// `fd` under this number, and open in the program to come.
fn becomes(fd: i32, number: i32) -> io::Result<()> {
    // SAFETY: a bare system call.
    match unsafe { libc::dup2(fd, number) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Messages as they come; the channel ends with the browser.
fn read_on(answers: PipeReader) -> Result<Receiver<Value>> {
    let (tell, coming) = mpsc::channel();
    let copy = move || {
        for part in BufReader::new(answers).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&part) else {
                return;
            };
            if tell.send(message).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("chromium".into())
        .spawn(copy)
        .context("cannot start a thread")?;
    Ok(coming)
}
