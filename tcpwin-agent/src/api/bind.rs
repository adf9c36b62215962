//! Listening sockets, and who else holds a port.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::FDTarget;

mod unix;

pub(super) use self::unix::{Name, UnixSocket};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An address and port.
    Tcp(SocketAddr),
    /// A socket with a name in the file system.
    Unix {
        /// Its name.
        path: PathBuf,
        /// Its permissions: who may write to it may see single connections.
        mode: u32,
    },
}

/// A bound socket.
#[derive(Debug)]
pub struct Listener(pub(super) Socket);

#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixSocket),
}

impl Listener {
    /// Where it really listens: the port is a real one even if 0 was asked for. `None` if it is no address.
    #[must_use]
    pub const fn address(&self) -> Option<SocketAddr> {
        match self.0 {
            Socket::Tcp(_, address) => Some(address),
            Socket::Unix(_) => None,
        }
    }

    /// As `--connect` takes it, with the scheme that is spoken.
    #[must_use]
    pub fn url(&self, tls: bool) -> String {
        match &self.0 {
            Socket::Tcp(_, address) if tls => format!("https://{address}"),
            _ => self.to_string(),
        }
    }
}

/// As `--connect` takes it.
impl fmt::Display for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Socket::Tcp(_, address) => write!(formatter, "http://{address}"),
            Socket::Unix(socket) => write!(formatter, "unix:{}", socket.name.path.display()),
        }
    }
}

/// Why a socket could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error(
        "cannot listen on {address}: the port is taken by {holder}; \
             stop it, or give another port with --web.listen-address (port 0 takes a free one)"
    )]
    InUse {
        /// Where.
        address: SocketAddr,
        /// Who.
        holder: String,
    },
    /// The port is a privileged one.
    #[error(
        "cannot listen on {address}: ports below {lowest} need CAP_NET_BIND_SERVICE; \
             give another port with --web.listen-address"
    )]
    Denied {
        /// Where.
        address: SocketAddr,
        /// The lowest port that anybody may take.
        lowest: u16,
    },
    /// The address is not one of this host's.
    #[error(
        "cannot listen on {address}: no interface of this host has that address; \
             `ip addr` shows those it has, --web.listen-address chooses one"
    )]
    NotHere {
        /// Where.
        address: SocketAddr,
    },
    /// An agent listens on the socket.
    #[error("cannot listen on unix:{}: somebody listens there already, an agent perhaps; stop it, or give another path", .path.display())]
    SocketInUse {
        /// Where.
        path: PathBuf,
    },
    /// Something else has the socket's name.
    #[error("cannot listen on unix:{}: what is there is no socket, and is left alone; give another path", .path.display())]
    NotASocket {
        /// Where.
        path: PathBuf,
    },
    /// The socket cannot be made.
    #[error("cannot listen on unix:{}: {cause}; its directory must be there and ours to write to", .path.display())]
    Unix {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// Anything else.
    #[error("cannot listen on {address}: {cause}; --web.listen-address chooses another address")]
    Other {
        /// Where.
        address: SocketAddr,
        /// What the kernel said.
        cause: io::Error,
    },
}

/// Binds all of them.
///
/// # Errors
/// At the first that cannot be bound.
pub fn bind(places: &[Place]) -> Result<Vec<Listener>, BindError> {
    let sockets = places.iter().map(|place| match place {
        Place::Tcp(address) => bind_one(*address),
        Place::Unix { path, mode } => unix::bind_at(path, *mode).map(Socket::Unix),
    });
    sockets.map(|socket| socket.map(Listener)).collect()
}

fn bind_one(address: SocketAddr) -> Result<Socket, BindError> {
    let bound = TcpListener::bind(address).or_else(|cause| {
        // "All addresses" on a host without IPv6.
        let any_v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
        if address.is_ipv6()
            && address.ip().is_unspecified()
            && matches!(
                cause.raw_os_error(),
                Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL)
            )
        {
            TcpListener::bind(any_v4)
        } else {
            Err(cause)
        }
    });
    let ready = bound.and_then(|socket| {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok(Socket::Tcp(socket, address))
    });
    ready.map_err(|cause| explain(address, cause))
}

fn explain(address: SocketAddr, cause: io::Error) -> BindError {
    match cause.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse {
            address,
            holder: holder(address.port()).unwrap_or_else(|| {
                "a process that cannot be seen from here (another user's, or in another namespace)".to_owned()
            }),
        },
        io::ErrorKind::PermissionDenied => BindError::Denied {
            address,
            lowest: lowest_open_port(),
        },
        io::ErrorKind::AddrNotAvailable => BindError::NotHere { address },
        _ => BindError::Other { address, cause },
    }
}

fn lowest_open_port() -> u16 {
    std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(1024)
}

/// Who listens on the port, as far as this process may see.
fn holder(port: u16) -> Option<String> {
    let listens = |entry: &TcpNetEntry| entry.state == TcpState::Listen && entry.local_address.port() == port;
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    let inode = tables.into_iter().flatten().flatten().find(listens)?.inode;
    let holds = |process: &procfs::process::Process| {
        let mut files = process.fd().into_iter().flatten().flatten();
        files.any(|file| matches!(file.target, FDTarget::Socket(held) if held == inode))
    };
    let process = procfs::process::all_processes().ok()?.flatten().find(holds)?;
    let name = process
        .stat()
        .map_or_else(|_| "a process".to_owned(), |stat| stat.comm);
    let of_ours = if name == "tcpwin" {
        ", an agent that runs already"
    } else {
        ""
    };
    Some(format!("{name} (pid {}{of_ours})", process.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_zero_becomes_a_real_one() {
        let any = Place::Tcp("127.0.0.1:0".parse().unwrap());
        let listeners = bind(&[any.clone(), any]).unwrap();
        assert!(
            listeners
                .iter()
                .all(|listener| listener.address().unwrap().port() != 0)
        );
    }

    #[test]
    fn a_taken_port_names_its_holder_and_the_flag() {
        let first = bind(&[Place::Tcp("127.0.0.1:0".parse().unwrap())]).unwrap();
        let taken = Place::Tcp(first[0].address().unwrap());
        let message = bind(&[taken]).unwrap_err().to_string();
        assert!(
            message.contains(&format!("pid {}", std::process::id())),
            "{message}"
        );
        assert!(message.contains("--web.listen-address"), "{message}");
    }

    #[test]
    fn an_address_of_another_host_is_named() {
        let error = bind(&[Place::Tcp("192.0.2.1:0".parse().unwrap())]).unwrap_err();
        assert!(matches!(error, BindError::NotHere { .. }), "{error}");
    }
}
