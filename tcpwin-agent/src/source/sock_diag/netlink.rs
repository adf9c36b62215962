//! The two netlink sockets of a namespace: one that is asked, one that is told of destroyed sockets.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use super::decode::{self, Malformed, Message, NLM_F_DUMP_INTR, NLMSG_DONE, NLMSG_ERROR};
use super::record::Record;
use super::request::{self, Dump, SOCK_DIAG_BY_FAMILY, TCPDIAG_GETSOCK, Wanted};
use crate::observation::Endpoints;
use crate::source::kernel_clock;
use crate::units::Instant;

/// Larger than the 32 KiB that the kernel puts in one datagram of a dump (`netlink_recvmsg`).
pub const BUFFER: usize = 64 << 10;
/// `1 << (SKNLGRP_INET_TCP_DESTROY - 1) | 1 << (SKNLGRP_INET6_TCP_DESTROY - 1)`.
const TCP_DESTROY: u32 = 1 << 0 | 1 << 2;
/// Memory for destroyed sockets that were not read yet: some 8,000 of them.
const EVENTS_MEMORY: usize = 8 << 20;
/// A dump answers at once; this only keeps a broken kernel from holding the daemon.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a dump went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dumped {
    /// Messages that could not be decoded.
    pub undecoded: u64,
    /// If the kernel said that its table changed under the dump (`NLM_F_DUMP_INTR`).
    pub interrupted: bool,
    /// Times the receive queue overflowed.
    pub overruns: u64,
}

impl Dumped {
    /// If every socket was in it: what is missing is gone.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self.undecoded == 0 && !self.interrupted && self.overruns == 0
    }

    fn malformed(&mut self, _: Malformed) {
        self.undecoded += 1;
    }
}

/// A socket that is asked.
#[derive(Debug)]
pub struct Questions {
    socket: OwnedFd,
    sequence: u32,
    by_family: bool,
    stale: bool,
}

impl Questions {
    /// In the network namespace of the calling thread.
    ///
    /// # Errors
    /// When the kernel has no `NETLINK_SOCK_DIAG` or refuses it.
    pub fn open() -> io::Result<Self> {
        let socket = open(0)?;
        sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self {
            socket,
            sequence: 0,
            by_family: false,
            stale: false,
        })
    }

    /// Hands every TCP socket of [`request::STATES`] to `each` with what is wanted of it and the time of its reading, in the order of the
    /// kernel's table.
    ///
    /// # Errors
    /// When the kernel refuses; what was handed over stays right.
    pub fn dump(
        &mut self,
        wanted: Wanted,
        buffer: &mut [u8],
        each: &mut dyn FnMut(Instant, Record),
    ) -> io::Result<Dumped> {
        let mut dumped = Dumped::default();
        if !self.by_family {
            match self.dump_one(Dump::AnyFamily, wanted, buffer, &mut dumped, each) {
                // A kernel without the older message.
                Err(cause)
                    if matches!(
                        errno(&cause),
                        Some(Errno::NOENT | Errno::INVAL | Errno::OPNOTSUPP)
                    ) =>
                {
                    self.by_family = true;
                }
                other => return other.map(|()| dumped),
            }
        }
        self.dump_one(Dump::Family(request::AF_INET), wanted, buffer, &mut dumped, each)?;
        match self.dump_one(Dump::Family(request::AF_INET6), wanted, buffer, &mut dumped, each) {
            // A kernel without IPv6.
            Err(cause) if errno(&cause) == Some(Errno::NOENT) => Ok(dumped),
            other => other.map(|()| dumped),
        }
    }

    fn dump_one(
        &mut self,
        how: Dump,
        wanted: Wanted,
        buffer: &mut [u8],
        dumped: &mut Dumped,
        each: &mut dyn FnMut(Instant, Record),
    ) -> io::Result<()> {
        let sequence = self.ask(buffer, |sequence| request::dump(how, wanted, sequence))?;
        self.stale = true;
        loop {
            let datagram = match receive(&self.socket, buffer, RecvFlags::empty()) {
                Ok(Some(datagram)) => datagram,
                Ok(None) => {
                    dumped.malformed(Malformed("datagram longer than the buffer"));
                    continue;
                }
                Err(Errno::NOBUFS) => {
                    dumped.overruns += 1;
                    continue;
                }
                Err(cause) => return Err(cause.into()),
            };
            let at = kernel_clock();
            for message in decode::messages(datagram) {
                let message = match message {
                    Ok(message) if message.sequence == sequence => message,
                    Ok(_) => continue,
                    Err(malformed) => {
                        dumped.malformed(malformed);
                        continue;
                    }
                };
                dumped.interrupted |= message.flags & NLM_F_DUMP_INTR != 0;
                match message.kind {
                    SOCK_DIAG_BY_FAMILY | TCPDIAG_GETSOCK => match decode::socket(message.payload) {
                        Ok(record) => each(at, record),
                        Err(malformed) => dumped.malformed(malformed),
                    },
                    NLMSG_DONE | NLMSG_ERROR => {
                        self.stale = false;
                        return outcome(&message);
                    }
                    _ => {}
                }
            }
        }
    }

    /// One socket; `None` when there is none with this cookie between these ends.
    ///
    /// # Errors
    /// When the kernel refuses the question.
    pub fn one(
        &mut self,
        buffer: &mut [u8],
        cookie: u64,
        endpoints: &Endpoints,
        interface: u32,
    ) -> io::Result<Option<Record>> {
        let sequence = self.ask(buffer, |sequence| {
            request::one(cookie, endpoints, interface, sequence)
        })?;
        loop {
            let datagram = receive(&self.socket, buffer, RecvFlags::empty())?.unwrap_or_default();
            for message in decode::messages(datagram).flatten() {
                if message.sequence != sequence {
                    continue;
                }
                match message.kind {
                    SOCK_DIAG_BY_FAMILY => return Ok(decode::socket(message.payload).ok()),
                    // ENOENT: no such addresses; ESTALE: another socket has them now.
                    NLMSG_ERROR => match outcome(&message) {
                        Err(cause) if !matches!(errno(&cause), Some(Errno::NOENT | Errno::STALE)) => {
                            return Err(cause);
                        }
                        _ => return Ok(None),
                    },
                    _ => {}
                }
            }
        }
    }

    fn ask(&mut self, buffer: &mut [u8], question: impl Fn(u32) -> Vec<u8>) -> io::Result<u32> {
        if self.stale {
            // A dump that broke off: read it to its end, or the kernel answers the next one with EBUSY.
            while receive(&self.socket, buffer, RecvFlags::DONTWAIT).is_ok() {}
            self.stale = false;
        }
        self.sequence = self.sequence.wrapping_add(1);
        rustix::net::send(&self.socket, &question(self.sequence), SendFlags::empty())?;
        Ok(self.sequence)
    }
}

/// A socket that is told of every TCP socket of the namespace as it is destroyed, with its final `tcp_info`.
#[derive(Debug)]
pub struct Events {
    socket: OwnedFd,
}

impl Events {
    /// In the network namespace of the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses the subscription.
    pub fn open() -> io::Result<Self> {
        let socket = open(TCP_DESTROY)?;
        // Needs CAP_NET_ADMIN; without it the host's default holds some 200 sockets.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, EVENTS_MEMORY);
        Ok(Self { socket })
    }

    /// Hands over what was destroyed since the last call.
    ///
    /// # Errors
    /// When the socket cannot be read.
    pub fn drain(&mut self, buffer: &mut [u8], each: &mut dyn FnMut(Record)) -> io::Result<Dumped> {
        let mut drained = Dumped::default();
        loop {
            match receive(&self.socket, buffer, RecvFlags::DONTWAIT) {
                Ok(Some(datagram)) => {
                    for message in decode::messages(datagram) {
                        match message.and_then(|message| decode::socket(message.payload)) {
                            Ok(record) => each(record),
                            Err(malformed) => drained.malformed(malformed),
                        }
                    }
                }
                Ok(None) => drained.malformed(Malformed("datagram longer than the buffer")),
                Err(Errno::NOBUFS) => drained.overruns += 1,
                Err(Errno::AGAIN) => return Ok(drained),
                Err(cause) => return Err(cause.into()),
            }
        }
    }
}

fn open(groups: u32) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// One datagram; `None` for one that was cut.
fn receive(socket: impl AsFd, buffer: &mut [u8], flags: RecvFlags) -> Result<Option<&[u8]>, Errno> {
    loop {
        match rustix::net::recv(&socket, &mut *buffer, flags | RecvFlags::TRUNC) {
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause),
            Ok((got, sent)) => return Ok((got == sent).then(|| &buffer[..got])),
        }
    }
}

fn outcome(message: &Message<'_>) -> io::Result<()> {
    match message.errno() {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

fn errno(cause: &io::Error) -> Option<Errno> {
    Errno::from_io_error(cause)
}
