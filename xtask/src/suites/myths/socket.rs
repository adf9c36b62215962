//! Single sockets, set and asked by hand.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context as _, Result};

use crate::lab::net::{Net, Side};

/// A connection over the path, from the receiver's host to the sender's: as a client reaches a server.
pub struct Pair {
    /// The client's end.
    pub client: TcpStream,
    /// The server's.
    pub server: TcpStream,
}

impl Pair {
    /// Opens one.
    pub fn open(net: &Net) -> Result<Self> {
        let listener = listener(net)?;
        let address = listener.local_addr()?;
        let client = net
            .host(Side::Receiver)
            .enter(|| TcpStream::connect(address).context("cannot connect"))?;
        let (server, _) = listener.accept().context("cannot accept")?;
        Ok(Self { client, server })
    }
}

/// Listens on the sender's host.
pub fn listener(net: &Net) -> Result<TcpListener> {
    let address = SocketAddr::new(net.address(Side::Sender, false), 0);
    net.host(Side::Sender)
        .enter(|| TcpListener::bind(address).context("cannot listen"))
}

/// The congestion control of a socket.
pub fn congestion(socket: &impl AsRawFd) -> io::Result<String> {
    let mut name = [0_u8; 16];
    let mut len = name.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes into the live buffer of that length.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if got != 0 {
        return Err(io::Error::last_os_error());
    }
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// Sends `data` as a client does that wants Fast Open, and waits for nothing.
pub fn send_with_syn(address: SocketAddr, data: &[u8]) -> Result<OwnedFd> {
    let SocketAddr::V4(v4) = address else {
        anyhow::bail!("{address} is not IPv4");
    };
    // SAFETY: a bare system call; the descriptor is owned from here on.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    anyhow::ensure!(socket >= 0, io::Error::last_os_error());
    // SAFETY: the kernel has just given it to us.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let to = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: v4.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(v4.ip().octets()),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: data and address live until the call returns, with their lengths.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            data.as_ptr().cast(),
            data.len(),
            libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL,
            (&raw const to).cast(),
            size_of_val(&to) as libc::socklen_t,
        )
    };
    anyhow::ensure!(
        sent >= 0,
        "sendto with MSG_FASTOPEN: {}",
        io::Error::last_os_error()
    );
    Ok(socket)
}
