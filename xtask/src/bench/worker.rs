//! The traffic of the bench, in processes of its own: they do what a line on stdin says, answer with a line on stdout, and
//! end with stdin.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::{env, io};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::bench::cpu::CpuClock;
use crate::bench::{hold, talk};
use crate::lab::netns::NetNs;

/// What a worker is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Holds connections to itself; says `ready` once they are open. `busy` and `idle` start and end the pings.
    Hold {
        /// Connections; twice as many sockets.
        pairs: usize,
        /// Where it listens.
        listen: SocketAddr,
        /// Between two pings of a connection while busy, ms.
        every_ms: u64,
    },
    /// Answers requests; says its port.
    Serve,
    /// Asks the server: `turns N` on one connection, `connects N` each on a new one; says `done`.
    Ask {
        /// The server.
        server: SocketAddr,
    },
}

/// Plays a role until stdin ends.
pub fn play(role: &str) -> Result<()> {
    let role: Role = serde_json::from_str(role).context("not a worker's role")?;
    match role {
        Role::Hold {
            pairs,
            listen,
            every_ms,
        } => hold::run(pairs, listen, every_ms),
        Role::Serve => talk::serve(),
        Role::Ask { server } => talk::ask(server),
    }
}

/// Says a line to who started us.
pub fn say(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .context("nobody listens any more")
}

/// A running worker; ended when dropped.
pub struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts one inside a namespace.
    pub fn start(netns: &NetNs, role: &Role) -> Result<Self> {
        let mut child = netns
            .command(env::current_exe().context("cannot find this program")?)?
            .args(["bench", "--worker", &serde_json::to_string(role)?])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a worker")?;
        let orders = child.stdin.take();
        let answers = child.stdout.take().context("the worker has no stdout")?;
        Ok(Self {
            child,
            orders,
            answers: BufReader::new(answers),
        })
    }

    /// The next line it says.
    pub fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        let length = self.answers.read_line(&mut line).context("reading a worker")?;
        if length == 0 {
            bail!("a worker ended: {}", self.child.wait()?);
        }
        Ok(line.trim().to_owned())
    }

    /// Tells it to do something and waits for its answer.
    pub fn order(&mut self, line: &str) -> Result<String> {
        let orders = self.orders.as_mut().context("the worker was told to end")?;
        // In one write: it may read without a buffer.
        orders
            .write_all(format!("{line}\n").as_bytes())
            .context("telling a worker")?;
        self.answer()
    }

    /// Its CPU time.
    pub fn clock(&self) -> Result<CpuClock> {
        CpuClock::of(self.child.id())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}
