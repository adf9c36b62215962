//! What changed among the sockets of one namespace since the last look.

use std::collections::{HashMap, HashSet, VecDeque};

use super::record::Record;
use crate::observation::{Key, Origin, TcpState};
use crate::source::Update;
use crate::units::Instant;

/// Most sockets that are remembered as told gone while the kernel has yet to say that they are destroyed.
const CLOSED_EARLY: usize = 1 << 16;
/// A socket that this many complete dumps in a row lack is gone, though nothing told of its end.
///
/// One is not enough: the kernel resumes a dump by a count within a bucket of its table (`__inet_diag_dump`), so a
/// socket that left the bucket meanwhile can hide its neighbour.
const ABSENCES: u32 = 2;

#[derive(Clone, Debug)]
struct Entry {
    record: Record,
    since: Instant,
    origin: Origin,
    /// Number of the last dump it was in.
    seen: u32,
    /// It was handed over once more after its last change.
    settled: bool,
}

/// The sockets of one network namespace.
#[derive(Debug, Default)]
pub struct Sockets {
    netns: u32,
    /// In about the order of the kernel's table, so that a dump reads it front to back.
    entries: Vec<Entry>,
    by_cookie: HashMap<u64, u32>,
    /// Where the next socket of the dump is expected.
    cursor: usize,
    dumps: u32,
    /// The first complete dump is over.
    seeded: bool,
    /// Told gone before the kernel destroyed them: a program can hold a dead socket for long.
    closed_early: HashSet<u64>,
    closed_order: VecDeque<u64>,
    /// Local ports of listeners, of the last dump and of the one that runs.
    listening: [HashSet<u16>; 2],
}

impl Sockets {
    /// None yet.
    #[must_use]
    pub fn new(netns: u32) -> Self {
        Self {
            netns,
            ..Self::default()
        }
    }

    /// How many are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A dump starts.
    pub fn begin(&mut self) {
        self.dumps = self.dumps.wrapping_add(1);
        self.cursor = 0;
        self.listening.swap(0, 1);
        self.listening[1].clear();
    }

    /// A dump gave this socket.
    pub fn observed(&mut self, record: Record, at: Instant, sink: &mut dyn FnMut(Update)) {
        if record.state == TcpState::Listen {
            self.listening[1].insert(record.local_port);
            return;
        }
        // TIME_WAIT lends its place the state FIN_WAIT2: a mini socket with another cookie, and without figures.
        if record.info.is_none() || record.peer_port == 0 {
            return;
        }
        let Some(index) = self.find(record.cookie) else {
            let entry = Entry {
                record,
                since: at,
                origin: self.origin(&record),
                seen: self.dumps,
                settled: false,
            };
            sink(Update::Observed(record.observation(
                self.netns,
                at,
                at,
                entry.origin,
            )));
            self.by_cookie.insert(record.cookie, self.entries.len() as u32);
            self.entries.push(entry);
            return;
        };
        let entry = &mut self.entries[index];
        entry.seen = self.dumps;
        let changed = entry.record != record;
        if changed || !entry.settled {
            entry.settled = !changed;
            entry.record = record;
            sink(Update::Observed(record.observation(
                self.netns,
                at,
                entry.since,
                entry.origin,
            )));
        }
    }

    /// The dump is over; every socket that lives was in it.
    pub fn complete(&mut self, at: Instant, sink: &mut dyn FnMut(Update)) {
        self.seeded = true;
        let mut index = 0;
        while let Some(entry) = self.entries.get(index) {
            if self.dumps.wrapping_sub(entry.seen) < ABSENCES {
                index += 1;
                continue;
            }
            let cookie = entry.record.cookie;
            self.vanish(index, at, sink);
            self.remember_closed(cookie);
        }
    }

    /// The dump broke off: what it lacks may well live.
    pub fn incomplete(&mut self) {
        for entry in &mut self.entries {
            entry.seen = self.dumps;
        }
    }

    /// The kernel destroyed this socket; these are its final figures.
    pub fn destroyed(&mut self, record: Record, at: Instant, sink: &mut dyn FnMut(Update)) {
        if let Some(&index) = self.by_cookie.get(&record.cookie) {
            let entry = self.remove(index as usize);
            let last = record.after(&entry.record);
            sink(Update::Closed(last.observation(
                self.netns,
                at,
                entry.since,
                entry.origin,
            )));
        } else if self.closed_early.remove(&record.cookie) {
            // Told already. Its place in the order is left to run out.
        } else if record.peer_port != 0 && record.info.is_some() {
            // It lived between two dumps.
            let last = record.observation(self.netns, at, at, self.origin(&record));
            sink(Update::Observed(last.clone()));
            sink(Update::Closed(last));
        }
    }

    /// The namespace is no longer watched.
    pub fn close_all(&mut self, at: Instant, sink: &mut dyn FnMut(Update)) {
        while !self.entries.is_empty() {
            self.vanish(self.entries.len() - 1, at, sink);
        }
    }

    fn find(&mut self, cookie: u64) -> Option<usize> {
        let expected = self.entries.get(self.cursor);
        let index = match expected {
            Some(entry) if entry.record.cookie == cookie => self.cursor,
            _ => *self.by_cookie.get(&cookie)? as usize,
        };
        self.cursor = index + 1;
        Some(index)
    }

    fn vanish(&mut self, index: usize, at: Instant, sink: &mut dyn FnMut(Update)) {
        let key = Key {
            cookie: self.remove(index).record.cookie,
            netns: self.netns,
        };
        sink(Update::Vanished { key, at });
    }

    fn remove(&mut self, index: usize) -> Entry {
        let entry = self.entries.swap_remove(index);
        self.by_cookie.remove(&entry.record.cookie);
        if let Some(moved) = self.entries.get(index) {
            self.by_cookie.insert(moved.record.cookie, index as u32);
        }
        entry
    }

    fn remember_closed(&mut self, cookie: u64) {
        if self.closed_order.len() == CLOSED_EARLY
            && let Some(oldest) = self.closed_order.pop_front()
        {
            self.closed_early.remove(&oldest);
        }
        self.closed_early.insert(cookie);
        self.closed_order.push_back(cookie);
    }

    /// Older than the first dump, or accepted when its port is one of a listener, or else opened by this host.
    fn origin(&self, record: &Record) -> Origin {
        let listening = |port| self.listening.iter().any(|ports| ports.contains(&port));
        match record.state {
            TcpState::SynSent => Origin::Connect,
            TcpState::SynRecv => Origin::Accept,
            _ if !self.seeded => Origin::Seeded,
            _ if listening(record.local_port) => Origin::Accept,
            _ => Origin::Connect,
        }
    }
}

#[cfg(test)]
mod tests;
