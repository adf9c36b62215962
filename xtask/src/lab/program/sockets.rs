//! The sockets that programs hold in a host's namespace, so that the kernel can be asked of them as of the lab's own.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{getpeername, getsockname};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// A connected TCP socket and a process that holds it.
pub struct Held {
    /// The process.
    pub pid: u32,
    /// Our own descriptor of its socket.
    pub socket: OwnedFd,
    /// Its end.
    pub local: SocketAddr,
    /// The other.
    pub peer: SocketAddr,
}

/// Every connected socket of the processes that are in this network namespace.
pub fn held_in(netns: u64) -> Vec<Held> {
    processes()
        .filter(|pid| is_in(*pid, netns))
        .flat_map(|pid| held_by(pid).unwrap_or_default())
        .collect()
}

/// Whether a process is in this network namespace now.
pub fn is_in(pid: u32, netns: u64) -> bool {
    fs::read_link(format!("/proc/{pid}/ns/net"))
        .is_ok_and(|link| link.to_string_lossy() == format!("net:[{netns}]"))
}

/// Whether a process is the other one or was started by it.
pub fn comes_from(mut pid: u32, ancestor: u32) -> bool {
    while pid != ancestor {
        match parent(pid) {
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    true
}

/// The fourth field of /proc/PID/stat; the second is a name in brackets and may hold anything.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// `None`: it has ended meanwhile.
fn held_by(pid: u32) -> Option<Vec<Held>> {
    let process = pidfd_open(Pid::from_raw(pid.try_into().ok()?)?, PidfdFlags::empty()).ok()?;
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let sockets = entries.flatten().filter_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?;
        let number = entry.file_name().to_str()?.parse().ok()?;
        link.to_string_lossy().starts_with("socket:").then_some(number)
    });
    let connected = |number| {
        let socket = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()?;
        let local = SocketAddr::try_from(getsockname(&socket).ok()?).ok()?;
        let peer = SocketAddr::try_from(getpeername(&socket).ok()??).ok()?;
        Some(Held {
            pid,
            socket,
            local: SocketAddr::new(local.ip().to_canonical(), local.port()),
            peer: SocketAddr::new(peer.ip().to_canonical(), peer.port()),
        })
    };
    Some(sockets.filter_map(connected).collect())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;
    use std::process;

    use super::{comes_from, held_in, is_in};

    #[test]
    fn our_own_connection_is_found_from_outside() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let stream = TcpStream::connect(address).expect("connects");
        let netns = std::fs::metadata("/proc/self/ns/net").expect("/proc").ino();
        let own = stream.local_addr().expect("connected");
        let held = held_in(netns);
        assert!(
            held.iter()
                .any(|held| (held.pid, held.local, held.peer) == (process::id(), own, address))
        );
        assert!(is_in(process::id(), netns) && !is_in(process::id(), 1));
    }

    #[test]
    fn a_process_comes_from_itself_and_its_parents() {
        let own = process::id();
        assert!(comes_from(own, own));
        assert!(!comes_from(own, 1));
        let parent = super::parent(own).expect("a parent");
        assert!(parent == 1 || comes_from(own, parent));
    }
}
