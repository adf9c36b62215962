//! Whose a socket is: its process and cgroup.
//!
//! The probes tell the process, so `/proc/PID` is read once for its name and cgroup. Where only the socket's inode is
//! known, the process is found by a walk over `/proc/PID/fd` that goes on a bounded step at each tick.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use self::process::{cgroup, comm};
use self::walk::Walk;
use super::{FindOwner, Ownership};
use crate::observation::{Key, OwnerHint};
use crate::snapshot::Process;
use crate::units::{Instant, Nanos};

mod process;
mod walk;

/// Processes remembered at most; beyond it all are read anew.
const PROCESSES: usize = 4096;
/// A process is read anew after this time: it may have been moved to another cgroup, or have ended and lent its id.
const FRESH: Nanos = Nanos(10_000_000_000);
/// `/proc/PID` reads of one tick. The rest waits for the next one.
const READS_PER_TICK: u32 = 500;
/// Open files looked at in one tick; some 4 µs each.
const FILES_PER_TICK: usize = 1_000;
/// Sockets looked for at once at most.
const WANTED: usize = 1 << 17;

/// Finds owners, within bounds of time and memory.
#[derive(Debug)]
pub struct Owners {
    now: Instant,
    reads_left: u32,
    processes: HashMap<u32, (Instant, Arc<Ownership>)>,
    /// Sockets whose process is looked for, by inode.
    wanted: HashMap<u32, Key>,
    inodes: HashMap<Key, u32>,
    walk: Walk,
    /// Sockets of known processes that wait for a tick with reads left.
    postponed: VecDeque<(Key, u32, Option<Box<str>>)>,
    dropped: u64,
}

impl Default for Owners {
    fn default() -> Self {
        Self::new()
    }
}

impl Owners {
    /// Knows nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            now: Instant(0),
            reads_left: READS_PER_TICK,
            processes: HashMap::new(),
            wanted: HashMap::new(),
            inodes: HashMap::new(),
            walk: Walk::default(),
            postponed: VecDeque::new(),
            dropped: 0,
        }
    }

    /// Processes whose open files may not be listed, at the last walk: their sockets have no owner.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.walk.unreadable
    }

    /// Sockets that were not looked for, since too many were already: their owner stays unknown.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whose the socket is, if that is known by now. Otherwise its process is looked for at the next ticks, and
    /// [`FindOwner::refresh`] tells it.
    pub fn resolve(&mut self, key: Key, hint: &OwnerHint) -> Option<Arc<Ownership>> {
        if let Some(pid) = hint.pid {
            let owner = self.process(pid, hint.name.as_deref());
            if owner.is_none() && self.postponed.len() < WANTED {
                self.postponed.push_back((key, pid, hint.name.clone()));
            }
            return owner;
        }
        if let Some(inode) = hint.inode {
            self.look_for(key, inode);
        }
        None
    }

    /// Looks for the process that holds a socket's file, at the next ticks.
    pub fn look_for(&mut self, key: Key, inode: u32) {
        if self.wanted.contains_key(&inode) {
            return;
        }
        if self.wanted.len() >= WANTED {
            self.dropped += 1;
            return;
        }
        self.wanted.insert(inode, key);
        self.inodes.insert(key, inode);
        self.walk.ask();
    }

    /// The process as it is now, its name as the hint has it when `/proc` does not tell any more; `None` when the
    /// tick's reads are used up.
    fn process(&mut self, pid: u32, hint: Option<&str>) -> Option<Arc<Ownership>> {
        if let Some((read, known)) = self.processes.get(&pid)
            && self.now.since(*read) < FRESH
        {
            return Some(Arc::clone(known));
        }
        self.reads_left = self.reads_left.checked_sub(1)?;
        let now = comm(pid);
        let cgroup = now.as_ref().and_then(|_| cgroup(pid));
        let owner = Arc::new(Ownership {
            process: now
                .or_else(|| hint.map(str::to_owned))
                .map(|name| Process { pid, name }),
            cgroup,
        });
        if self.processes.len() >= PROCESSES {
            self.processes.clear();
        }
        self.processes.insert(pid, (self.now, Arc::clone(&owner)));
        Some(owner)
    }
}

impl FindOwner for Owners {
    fn find(&mut self, key: Key, hint: &OwnerHint) -> Option<Arc<Ownership>> {
        self.resolve(key, hint)
    }

    fn forget(&mut self, key: Key) {
        if let Some(inode) = self.inodes.remove(&key) {
            self.wanted.remove(&inode);
        }
    }

    fn refresh(&mut self, now: Instant, found: &mut Vec<(Key, Arc<Ownership>)>) {
        self.now = now;
        self.reads_left = READS_PER_TICK;
        while let Some((key, pid, name)) = self.postponed.pop_front() {
            match self.process(pid, name.as_deref()) {
                Some(owner) => found.push((key, owner)),
                None => {
                    self.postponed.push_front((key, pid, name));
                    break;
                }
            }
        }
        if self.wanted.is_empty() {
            return;
        }
        let mut matches = Vec::new();
        let wanted = &mut self.wanted;
        self.walk.step(now, FILES_PER_TICK, &mut |pid, inode| {
            if let Some(key) = wanted.remove(&inode) {
                matches.push((pid, key));
            }
        });
        for (pid, key) in matches {
            self.inodes.remove(&key);
            self.walk.prefer(pid);
            match self.process(pid, None) {
                Some(owner) => found.push((key, owner)),
                None => self.postponed.push_back((key, pid, None)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
