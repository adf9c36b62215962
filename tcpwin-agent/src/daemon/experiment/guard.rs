//! The process that takes changes back.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::Place;
use super::edit::{self, State};
use crate::doctor::SettingEdit;

/// What the guard says once it has the list and will act on it.
const READY: &str = "ready";

/// What it is told.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    place: Place,
    /// The way back, in order.
    undo: Vec<SettingEdit>,
    /// After this time it goes it even if nobody has died.
    most_s: u64,
}

/// What it says of each at the end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Restored(String),
    Left(String),
}

/// The guard, from the experiment's end.
pub(super) struct Guard {
    orders: Orders,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Guard {
    /// Starts it, and waits until it is ready: nothing may be changed before.
    pub(super) fn start(place: &Place, undo: &[SettingEdit], most: Duration) -> anyhow::Result<Self> {
        // This very program, even if its file was replaced since.
        let mut command = Command::new("/proc/self/exe");
        command
            .arg("restore")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A session of its own: neither Ctrl-C nor a killed process group reaches it.
        // SAFETY: one bare system call between fork and exec.
        unsafe {
            command.pre_exec(|| Ok(rustix::process::setsid().map(|_| ())?));
        }
        let mut child = command
            .spawn()
            .context("cannot start the guard that takes changes back")?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the guard has no pipes");
        };
        let mut guard = Self {
            orders: Orders {
                place: place.clone(),
                undo: undo.to_vec(),
                most_s: most.as_secs() + 1,
            },
            child,
            stdin,
            stdout: BufReader::new(stdout),
        };
        let line = serde_json::to_string(&guard.orders)? + "\n";
        guard
            .stdin
            .write_all(line.as_bytes())
            .context("cannot tell the guard what to take back")?;
        let mut ready = String::new();
        guard
            .stdout
            .read_line(&mut ready)
            .context("the guard does not answer")?;
        if ready.trim_end() != READY {
            bail!("the guard did not start; nothing was changed");
        }
        Ok(guard)
    }

    /// Lets it take everything back; what was, and what could not be. Should the guard have died, it is done here.
    pub(super) fn release(self) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let Self {
            orders,
            mut child,
            stdin,
            mut stdout,
        } = self;
        drop(stdin);
        let mut text = String::new();
        stdout.read_to_string(&mut text).context("the guard broke off")?;
        let status = child.wait().context("cannot wait for the guard")?;
        let said = text
            .lines()
            .map(|line| serde_json::from_str(line).context("the guard's words"));
        let mut words: Vec<Word> = said.collect::<anyhow::Result<_>>()?;
        if !status.success() {
            words.extend(orders.carry_out());
        }
        let (mut restored, mut left) = (Vec::new(), Vec::new());
        for word in words {
            match word {
                Word::Restored(what) => restored.push(what),
                Word::Left(what) => left.push(what),
            }
        }
        Ok((restored, left))
    }
}

impl Orders {
    /// Goes the way back; a change that was not made, or is taken back already, is passed over.
    fn carry_out(&self) -> impl Iterator<Item = Word> {
        self.undo
            .iter()
            .filter_map(|edit| match self.place.inside(|| take_back(edit)) {
                Ok(word) => word,
                Err(error) => Some(Word::Left(format!("{edit}: {error:#}"))),
            })
    }
}

/// The guard itself: reads what to undo, waits for the end of its standard input, and undoes it.
///
/// # Errors
/// When it was told nothing.
pub fn restore() -> anyhow::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let mut stdin = io::stdin().lock();
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    let orders: Orders =
        serde_json::from_str(&line).context("`tcpwin restore` is for `tcpwin doctor --apply` to start")?;
    say(READY);
    wait_for_the_end(orders.most_s)?;
    for word in orders.carry_out() {
        say(&serde_json::to_string(&word)?);
    }
    Ok(())
}

/// Whoever would read it may be dead.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Nothing is ever written after the first line: the pipe becomes readable when its other end is closed.
fn wait_for_the_end(most_s: u64) -> anyhow::Result<()> {
    let stdin = io::stdin();
    let mut wanted = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec {
        tv_sec: i64::try_from(most_s)?,
        tv_nsec: 0,
    };
    loop {
        match poll(&mut wanted, Some(&time)) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map(|_| ()).context("cannot wait for the experiment's end"),
        }
    }
}

/// `None`: the change had not been made yet.
fn take_back(edit: &SettingEdit) -> anyhow::Result<Option<Word>> {
    match edit::state(edit)? {
        State::Old => {
            edit::make(edit)?;
            Ok(Some(Word::Restored(edit.to_string())))
        }
        State::New => Ok(None),
        // Somebody else has changed it meanwhile: it is theirs now.
        State::Other(now) => Ok(Some(Word::Left(format!("{edit}: {now}")))),
    }
}
