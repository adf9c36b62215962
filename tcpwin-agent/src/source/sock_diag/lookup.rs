//! One socket asked for by name, in any namespace of the host.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::netlink::{BUFFER, Questions};
use super::request::Wanted;
use crate::observation::{Endpoints, Key, Observation, Origin};
use crate::source::netns::{self, Discovery, Doors};
use crate::source::{SourceError, kernel_clock};
use crate::units::Instant;

/// Asks for single sockets; holds a netlink socket for each namespace that was asked in, as long as a process or
/// mount leads there.
#[derive(Debug)]
pub struct Lookup {
    own: u32,
    doors: Doors,
    discovery: Discovery,
    questions: HashMap<u32, Questions>,
    buffer: Box<[u8]>,
}

impl Lookup {
    /// Nothing is opened before it is asked.
    ///
    /// # Errors
    /// When `/proc` is not mounted.
    pub fn new() -> Result<Self, SourceError> {
        Ok(Self {
            own: netns::own().map_err(io_error("read /proc/thread-self/ns/net"))?,
            doors: Doors::new(),
            discovery: Discovery::default(),
            questions: HashMap::new(),
            buffer: vec![0; BUFFER].into(),
        })
    }

    /// The socket as it is now, its origin told as seeded; `None` when it is gone, or when nothing leads to its
    /// namespace. One bound to a device (SO_BINDTODEVICE) is found only through a dump.
    ///
    /// # Errors
    /// When the namespace may not be entered (CAP_SYS_ADMIN) or the kernel refuses the question.
    pub fn socket(&mut self, key: Key, endpoints: &Endpoints) -> Result<Option<Observation>, SourceError> {
        let now = kernel_clock();
        if !self.reach(key.netns, now)? {
            return Ok(None);
        }
        let Some(questions) = self.questions.get_mut(&key.netns) else {
            return Ok(None);
        };
        let record = questions
            .one(&mut self.buffer, key.cookie, endpoints, 0)
            .map_err(io_error("ask for one TCP socket"))?;
        let at = kernel_clock();
        Ok(record
            .filter(|record| record.info.is_some())
            .map(|record| record.observation(key.netns, at, at, Origin::Seeded)))
    }

    /// Every socket of every namespace that can be entered, with the inode of its file: what a look-up in `/proc/PID/fd`
    /// needs, and the probes cannot tell of sockets older than they.
    ///
    /// # Errors
    /// When the kernel refuses the question. Namespaces that may not be entered are left out.
    pub fn inodes(&mut self, each: &mut dyn FnMut(Key, u32)) -> Result<(), SourceError> {
        self.discovery.hasten();
        self.reach(self.own, kernel_clock())?;
        let mut places: BTreeSet<u32> = self.doors.keys().copied().collect();
        places.insert(self.own);
        for netns in places {
            if !self.reach(netns, kernel_clock()).unwrap_or(false) {
                continue;
            }
            let Some(questions) = self.questions.get_mut(&netns) else {
                continue;
            };
            questions
                .dump(Wanted::Identities, &mut self.buffer, &mut |_, record| {
                    if record.inode != 0 {
                        let cookie = record.cookie;
                        each(Key { cookie, netns }, record.inode);
                    }
                })
                .map_err(io_error("dump TCP sockets"))?;
        }
        Ok(())
    }

    /// Has a netlink socket in the namespace, if there is a way.
    fn reach(&mut self, inum: u32, now: Instant) -> Result<bool, SourceError> {
        if let Some(doors) = self
            .discovery
            .when_due(now)
            .map_err(io_error("look for network namespaces in /proc"))?
        {
            self.questions
                .retain(|inum, _| *inum == self.own || doors.contains_key(inum));
            self.doors = doors;
        }
        if self.questions.contains_key(&inum) {
            return Ok(true);
        }
        let opened = if inum == self.own {
            Questions::open()
        } else if let Some(door) = self.doors.get(&inum) {
            netns::inside(inum, door, Questions::open).map_err(|cause| SourceError::Io {
                operation: "enter a network namespace",
                cause: io::Error::other(cause),
            })?
        } else {
            return Ok(false);
        };
        self.questions
            .insert(inum, opened.map_err(io_error("open NETLINK_SOCK_DIAG"))?);
        Ok(true)
    }
}

/// An error of this operation.
pub(super) fn io_error(operation: &'static str) -> impl Fn(io::Error) -> SourceError {
    move |cause| SourceError::Io { operation, cause }
}
