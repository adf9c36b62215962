//! One network namespace: all that is set in it, and what its counters say, as plain values.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;

use procfs::FromReadSI as _;
use procfs::net::{TcpNetEntries, TcpState};

use super::{Listener, NetLink, Netstat, Route, Settings};

/// The counters of `TcpExt` that are kept.
const COUNTERS: &[&str] = &[
    "ListenDrops",
    "ListenOverflows",
    "TCPBacklogDrop",
    "TCPFastOpenActive",
    "TCPFastOpenActiveFail",
    "TCPFastOpenBlackhole",
    "TCPFastOpenListenOverflow",
    "TCPFastOpenPassive",
    "TCPFastOpenPassiveFail",
    "TCPMemoryPressures",
    "TCPReqQFullDoCookies",
    "TCPReqQFullDrop",
    "TCPTimeWaitOverflow",
];

/// What grows while it is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growing {
    /// Counters of `TcpExt`, by name.
    pub counters: BTreeMap<String, u64>,
    /// Packets that each interface's queueing discipline dropped, by the interface's name.
    pub queue_drops: HashMap<String, u64>,
}

/// A network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Its number (`ns.inum`).
    pub inum: u32,
    /// The path that leads to it; absent of the caller's own.
    pub door: Option<String>,
    /// Kernel release, `6.1` as (6, 1).
    pub kernel: (u32, u32),
    /// Its settings.
    pub settings: Settings,
    /// Its routes.
    pub routes: Vec<Route>,
    /// Its interfaces that are up, but loopback.
    pub links: Vec<NetLink>,
    /// Its listeners.
    pub listeners: Vec<Listener>,
    /// Connections in TIME_WAIT that this host opened or accepted, by the peer's end.
    pub time_wait: HashMap<SocketAddr, u32>,
    /// Counters now.
    pub now: Growing,
    /// Counters some seconds before.
    pub before: Growing,
}

impl Namespace {
    /// The calling thread's, but for its listeners and what was before.
    #[must_use]
    pub fn read() -> Self {
        let links = NetLink::read().unwrap_or_default();
        Self {
            kernel: release(&rustix::system::uname().release().to_string_lossy()),
            settings: Settings::read(Path::new("/proc/sys")),
            routes: Route::read().unwrap_or_default(),
            now: Growing::of(&links),
            links,
            time_wait: time_wait(),
            ..Self::default()
        }
    }

    /// A counter, since the namespace was made.
    #[must_use]
    pub fn counted(&self, name: &str) -> u64 {
        self.now.counters.get(name).copied().unwrap_or(0)
    }

    /// What a counter grew by while it was watched.
    #[must_use]
    pub fn grew(&self, name: &str) -> u64 {
        let before = self.before.counters.get(name).copied();
        before.map_or(0, |before| self.counted(name).saturating_sub(before))
    }

    /// Packets that an interface's queueing discipline dropped while it was watched.
    #[must_use]
    pub fn queue_dropped(&self, link: &str) -> u64 {
        let now = self.now.queue_drops.get(link).copied().unwrap_or(0);
        let before = self.before.queue_drops.get(link).copied();
        before.map_or(0, |before| now.saturating_sub(before))
    }

    /// The route that packets to `peer` take, as far as rules do not choose another table.
    #[must_use]
    pub fn route_to(&self, peer: SocketAddr) -> Option<&Route> {
        let ip = peer.ip().to_canonical();
        self.routes
            .iter()
            .filter(|route| route.leads_to(ip))
            .max_by_key(|route| route.bits)
    }
}

impl Growing {
    /// The calling thread's namespace now.
    #[must_use]
    pub fn read() -> Self {
        Self::of(&NetLink::read().unwrap_or_default())
    }

    fn of(links: &[NetLink]) -> Self {
        let netstat = Netstat::of_thread();
        let counter = |name: &&str| Some(((*name).to_owned(), netstat.tcp_ext(name)?));
        let drops = |link: &NetLink| Some((link.name.clone(), link.qdisc.as_ref()?.dropped));
        Self {
            counters: COUNTERS.iter().filter_map(counter).collect(),
            queue_drops: links.iter().filter_map(drops).collect(),
        }
    }
}

/// `6.12.3-amd64` → (6, 12).
fn release(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(|letter: char| !letter.is_ascii_digit())
        .map_while(|word| word.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn time_wait() -> HashMap<SocketAddr, u32> {
    let mut counts = HashMap::new();
    for file in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
        let Some(TcpNetEntries(entries)) = File::open(file)
            .ok()
            .and_then(|file| TcpNetEntries::from_read(file, procfs::current_system_info()).ok())
        else {
            continue;
        };
        for entry in entries.iter().filter(|entry| entry.state == TcpState::TimeWait) {
            let remote = entry.remote_address;
            let peer = SocketAddr::new(remote.ip().to_canonical(), remote.port());
            *counts.entry(peer).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        assert_eq!(release("6.12.3-cloud-amd64"), (6, 12));
        assert!(release("5.10.0-1") < release("6.1.0"));
        assert_eq!(release("what"), (0, 0));
    }

    #[test]
    fn counters_grow_from_the_look_before() {
        let counters = |count| Growing {
            counters: BTreeMap::from([("ListenOverflows".to_owned(), count)]),
            ..Growing::default()
        };
        let mut namespace = Namespace {
            now: counters(9),
            ..Namespace::default()
        };
        assert_eq!(namespace.grew("ListenOverflows"), 0, "no look before");
        namespace.before = counters(7);
        assert_eq!(namespace.grew("ListenOverflows"), 2);
    }

    #[test]
    fn the_own_namespace_is_read() {
        let namespace = Namespace::read();
        assert!(namespace.settings.text("net.ipv4.tcp_sack").is_some());
        assert!(namespace.now.counters.contains_key("ListenOverflows"));
    }
}
