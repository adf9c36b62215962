//! Sockets set as the scenario says, before they listen or connect.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, Result};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen, socket_with};

use super::spec::{Family, SocketSpec};

/// The address as the family's sockets know it.
pub fn in_family(address: SocketAddr, family: Family) -> SocketAddr {
    match (address.ip(), family) {
        (IpAddr::V4(v4), Family::V4Mapped) => (v4.to_ipv6_mapped(), address.port()).into(),
        _ => address,
    }
}

/// A listening socket at `address` (port 0: any).
pub fn listener(address: SocketAddr, spec: &SocketSpec, family: Family) -> Result<TcpListener> {
    let socket = new(spec, family)?;
    option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1).context("SO_REUSEADDR")?;
    // A v4-mapped listener is the dual-stack one that programs really have.
    let at = match family {
        Family::V4Mapped => (Ipv6Addr::UNSPECIFIED, address.port()).into(),
        Family::Ipv4 | Family::Ipv6 => address,
    };
    bind(&socket, &at).with_context(|| format!("cannot bind {at}"))?;
    listen(&socket, 1024).context("cannot listen")?;
    Ok(socket.into())
}

/// A connection to `address`.
pub fn connected(address: SocketAddr, spec: &SocketSpec, family: Family) -> Result<TcpStream> {
    let socket = new(spec, family)?;
    let to = in_family(address, family);
    rustix::io::retry_on_intr(|| connect(&socket, &to)).with_context(|| format!("cannot connect to {to}"))?;
    let stream = TcpStream::from(socket);
    after_open(&stream, spec)?;
    Ok(stream)
}

/// What an accepted socket does not inherit, or what only an open one takes.
pub fn after_open(stream: &TcpStream, spec: &SocketSpec) -> Result<()> {
    stream.set_nonblocking(spec.nonblocking).context("O_NONBLOCK")?;
    stream.set_nodelay(spec.nodelay).context("TCP_NODELAY")
}

fn new(spec: &SocketSpec, family: Family) -> Result<OwnedFd> {
    let domain = match family {
        Family::Ipv4 => AddressFamily::INET,
        Family::Ipv6 | Family::V4Mapped => AddressFamily::INET6,
    };
    let socket = socket_with(
        domain,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )
    .context("cannot make a socket")?;
    let options = [
        (spec.sndbuf_bytes, libc::SOL_SOCKET, libc::SO_SNDBUF, "SO_SNDBUF"),
        (spec.rcvbuf_bytes, libc::SOL_SOCKET, libc::SO_RCVBUF, "SO_RCVBUF"),
        (
            spec.window_clamp_bytes,
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            "TCP_WINDOW_CLAMP",
        ),
        (
            spec.notsent_lowat_bytes,
            libc::IPPROTO_TCP,
            libc::TCP_NOTSENT_LOWAT,
            "TCP_NOTSENT_LOWAT",
        ),
    ];
    for (value, level, option_name, name) in options {
        if let Some(value) = value {
            option(&socket, level, option_name, value).with_context(|| format!("{name} = {value}"))?;
        }
    }
    if let Some(mbit) = spec.pacing_mbit {
        let bytes_per_s = (mbit * 125_000.0) as i32;
        option(&socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_s)
            .context("SO_MAX_PACING_RATE")?;
    }
    congestion(&socket, &spec.congestion)
        .with_context(|| format!("TCP_CONGESTION = {} (is its module loaded?)", spec.congestion))?;
    Ok(socket)
}

/// Sets an option of a socket that is a number.
pub fn option(socket: &impl AsRawFd, level: libc::c_int, name: libc::c_int, value: i32) -> io::Result<()> {
    // SAFETY: the kernel reads the four bytes of a live i32.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<i32>() as u32,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn congestion(socket: &OwnedFd, name: &str) -> io::Result<()> {
    // SAFETY: the kernel reads `len` bytes of the live string.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
