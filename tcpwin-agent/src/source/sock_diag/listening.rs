//! The listeners of a network namespace with their accept queues.

use std::io;
use std::net::SocketAddr;

use super::netlink::{BUFFER, Questions};
use super::record::Record;
use super::request::Wanted;
use crate::observation::{Key, TcpState};

/// A listening socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listening {
    /// Its identity.
    pub key: Key,
    /// Where it listens.
    pub local: SocketAddr,
    /// Of its file; `None` for one of the kernel's own.
    pub inode: Option<u32>,
    /// Connections that wait for `accept` (`sk_ack_backlog`).
    pub accept_queue: u32,
    /// Most that may wait (`sk_max_ack_backlog`).
    pub backlog: u32,
    /// What accepted connections begin with.
    pub congestion: Option<Box<str>>,
}

/// The listeners of the calling thread's namespace, whose number is `netns`. Costs the same however many connections
/// there are.
///
/// # Errors
/// When the kernel has no `NETLINK_SOCK_DIAG` or refuses it.
pub fn listening(netns: u32) -> io::Result<Vec<Listening>> {
    let mut listeners = Vec::new();
    let mut buffer = vec![0; BUFFER];
    Questions::open()?.dump(Wanted::Listeners, &mut buffer, &mut |_, record| {
        if record.state == TcpState::Listen {
            listeners.push(Listening::of(&record, netns));
        }
    })?;
    Ok(listeners)
}

impl Listening {
    /// A listener lends `idiag_rqueue` and `idiag_wqueue` another meaning (`tcp_diag_get_info`).
    fn of(record: &Record, netns: u32) -> Self {
        Self {
            key: Key {
                cookie: record.cookie,
                netns,
            },
            local: record.endpoints().local,
            inode: (record.inode != 0).then_some(record.inode),
            accept_queue: record.rqueue,
            backlog: record.wqueue,
            congestion: record.congestion_name(),
        }
    }
}
