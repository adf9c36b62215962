//! A worker: one side of a flow, in its own process inside its host's namespace. It reports JSON lines on stdout and
//! ends when its connections do, when a line comes on stdin, or when stdin closes.

use std::ffi::CString;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

use super::pattern::Pattern;
use super::program;
use super::report::{Reading, Report, TcpInfo};
use super::socket;
use super::spec::WorkerSpec;
use crate::lab::clock::{Timer, now_ns};
use crate::lab::net::Side;
use crate::lab::priority;

/// Bytes of the connection that warms the peer's metrics up.
const WARM_UP_BYTES: u64 = 100_000;

/// A connection and what its program has moved.
pub struct Connection {
    pub stream: TcpStream,
    pub bytes: AtomicU64,
    pub calls: AtomicU64,
    pub back_bytes: AtomicU64,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            back_bytes: AtomicU64::new(0),
        }
    }

    fn reading(&self) -> Reading {
        Reading {
            at_ns: now_ns(),
            bytes: self.bytes.load(Ordering::Relaxed),
            calls: self.calls.load(Ordering::Relaxed),
            back_bytes: self.back_bytes.load(Ordering::Relaxed),
            tcp: TcpInfo::of(self.stream.as_fd()).unwrap_or_default(),
        }
    }

    fn open(&self, flow: usize) -> Result<Report> {
        Ok(Report::Open {
            flow,
            local: self.stream.local_addr().context("getsockname")?,
            peer: self.stream.peer_addr().context("getpeername")?,
        })
    }
}

/// Plays one side of a flow, as told by `spec` (JSON of [`WorkerSpec`]).
pub fn run(spec: &str) -> Result<()> {
    let spec: WorkerSpec = serde_json::from_str(spec).context("cannot read the worker's orders")?;
    if let Some(name) = spec.flow.names.get(&spec.side) {
        // Before there is a socket: who opens it is told by this name. Cut by the kernel at 15 bytes.
        rustix::thread::set_name(&CString::new(name.as_str())?)?;
    }
    priority::of_a_program();
    play(&Arc::new(spec)).inspect_err(|error| {
        say(&Report::Failed {
            why: format!("{error:#}"),
        })
    })
}

fn play(spec: &Arc<WorkerSpec>) -> Result<()> {
    let door = Door::new(spec)?;
    if spec.flow.warm_up {
        let first = Connection::new(door.next()?);
        program::bulk(&first, spec, WARM_UP_BYTES)?;
    }
    let (done, finished) = rustix::pipe::pipe().context("cannot create a pipe")?;
    let finished = Arc::new(finished);
    let mut connections = Vec::new();
    if let Pattern::Short {
        connections: each,
        bytes,
    } = spec.flow.pattern
    {
        let door = Arc::new(door);
        let number = Arc::new(AtomicUsize::new(0));
        for _ in 0..spec.flow.count {
            let (spec, door, number) = (Arc::clone(spec), Arc::clone(&door), Arc::clone(&number));
            let finished = Arc::clone(&finished);
            start(move || {
                let _finished = finished;
                (0..each).try_for_each(|_| short(&spec, &door, bytes, number.fetch_add(1, Ordering::Relaxed)))
            })?;
        }
    } else {
        for flow in 0..spec.flow.count {
            let connection = Arc::new(Connection::new(door.next()?));
            say(&connection.open(flow)?);
            connections.push(Arc::clone(&connection));
        }
        for (flow, connection) in connections.iter().enumerate() {
            let (spec, connection) = (Arc::clone(spec), Arc::clone(connection));
            let finished = Arc::clone(&finished);
            start(move || {
                let _finished = finished;
                let ended = program::run(&connection, &spec);
                say(&Report::Total {
                    flow,
                    reading: connection.reading(),
                });
                ended
            })?;
        }
    }
    // The pipe closes when the last program has ended.
    drop(finished);
    let timer = Timer::every(spec.flow.tick_ms.max(1) * 1_000_000)?;
    let stdin = io::stdin();
    loop {
        let mut watched = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(&done, PollFlags::IN),
            PollFd::new(timer.fd(), PollFlags::IN),
        ];
        retry_on_intr(|| poll(&mut watched, None)).context("poll")?;
        let [told, ended, ticked] = watched.map(|fd| !fd.revents().is_empty());
        if ended {
            return Ok(());
        }
        if told {
            for (flow, connection) in connections.iter().enumerate() {
                say(&Report::Total {
                    flow,
                    reading: connection.reading(),
                });
            }
            std::process::exit(0);
        }
        if ticked {
            timer.wait();
            for (flow, connection) in connections.iter().enumerate() {
                say(&Report::Tick {
                    flow,
                    reading: connection.reading(),
                });
            }
        }
    }
}

fn start(task: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    let run = || {
        if let Err(error) = task() {
            say(&Report::Failed {
                why: format!("{error:#}"),
            });
        }
    };
    thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(run)
        .context("cannot start a thread")?;
    Ok(())
}

fn short(spec: &WorkerSpec, door: &Door, bytes: u64, flow: usize) -> Result<()> {
    let connection = Connection::new(door.next()?);
    say(&connection.open(flow)?);
    program::bulk(&connection, spec, bytes)?;
    say(&Report::Total {
        flow,
        reading: connection.reading(),
    });
    Ok(())
}

/// Where connections come from.
enum Door {
    Listener(TcpListener, Arc<WorkerSpec>),
    Connector(SocketAddr, Arc<WorkerSpec>),
}

impl Door {
    fn new(spec: &Arc<WorkerSpec>) -> Result<Self> {
        if !spec.listens {
            return Ok(Self::Connector(spec.address, Arc::clone(spec)));
        }
        let listener = socket::listener(spec.address, spec.socket(), spec.flow.family)?;
        let port = listener.local_addr().context("getsockname")?.port();
        say(&Report::Listening {
            address: SocketAddr::new(spec.address.ip(), port),
        });
        Ok(Self::Listener(listener, Arc::clone(spec)))
    }

    fn next(&self) -> Result<TcpStream> {
        match self {
            Self::Listener(listener, spec) => {
                let (stream, _) = listener.accept().context("cannot accept")?;
                socket::after_open(&stream, spec.socket())?;
                Ok(stream)
            }
            Self::Connector(address, spec) => socket::connected(*address, spec.socket(), spec.flow.family),
        }
    }
}

impl WorkerSpec {
    /// Whether this side's data is what the flow is about.
    pub fn sends(&self) -> bool {
        self.side == Side::Sender
    }
}

/// One line, whole, at once.
fn say(report: &Report) {
    let Ok(mut line) = serde_json::to_vec(report) else {
        return;
    };
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    // The parent is gone: nothing to say it to, and stdin ends this worker too.
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
}
