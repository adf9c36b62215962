//! Real programs: nginx, curl, nghttp, OpenSSH as Debian ships them, with the limit set by their own configuration.
//!
//! The truth is what the client moved, counted at its standard output or input, and the window that was configured. The
//! kernel is asked of the programs' own sockets, only for what stands beside the truth.

mod client;
mod server;
mod sockets;
mod spec;

use std::os::fd::AsFd;

use anyhow::{Result, bail};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, kill_process};

use client::Client;
use server::Server;
use sockets::Held;

pub use spec::ProgramSpec;

use super::clock::{Timer, now_ns, seconds_ns};
use super::flow::{Connection, Reading, TcpInfo};
use super::net::{Net, Side};

/// Time between two readings of each connection.
const TICK_NS: u64 = 50_000_000;
/// How long the clients have to connect.
const OPEN_LIMIT_S: f64 = 30.0;

/// Programs that run; they end when this is dropped.
pub struct Programs {
    // Before the server: it ends well when its clients are gone.
    clients: Vec<Client>,
    server: Server,
    sessions: Sessions,
    /// Of each client: the sender's and the receiver's socket.
    ends: Vec<[Held; 2]>,
    connections: Vec<Connection>,
    /// Both ends' bytes are the client's where it uploads.
    client_sends: bool,
    timer: Timer,
    started_ns: u64,
    // Last, when nobody uses it any more.
    _dir: tempfile::TempDir,
}

/// The processes that a server made for its connections: they may outlive it.
struct Sessions {
    netns: u64,
    pids: Vec<u32>,
}

impl Programs {
    /// Starts server and clients and waits until every client is connected.
    pub fn start(net: &Net, spec: &ProgramSpec) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let server = Server::start(net, spec, dir.path())?;
        let clients = (0..spec.count)
            .map(|_| Client::start(net, spec, dir.path()))
            .collect::<Result<Vec<_>>>()?;
        let served = spec.server_side();
        let mut programs = Self {
            clients,
            server,
            sessions: Sessions {
                netns: net.host(served).inode()?,
                pids: Vec::new(),
            },
            ends: Vec::new(),
            connections: Vec::new(),
            client_sends: served == Side::Receiver,
            timer: Timer::new()?,
            started_ns: 0,
            _dir: dir,
        };
        programs.wait_open(net, served)?;
        programs.started_ns = now_ns();
        Ok(programs)
    }

    /// A program does not say when it is connected: looks for the sockets once a tick.
    fn wait_open(&mut self, net: &Net, served: Side) -> Result<()> {
        let limit_ns = now_ns() + seconds_ns(OPEN_LIMIT_S);
        let netns = [net.host(served).inode()?, net.host(served.other()).inode()?];
        while !self.find_ends(netns) {
            if now_ns() > limit_ns {
                bail!(
                    "the clients did not connect within {OPEN_LIMIT_S} s:\n{}",
                    self.server.last_lines()
                );
            }
            self.clients.iter_mut().try_for_each(Client::still_runs)?;
            self.wait_until(now_ns() + TICK_NS)?;
        }
        Ok(())
    }

    fn find_ends(&mut self, [server, client]: [u64; 2]) -> bool {
        let (mut served, mut connected) = (sockets::held_in(server), sockets::held_in(client));
        let mut ends = Vec::new();
        for client in &self.clients {
            let own = |held: &Held| sockets::comes_from(held.pid, client.pid());
            let found = connected.iter().position(|held| {
                own(held)
                    && served
                        .iter()
                        .any(|other| (other.local, other.peer) == (held.peer, held.local))
            });
            let Some(found) = found else { return false };
            let near = connected.swap_remove(found);
            let is_other = |other: &Held| (other.local, other.peer) == (near.peer, near.local);
            self.sessions.pids.extend(
                served
                    .iter()
                    .filter(|other| is_other(other))
                    .map(|other| other.pid),
            );
            let Some(found) = served.iter().position(is_other) else {
                return false;
            };
            let far = served.swap_remove(found);
            ends.push(if self.client_sends {
                [near, far]
            } else {
                [far, near]
            });
        }
        self.connections = ends
            .iter()
            .map(|[sender, _]| Connection::new(sender.local, sender.peer))
            .collect();
        self.ends = ends;
        true
    }

    /// When every client was connected.
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// One a client.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// Reads every connection each tick until then.
    pub fn listen_until(&mut self, until_ns: u64) -> Result<()> {
        while now_ns() < until_ns {
            self.wait_until(until_ns.min(now_ns() + TICK_NS))?;
            self.clients.iter_mut().try_for_each(Client::still_runs)?;
            self.read();
        }
        Ok(())
    }

    fn read(&mut self) {
        let each = self.connections.iter_mut().zip(&self.ends).zip(&self.clients);
        for ((connection, ends), client) in each {
            let [sent, received] = ends.each_ref().map(|end| Reading {
                at_ns: now_ns(),
                tcp: TcpInfo::of(end.socket.as_fd()).unwrap_or_default(),
                ..Reading::default()
            });
            let moved = client.moved_bytes();
            let bytes = if self.client_sends {
                moved
            } else {
                // What the server's program wrote is not told; what its kernel got acknowledged is.
                sent.tcp.bytes_acked
            };
            connection.sender.push(Reading { bytes, ..sent });
            connection.receiver.push(Reading {
                bytes: moved,
                ..received
            });
        }
    }

    fn wait_until(&self, at_ns: u64) -> Result<()> {
        self.timer.arm_at(at_ns)?;
        let mut fired = [PollFd::new(self.timer.fd(), PollFlags::IN)];
        retry_on_intr(|| poll(&mut fired, None))?;
        self.timer.wait();
        Ok(())
    }

    /// Ends clients and server.
    pub fn stop(&mut self) {
        self.clients.clear();
        self.sessions.end();
    }
}

impl Sessions {
    fn end(&mut self) {
        for pid in self.pids.drain(..) {
            // Its number may be somebody else's by now, but not in this namespace.
            if sockets::is_in(pid, self.netns)
                && let Some(pid) = pid.try_into().ok().and_then(Pid::from_raw)
            {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.end();
    }
}
