//! Flows: two worker processes, one in each host, with the limiting factor set by construction.
//!
//! The truth of a flow is what its receiver's program counted in its own bytes; nothing here reads what tcpwin reads,
//! save the kernel's counters that are printed beside it for comparison.

mod pattern;
mod program;
mod report;
mod send;
mod socket;
mod spec;
mod worker;

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

pub use pattern::{Method, Part, Pattern};
pub use report::{Reading, Report, TcpInfo};
pub use socket::option;
pub use spec::{Family, FlowSpec, WorkerSpec};
pub use worker::run as run_worker;

use super::clock::{now_ns, seconds_ns};
use super::net::{Net, Side};

/// How long the two sides have to connect; generous, since a guest may be slow.
const OPEN_LIMIT_S: f64 = 60.0;
/// How long a worker has to end once it was told to.
const END_LIMIT_S: f64 = 10.0;

/// One connection, seen from both ends.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The sender's end, IPv4 even when its socket is v4-mapped.
    pub local: SocketAddr,
    /// The receiver's end.
    pub peer: SocketAddr,
    /// The sender's readings, in order; the last one is its total once `sender_ended`.
    pub sender: Vec<Reading>,
    /// The receiver's readings.
    pub receiver: Vec<Reading>,
    /// The sender has reported its total.
    pub sender_ended: bool,
    /// The receiver has reported its total.
    pub receiver_ended: bool,
    /// Which ends have reported it open.
    seen: [bool; 2],
}

impl Connection {
    /// A connection of which nothing is known yet.
    pub fn new(local: SocketAddr, peer: SocketAddr) -> Self {
        Self {
            local,
            peer,
            sender: Vec::new(),
            receiver: Vec::new(),
            sender_ended: false,
            receiver_ended: false,
            seen: [false; 2],
        }
    }

    /// The last reading of one end: its total once it has ended.
    pub fn total(&self, side: Side) -> Reading {
        let readings = match side {
            Side::Sender => &self.sender,
            Side::Receiver => &self.receiver,
        };
        readings.last().copied().unwrap_or_default()
    }

    fn end(&mut self, side: Side) -> (&mut Vec<Reading>, &mut bool) {
        match side {
            Side::Sender => (&mut self.sender, &mut self.sender_ended),
            Side::Receiver => (&mut self.receiver, &mut self.receiver_ended),
        }
    }
}

/// Flows that run; they end when this is dropped.
pub struct FlowHandle {
    /// The sender's and the receiver's.
    workers: [Worker; 2],
    news: Receiver<(Side, Option<Report>)>,
    /// Which connection each worker's number is.
    numbers: [Vec<Option<usize>>; 2],
    ended: [bool; 2],
    connections: Vec<Connection>,
    started_ns: u64,
}

struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Worker {
    fn start(net: &Net, spec: &WorkerSpec, news: &Sender<(Side, Option<Report>)>) -> Result<Self> {
        let orders = serde_json::to_string(spec).context("cannot write the worker's orders")?;
        let mut child = net
            .host(spec.side)
            .command("/proc/self/exe")?
            .args(["lab", "--worker", &orders])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a flow's worker")?;
        let stdin = child.stdin.take();
        let stdout = child
            .stdout
            .take()
            .ok_or_else(|| anyhow!("a worker has no stdout"))?;
        let (side, news) = (spec.side, news.clone());
        let listen = move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let report = serde_json::from_str(&line).unwrap_or_else(|error| Report::Failed {
                    why: format!("unreadable report: {error}: {line}"),
                });
                if news.send((side, Some(report))).is_err() {
                    return;
                }
            }
            let _ = news.send((side, None));
        };
        thread::Builder::new()
            .name("lab-worker".into())
            .spawn(listen)
            .context("cannot start a thread")?;
        Ok(Self { child, stdin })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl FlowHandle {
    /// Starts both workers and waits until every connection is open at both ends.
    pub(super) fn start(net: &Net, flow: &FlowSpec) -> Result<Self> {
        let (tell, news) = mpsc::channel();
        let listens = flow.connects.other();
        let address = SocketAddr::new(net.address(listens, flow.family == Family::Ipv6), 0);
        let order = |side, listens, address| WorkerSpec {
            side,
            listens,
            address,
            flow: flow.clone(),
        };
        let listener = Worker::start(net, &order(listens, true, address), &tell)?;
        let address = match news.recv_timeout(Duration::from_secs_f64(OPEN_LIMIT_S)) {
            Ok((_, Some(Report::Listening { address }))) => address,
            Ok((_, Some(Report::Failed { why }))) => bail!("the listening worker failed: {why}"),
            other => bail!("the listening worker did not come up: {other:?}"),
        };
        let connector = Worker::start(net, &order(flow.connects, false, address), &tell)?;
        let workers = match listens {
            Side::Sender => [listener, connector],
            Side::Receiver => [connector, listener],
        };
        let mut handle = Self {
            workers,
            news,
            numbers: Default::default(),
            ended: [false; 2],
            connections: Vec::new(),
            started_ns: 0,
        };
        if !matches!(flow.pattern, Pattern::Short { .. }) {
            let limit = now_ns() + seconds_ns(OPEN_LIMIT_S);
            while handle.numbers.iter().any(|open| open.len() < flow.count) {
                if !handle.hear_one(limit)? {
                    bail!("the flow did not open within {OPEN_LIMIT_S} s");
                }
            }
        }
        handle.started_ns = now_ns();
        Ok(handle)
    }

    /// When every connection was open.
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// The connections so far.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// Takes reports until `until_ns`, or until both workers have ended.
    pub fn listen_until(&mut self, until_ns: u64) -> Result<()> {
        while !self.over() && self.hear_one(until_ns)? {}
        Ok(())
    }

    /// Takes reports for so long, or until both workers have ended.
    pub fn listen_for(&mut self, seconds: f64) -> Result<()> {
        self.listen_until(now_ns() + seconds_ns(seconds))
    }

    /// Waits for the flows to end by themselves.
    pub fn finish(&mut self, within_s: f64) -> Result<()> {
        self.listen_for(within_s)?;
        if self.over() {
            Ok(())
        } else {
            bail!("the flows did not end within {within_s} s")
        }
    }

    /// Ends the flows: the sender first, so that its total is not that of a reset connection.
    pub fn stop(&mut self) -> Result<()> {
        for side in [Side::Sender, Side::Receiver] {
            if let Some(mut stdin) = self.workers[side as usize].stdin.take() {
                // It may have ended by itself.
                let _ = stdin.write_all(b"stop\n");
            }
            let limit = now_ns() + seconds_ns(END_LIMIT_S);
            while !self.ended[side as usize] {
                if !self.hear_one(limit)? {
                    bail!("a worker did not end within {END_LIMIT_S} s");
                }
            }
        }
        Ok(())
    }

    /// Both workers have ended.
    pub fn over(&self) -> bool {
        self.ended == [true; 2]
    }

    /// Takes one report; false: none came until `until_ns`.
    fn hear_one(&mut self, until_ns: u64) -> Result<bool> {
        let wait = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
        match self.news.recv_timeout(wait) {
            Ok((side, Some(report))) => self.take(side, report)?,
            Ok((side, None)) => self.ended[side as usize] = true,
            Err(RecvTimeoutError::Timeout) => return Ok(false),
            Err(RecvTimeoutError::Disconnected) => bail!("both workers are gone"),
        }
        Ok(true)
    }

    fn take(&mut self, side: Side, report: Report) -> Result<()> {
        match report {
            Report::Listening { .. } => {}
            Report::Open { flow, local, peer } => self.open(side, flow, canonical(local), canonical(peer)),
            Report::Tick { flow, reading } => {
                if let Some(connection) = self.connection(side, flow)
                    && !*connection.end(side).1
                {
                    connection.end(side).0.push(reading);
                }
            }
            Report::Total { flow, reading } => {
                if let Some(connection) = self.connection(side, flow) {
                    let (readings, ended) = connection.end(side);
                    if !*ended {
                        readings.push(reading);
                        *ended = true;
                    }
                }
            }
            Report::Failed { why } => bail!("the {side:?} worker failed: {why}"),
        }
        Ok(())
    }

    fn open(&mut self, side: Side, flow: usize, own: SocketAddr, other: SocketAddr) {
        let (local, peer) = match side {
            Side::Sender => (own, other),
            Side::Receiver => (other, own),
        };
        // A port may come again with a later short connection: the other end of this one is one that lacks this end.
        let index = self
            .connections
            .iter()
            .rposition(|known| known.local == local && known.peer == peer && !known.seen[side as usize]);
        let index = index.unwrap_or_else(|| {
            self.connections.push(Connection::new(local, peer));
            self.connections.len() - 1
        });
        self.connections[index].seen[side as usize] = true;
        let numbers = &mut self.numbers[side as usize];
        if numbers.len() <= flow {
            numbers.resize(flow + 1, None);
        }
        numbers[flow] = Some(index);
    }

    fn connection(&mut self, side: Side, flow: usize) -> Option<&mut Connection> {
        let index = (*self.numbers[side as usize].get(flow)?)?;
        self.connections.get_mut(index)
    }
}

/// The address as tcpwin prints it: IPv4 even on a v4-mapped socket.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
