//! Connections gathered by what they have in common. Pure: every connection is in exactly one group, and the sums of the
//! groups are the sums of the connections.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::view::By;
use crate::classify::{Bound, Limit};
use crate::observation::Prefix;
use crate::snapshot::Connection;
use crate::snapshot::figures;

/// One of the things that connections are told apart by; two levels make a way of gathering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Process,
    Pid,
    Cgroup,
    Prefix,
    Address,
}

impl By {
    /// The groups, and the groups within them.
    pub(crate) const fn levels(self) -> [Level; 2] {
        match self {
            Self::Process => [Level::Process, Level::Pid],
            Self::Container => [Level::Cgroup, Level::Process],
            Self::Peer => [Level::Prefix, Level::Address],
        }
    }
}

/// What the connections of a group have in common; `None` where it is not known of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key<'a> {
    Process(Option<Cow<'a, str>>),
    Pid(Option<u32>),
    Cgroup(Option<Cow<'a, str>>),
    Prefix(Option<Prefix>),
    Address(Option<IpAddr>),
}

impl<'a> Key<'a> {
    /// The group of `connection`.
    pub(crate) fn of(connection: &'a Connection, level: Level) -> Self {
        let process = connection.process.as_ref();
        match level {
            Level::Process => Self::Process(process.map(|process| Cow::Borrowed(&*process.name))),
            Level::Pid => Self::Pid(process.map(|process| process.pid)),
            Level::Cgroup => Self::Cgroup(connection.cgroup.as_deref().map(Cow::Borrowed)),
            Level::Prefix => Self::Prefix(address(&connection.peer).map(Prefix::around)),
            Level::Address => Self::Address(address(&connection.peer)),
        }
    }

    /// The same, for keeping.
    pub(crate) fn into_owned(self) -> Key<'static> {
        let own = |text: Option<Cow<'a, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        match self {
            Self::Process(name) => Key::Process(own(name)),
            Self::Pid(pid) => Key::Pid(pid),
            Self::Cgroup(path) => Key::Cgroup(own(path)),
            Self::Prefix(prefix) => Key::Prefix(prefix),
            Self::Address(address) => Key::Address(address),
        }
    }

    /// As it is shown.
    pub(crate) fn text(&self) -> String {
        let known = match self {
            Self::Process(name) => name.as_ref().map(ToString::to_string),
            Self::Pid(pid) => pid.map(|pid| format!("pid {pid}")),
            Self::Cgroup(path) => path.as_ref().map(|path| cgroup_text(path).into_owned()),
            Self::Prefix(prefix) => prefix.map(|prefix| prefix.to_string()),
            Self::Address(address) => address.map(|address| address.to_string()),
        };
        known.unwrap_or_else(|| {
            match self {
                Self::Process(_) => "(process not known)",
                Self::Pid(_) => "(pid not known)",
                Self::Cgroup(_) => "(cgroup not known)",
                Self::Prefix(_) | Self::Address(_) => "(address not known)",
            }
            .to_owned()
        })
    }
}

fn address(endpoint: &str) -> Option<IpAddr> {
    endpoint
        .parse::<SocketAddr>()
        .ok()
        .map(|endpoint| endpoint.ip().to_canonical())
}

/// Hexadecimal digits of a container's id that are shown, as docker and crictl show them.
const ID: usize = 12;

/// The last part of a cgroup's path, which names the service or container; long ids are cut as container tools cut them.
pub(crate) fn cgroup_text(path: &str) -> Cow<'_, str> {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if last.is_empty() {
        return Cow::Borrowed("/");
    }
    let stem = last.strip_suffix(".scope").unwrap_or(last);
    let hex = stem
        .rfind(|c: char| !c.is_ascii_hexdigit())
        .map_or(0, |at| at + stem[at..].chars().next().map_or(1, char::len_utf8));
    if stem.len() - hex > ID * 2 {
        return Cow::Owned(stem[..hex + ID].to_owned());
    }
    Cow::Borrowed(last)
}

/// What is summed over connections.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sums {
    pub(crate) connections: u64,
    /// Those that somebody could do something about.
    pub(crate) sick: u64,
    pub(crate) receive_bps: f64,
    pub(crate) send_bps: f64,
    /// Bytes that lifting what held them would have moved over their lives so far; `None` where it is known of none.
    pub(crate) not_moved: Option<u64>,
    /// The largest gain of one of them. Gains do not add up: connections share paths.
    pub(crate) gain: Option<f64>,
    /// Counts by class, in the order of [`Bound::ALL`].
    pub(crate) by_bound: [u64; Bound::ALL.len()],
    /// How sick the sickest is, what it withholds, and its limit.
    worst: (u8, f64, Limit),
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            connections: 0,
            sick: 0,
            receive_bps: 0.0,
            send_bps: 0.0,
            not_moved: None,
            gain: None,
            by_bound: [0; Bound::ALL.len()],
            worst: (u8::MAX, 0.0, Limit::None),
        }
    }
}

impl Sums {
    /// Adds a connection.
    pub(crate) fn add(&mut self, connection: &Connection) {
        let limit = figures::shown(connection);
        let severity = figures::severity(connection);
        self.connections += 1;
        self.sick += u64::from(figures::is_sick(connection));
        self.receive_bps += connection.receive_bps;
        self.send_bps += connection.send_bps;
        for bytes in connection.causes.iter().filter_map(|cause| cause.bytes_not_moved) {
            self.not_moved = Some(self.not_moved.unwrap_or(0).saturating_add(bytes));
        }
        let gain = figures::gain(connection);
        self.gain = match (self.gain, gain) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        let bound = limit.bound();
        if let Some(at) = Bound::ALL.iter().position(|known| *known == bound) {
            self.by_bound[at] += 1;
        }
        let withheld = figures::withheld_bps(connection);
        if severity < self.worst.0 || (severity == self.worst.0 && withheld > self.worst.1) {
            self.worst = (severity, withheld, limit);
        }
    }

    /// Of these connections.
    pub(crate) fn of<'a>(connections: impl IntoIterator<Item = &'a Connection>) -> Self {
        let mut sums = Self::default();
        for connection in connections {
            sums.add(connection);
        }
        sums
    }

    /// The limit of the sickest.
    pub(crate) fn worst(&self) -> Limit {
        self.worst.2
    }

    /// Smaller is sicker: class, then what the sickest withholds.
    pub(crate) fn sickness(&self) -> (u8, f64) {
        (self.worst.0, -self.worst.1)
    }
}

/// Connections that have `key` in common.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) sums: Sums,
    /// Their indices in the snapshot.
    pub(crate) members: Vec<u32>,
}

/// The groups of `members`, which are indices into `connections`; in no order.
pub(crate) fn gather<'a>(
    connections: &'a [std::sync::Arc<Connection>],
    members: &[u32],
    level: Level,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: HashMap<Key<'a>, usize> = HashMap::new();
    for member in members {
        let Some(connection) = connections.get(*member as usize) else {
            continue;
        };
        let key = Key::of(connection, level);
        let at = *places.entry(key).or_insert_with_key(|key| {
            groups.push(Group {
                key: key.clone(),
                sums: Sums::default(),
                members: Vec::new(),
            });
            groups.len() - 1
        });
        groups[at].sums.add(connection);
        groups[at].members.push(*member);
    }
    groups
}
