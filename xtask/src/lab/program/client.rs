//! Clients, and the count of what they moved.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use super::server::Log;
use super::spec::{Counted, ProgramSpec};
use crate::lab::net::Net;
use crate::lab::priority;
use crate::paths;

/// As much is moved at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// A running client; ended when dropped.
pub struct Client {
    child: Child,
    log: Log,
    moved: Moved,
}

/// Where its bytes are counted.
enum Moved {
    Counter(Arc<AtomicU64>),
    File(PathBuf),
}

impl Client {
    /// Starts it.
    pub fn start(net: &Net, spec: &ProgramSpec, dir: &Path) -> Result<Self> {
        let server = spec.server_side();
        let words = spec.client_words(net.address(server, false), dir);
        let (name, arguments) = words.split_first().ok_or_else(|| anyhow!("no client"))?;
        let program = paths::program(name).with_context(|| format!("{name} is not installed"))?;
        let piped = |counted| {
            if spec.counted == counted {
                Stdio::piped()
            } else {
                Stdio::null()
            }
        };
        let mut command = net.host(server.other()).command(program)?;
        priority::of_real_programs(&mut command);
        let mut child = command
            .args(arguments)
            .current_dir(dir)
            .env("HOME", dir)
            .stdin(piped(Counted::Input))
            .stdout(piped(Counted::Output))
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let stderr = child.stderr.take().ok_or_else(|| anyhow!("no stderr"))?;
        let (log, _) = Log::keep(stderr, "\0")?;
        let moved = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), _) => counted(move |counter| feed(stdin, counter))?,
            (_, Some(stdout)) => counted(move |counter| drain(stdout, counter))?,
            (None, None) => Moved::File(dir.join("got")),
        };
        Ok(Self { child, log, moved })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Bytes it has moved so far.
    pub fn moved_bytes(&self) -> u64 {
        match &self.moved {
            Moved::Counter(counter) => counter.load(Ordering::Relaxed),
            Moved::File(path) => fs::metadata(path).map_or(0, |file| file.len()),
        }
    }

    /// An error if it has ended.
    pub fn still_runs(&mut self) -> Result<()> {
        match self.child.try_wait().context("cannot wait for a client")? {
            Some(status) => bail!("a client ended with {status}:\n{}", self.log.text()),
            None => Ok(()),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn counted(task: impl FnOnce(&AtomicU64) -> io::Result<()> + Send + 'static) -> Result<Moved> {
    let counter = Arc::new(AtomicU64::new(0));
    let own = Arc::clone(&counter);
    thread::Builder::new()
        .name("lab-meter".into())
        .spawn(move || {
            // Whoever takes the bytes is as quick as who gives them.
            priority::of_a_program();
            task(&own)
        })
        .context("cannot start a thread")?;
    Ok(Moved::Counter(counter))
}

fn feed(mut to: impl Write, counter: &AtomicU64) -> io::Result<()> {
    let zeros = vec![0; CHUNK_BYTES];
    loop {
        let taken = to.write(&zeros)?;
        counter.fetch_add(taken as u64, Ordering::Relaxed);
    }
}

fn drain(mut from: impl Read, counter: &AtomicU64) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(()),
            got => counter.fetch_add(got as u64, Ordering::Relaxed),
        };
    }
}
