//! Listening sockets with the options that accepted connections inherit.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, RawFd};

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

/// `SO_BUF_LOCK`, include/uapi/asm-generic/socket.h; since 5.14.
const SO_BUF_LOCK: libc::c_int = 72;
const SOCK_SNDBUF_LOCK: u32 = 1;
const SOCK_RCVBUF_LOCK: u32 = 2;

/// A listening socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listener {
    /// Where; absent only in tests that do not care.
    pub local: Option<SocketAddr>,
    /// Connections that wait for `accept`.
    pub accept_queue: u32,
    /// Most that may wait.
    pub backlog: u32,
    /// Congestion control that accepted connections begin with.
    pub congestion: Option<String>,
    /// Its process: id and name.
    pub process: Option<(u32, String)>,
    /// Its options, where they could be asked for.
    pub options: Options,
}

/// Options of a socket. What cannot be asked is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// TCP_FASTOPEN: connections that may be pending with data in their SYN; 0 is off.
    pub fastopen_queue: Option<u32>,
    /// SO_SNDBUF was set, to this many bytes after the kernel doubled it.
    pub sndbuf_locked: Option<u32>,
    /// SO_RCVBUF was set, to this many bytes after the kernel doubled it.
    pub rcvbuf_locked: Option<u32>,
}

/// Who holds a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// The socket's options.
    pub options: Options,
}

/// Looks through the open files of all processes for these sockets, by inode. What may not be looked at is left out.
///
/// Options are asked of a copy of the descriptor (pidfd_getfd(2), since 5.6; needs the right to trace the process), which is
/// closed at once: the process does not notice.
#[must_use]
pub fn holders(inodes: &[u32]) -> HashMap<u32, Holder> {
    let mut found = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if found.len() == inodes.len() {
            break;
        }
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        for file in fs::read_dir(entry.path().join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let Some(inode) = fs::read_link(file.path())
                .ok()
                .and_then(|link| inode(link.to_str()?))
            else {
                continue;
            };
            if !inodes.contains(&inode) || found.contains_key(&inode) {
                continue;
            }
            let number = file.file_name().to_str().and_then(|name| name.parse().ok());
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            let options = number.and_then(|number| options(pid, number)).unwrap_or_default();
            let name = name.trim_end().to_owned();
            found.insert(inode, Holder { pid, name, options });
        }
    }
    found
}

fn inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn options(pid: u32, number: RawFd) -> Option<Options> {
    let pid = Pid::from_raw(pid.cast_signed())?;
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let socket = rustix::process::pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
    Some(of(socket.as_fd()))
}

fn of(socket: BorrowedFd<'_>) -> Options {
    let locks = option(socket, libc::SOL_SOCKET, SO_BUF_LOCK);
    let locked = |lock: u32, size: libc::c_int| {
        locks
            .filter(|locks| locks & lock != 0)
            .and_then(|_| option(socket, libc::SOL_SOCKET, size))
    };
    Options {
        fastopen_queue: option(socket, libc::IPPROTO_TCP, libc::TCP_FASTOPEN),
        sndbuf_locked: locked(SOCK_SNDBUF_LOCK, libc::SO_SNDBUF),
        rcvbuf_locked: locked(SOCK_RCVBUF_LOCK, libc::SO_RCVBUF),
    }
}

fn option(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int) -> Option<u32> {
    let mut value: libc::c_int = 0;
    let mut len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the socket is open, and the kernel writes at most `len` bytes into the number.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut len,
        )
    };
    (done == 0).then(|| u32::try_from(value).ok())?
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::fs::MetadataExt as _;

    use rustix::net::sockopt;

    use super::*;

    #[test]
    fn the_options_of_a_listener_are_found_through_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        sockopt::set_socket_send_buffer_size(&listener, 65_536).unwrap();
        let path = format!("/proc/self/fd/{}", listener.as_raw_fd());
        let inode = fs::metadata(path).unwrap().ino() as u32;
        let found = holders(&[inode]);
        let holder = &found[&inode];
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(of(listener.as_fd()).fastopen_queue, Some(0));
        assert_eq!(of(listener.as_fd()).rcvbuf_locked, None);
        // A process may always ask of itself, where the kernel has pidfd_getfd.
        if holder.options != Options::default() {
            assert_eq!(holder.options, of(listener.as_fd()));
        }
    }
}
