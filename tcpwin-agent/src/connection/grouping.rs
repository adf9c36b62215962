//! By what metrics tell connections apart, where that is asked for.

use crate::connection::entry::Entry;
use crate::connection::row;
use crate::observation::{Origin, Prefix};
use crate::snapshot::{Group, Tally};

/// What stands for a part that is not known.
const UNKNOWN: &str = "unknown";
/// What stands for the listener of connections that this host opened.
const NONE: &str = "none";
/// What stands for every part of the groups that have no room.
const OTHER: &str = "other";

/// By what, and how many at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// By the process's name.
    pub process: bool,
    /// By the process's cgroup.
    pub cgroup: bool,
    /// By the port of the listener.
    pub listener: bool,
    /// By the first of these that the peer is in.
    pub peers: Vec<Prefix>,
    /// Groups told apart; what comes later is one more, `other`.
    pub most: usize,
}

impl Grouping {
    /// The group of a connection; `None` if nobody asked for groups.
    pub(super) fn of(&self, entry: &Entry, tally: &Tally) -> Option<Group> {
        if !self.process && !self.cgroup && !self.listener && self.peers.is_empty() {
            return None;
        }
        let group = Group {
            process: part(self.process, || row::process_name(entry).map(str::to_owned)),
            cgroup: part(self.cgroup, || entry.owner.as_ref()?.cgroup.clone()),
            listener: part(self.listener, || listener(entry)),
            peer: self.peer(entry),
        };
        let has_room = tally.groups.len() < self.most || tally.groups.contains_key(&group);
        Some(if has_room { group } else { self.other() })
    }

    fn peer(&self, entry: &Entry) -> String {
        let peer = entry.last.endpoints.peer.ip();
        let within = self.peers.iter().find(|prefix| prefix.contains(peer));
        match within {
            Some(prefix) => prefix.to_string(),
            None if self.peers.is_empty() => String::new(),
            None => OTHER.to_owned(),
        }
    }

    fn other(&self) -> Group {
        let part = |wanted: bool| if wanted { OTHER.to_owned() } else { String::new() };
        Group {
            process: part(self.process),
            cgroup: part(self.cgroup),
            listener: part(self.listener),
            peer: part(!self.peers.is_empty()),
        }
    }
}

/// The port that the connection came to; of one that is older than the source nobody saw which end opened it.
fn listener(entry: &Entry) -> Option<String> {
    match entry.last.origin {
        Origin::Accept => Some(entry.last.endpoints.local.port().to_string()),
        Origin::Connect => Some(NONE.to_owned()),
        Origin::Seeded => None,
    }
}

fn part(wanted: bool, find: impl FnOnce() -> Option<String>) -> String {
    if !wanted {
        return String::new();
    }
    find().unwrap_or_else(|| UNKNOWN.to_owned())
}
