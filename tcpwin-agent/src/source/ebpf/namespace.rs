//! Walks the sockets of every network namespace with the `iter/tcp` program, which sees the namespace of the thread
//! that opens it.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;

use aya::{Ebpf, programs::Iter};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::thread_cpu;
use crate::units::{Instant, Nanos};

/// Least time between two looks for new namespaces.
const DISCOVER_EVERY: Nanos = Nanos(10_000_000_000);
const PROGRAM: &str = "seed";

/// The namespaces known, by inode number, each with a path that leads to it.
pub(super) struct Namespaces {
    known: HashMap<u64, String>,
    own: Option<File>,
    own_inode: u64,
    missing: Option<String>,
    failures: u64,
    looked: Instant,
}

impl Namespaces {
    pub(super) fn open(ebpf: &mut Ebpf, btf: &aya::Btf) -> Self {
        let own = File::open("/proc/thread-self/ns/net").ok();
        let own_inode = own
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |data| data.ino());
        let missing = match ebpf.program_mut(PROGRAM) {
            Some(program) => match <&mut Iter>::try_from(program) {
                Ok(iter) => iter.load("tcp", btf).err().map(|error| error.to_string()),
                Err(error) => Some(error.to_string()),
            },
            None => Some("not in the object".to_owned()),
        };
        let missing = missing.map(|cause| format!("connections older than tcpwin are not seen ({cause})"));
        Self {
            known: HashMap::new(),
            own,
            own_inode,
            missing,
            failures: 0,
            looked: Instant(0),
        }
    }

    /// What is lost, if the iterator could not be loaded.
    pub(super) fn missing(&self) -> Option<String> {
        self.missing.clone()
    }

    /// Walks that failed: a namespace that could not be entered or read.
    pub(super) const fn failures(&self) -> u64 {
        self.failures
    }

    /// Looks for namespaces, at a bounded rate. True if there is a new one.
    pub(super) fn discover(&mut self, now: Instant) -> bool {
        if !self.known.is_empty() && now.since(self.looked) < DISCOVER_EVERY {
            return false;
        }
        self.looked = now;
        let found = crate::source::sock_diag::namespaces();
        let any_new = found.keys().any(|inode| !self.known.contains_key(inode));
        self.known = found;
        any_new
    }

    /// Runs the program over every socket; gives the CPU time it took.
    pub(super) fn walk(&mut self, ebpf: &mut Ebpf) -> Nanos {
        if self.missing.is_some() {
            return Nanos(0);
        }
        let start = thread_cpu();
        for (inode, path) in &self.known {
            if let Err(error) = walk_one(
                ebpf,
                (*inode != self.own_inode).then_some(path),
                self.own.as_ref(),
            ) {
                tracing::debug!("network namespace {inode}: {error}");
                self.failures += 1;
            }
        }
        Nanos(thread_cpu().0.saturating_sub(start.0))
    }
}

/// Opens the iterator from within the namespace, comes back, and reads it to its end.
fn walk_one(ebpf: &mut Ebpf, other: Option<&String>, own: Option<&File>) -> anyhow::Result<()> {
    let program = ebpf
        .program_mut(PROGRAM)
        .ok_or_else(|| anyhow::anyhow!("no program"))?;
    let iter: &mut Iter = program.try_into()?;
    let link = iter.attach()?;
    let link = iter.take_link(link)?;
    let mut file = match (other, own) {
        (Some(path), Some(own)) => {
            let there = File::open(path)?;
            move_into_link_name_space(there.as_fd(), Some(LinkNameSpaceType::Network))?;
            let file = link.into_file();
            move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Network))?;
            file?
        }
        _ => link.into_file()?,
    };
    // The program writes nothing: a read walks everything and ends.
    let mut nothing = [0; 64];
    while file.read(&mut nothing)? > 0 {}
    Ok(())
}
