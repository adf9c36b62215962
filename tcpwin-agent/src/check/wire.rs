//! One TCP connection, bounded by a deadline, with a record of every byte and of when it passed.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::time::{ClockId, clock_gettime};

use super::stamp;
use super::stream::{Mark, Stream};
use crate::observation::TcpState;
use crate::observation::tcp_info::TcpInfo;
use crate::units::{Instant, Nanos};

/// `TCP_SYN_SENT`.
const SYN_SENT: u8 = TcpState::SynSent as u8;

/// The one place of this room that asks the clock.
pub fn now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Instant(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

/// The moment this long from now.
pub fn after(time: Nanos) -> Instant {
    Instant(now().0.saturating_add(time.0))
}

/// A connection that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A RST came back.
    #[error("{0} refuses connections: nothing listens there, or a firewall rejects them")]
    Refused(SocketAddr),
    /// Nothing came back.
    #[error("{0} does not answer within {1:.1} s: a firewall drops what is sent there, or the host is down")]
    TimedOut(SocketAddr, f64),
    /// There is no way there.
    #[error("{0} cannot be reached from this host: no route")]
    Unreachable(SocketAddr),
    /// Nothing was tried.
    #[error("the time for the whole check was up (--total)")]
    TimeUp,
    /// Any other answer of the kernel.
    #[error("cannot connect to {0}: {1}")]
    Other(SocketAddr, io::Error),
}

/// An open connection, or one whose SYN waits for the first bytes.
#[derive(Debug)]
pub struct Wire {
    socket: OwnedFd,
    deadline: Instant,
    /// When `connect` was called.
    pub began: Instant,
    /// When it was open; with Fast Open unknown, the SYN leaves with the first bytes.
    pub opened: Option<Instant>,
    /// What we sent.
    pub said: Stream,
    /// What came.
    pub heard: Stream,
}

impl Wire {
    /// Opens a connection.
    pub fn open(to: SocketAddr, within: Nanos) -> Result<Self, ConnectError> {
        let mut wire = Self::begin(to, within, false)?;
        wire.finish(to, within)?;
        Ok(wire)
    }

    /// Opens one with Fast Open: with a cookie in the kernel's cache the SYN waits for the first bytes to take along, without one it
    /// leaves at once and asks for one.
    pub fn open_fast(to: SocketAddr, within: Nanos) -> Result<Self, ConnectError> {
        let mut wire = Self::begin(to, within, true)?;
        if wire.opened.is_some() && wire.info().state() == Some(SYN_SENT) {
            // `connect` gave 0 though nothing was sent: tcp_fastopen_defer_connect().
            wire.opened = None;
            return Ok(wire);
        }
        wire.finish(to, within)?;
        Ok(wire)
    }

    fn begin(to: SocketAddr, within: Nanos, fast: bool) -> Result<Self, ConnectError> {
        if within.0 == 0 {
            return Err(ConnectError::TimeUp);
        }
        let other = |error: Errno| ConnectError::Other(to, error.into());
        let family = match to {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None).map_err(other)?;
        sockopt::set_tcp_nodelay(&socket, true).map_err(other)?;
        // Without them the moments are those at which we were woken, which are a little later.
        let _ = stamp::ask_for(&socket);
        if fast {
            set_fast_open(&socket).map_err(|error| ConnectError::Other(to, error))?;
        }
        let began = now();
        let opened = match rustix::net::connect(&socket, &to) {
            Ok(()) => Some(now()),
            Err(Errno::INPROGRESS) => None,
            Err(error) => return Err(refusal(to, error)),
        };
        Ok(Self {
            socket,
            deadline: Instant(began.0.saturating_add(within.0)),
            began,
            opened,
            said: Stream::default(),
            heard: Stream::default(),
        })
    }

    fn finish(&mut self, to: SocketAddr, within: Nanos) -> Result<(), ConnectError> {
        if self.opened.is_none() {
            match self.wait(PollFlags::OUT) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(ConnectError::TimedOut(to, within.seconds()));
                }
                Err(error) => return Err(ConnectError::Other(to, error)),
            }
            self.opened = Some(now());
            match sockopt::socket_error(&self.socket) {
                Ok(Ok(())) => {}
                Ok(Err(error)) | Err(error) => return Err(refusal(to, error)),
            }
        }
        Ok(())
    }

    /// What the kernel knows of it.
    pub fn info(&self) -> TcpInfo {
        let mut buffer = [0u8; 256];
        let mut length = buffer.len() as libc::socklen_t;
        // SAFETY: the descriptor is ours, the buffer is writable for `length` bytes, and the kernel sets how many it wrote.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                buffer.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        let length = if result == 0 { length as usize } else { 0 };
        TcpInfo::parse(&buffer[..length.min(buffer.len())])
    }

    /// From now on it may take until then, and no longer.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Until when it may take.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    fn wait(&self, what: PollFlags) -> io::Result<()> {
        loop {
            let left = self.deadline.since(now());
            if left.0 == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let limit = Timespec {
                tv_sec: i64::try_from(left.0 / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: (left.0 % 1_000_000_000) as _,
            };
            let mut fds = [PollFd::from_borrowed_fd(self.socket.as_fd(), what)];
            match poll(&mut fds, Some(&limit)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl io::Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match stamp::receive(&self.socket, buffer) {
                Ok((count, came)) => {
                    if count > 0 {
                        let read = now();
                        self.heard.add(
                            &buffer[..count],
                            Mark {
                                came: came.map_or(read, |came| came.min(read)),
                                read,
                                segments: self.info().data_segs_in(),
                                end: 0,
                            },
                        );
                    }
                    return Ok(count);
                }
                Err(Errno::AGAIN) => self.wait(PollFlags::IN)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl io::Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => {
                    let sent = now();
                    let mark = Mark {
                        came: sent,
                        read: sent,
                        segments: None,
                        end: 0,
                    };
                    self.said.add(&bytes[..count], mark);
                    return Ok(count);
                }
                // A deferred SYN that left with data: the rest waits for the answer.
                Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ALREADY) => self.wait(PollFlags::OUT)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refusal(to: SocketAddr, error: Errno) -> ConnectError {
    match error {
        Errno::CONNREFUSED => ConnectError::Refused(to),
        Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::ADDRNOTAVAIL => ConnectError::Unreachable(to),
        Errno::TIMEDOUT => ConnectError::TimedOut(to, 0.0),
        error => ConnectError::Other(to, error.into()),
    }
}

fn set_fast_open(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is ours, and the option is an int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_FASTOPEN_CONNECT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
