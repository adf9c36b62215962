//! Walks the sockets of every network namespace with the `iter/tcp` program, which sees the namespace of the thread
//! that opens it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;

use aya::{
    Ebpf,
    programs::{Iter, links::LinkError},
};

use super::thread_cpu;
use crate::source::netns::{self, Discovery, Doors};
use crate::units::{Instant, Nanos};

/// Name of the program in the object.
const PROGRAM: &str = "seed";

/// The namespaces known and the iterator.
pub(super) struct Walker {
    doors: Doors,
    discovery: Discovery,
    own: u32,
    missing: Option<String>,
    failures: u64,
}

/// Why a walk did not come to its end.
#[derive(Debug, thiserror::Error)]
enum WalkError {
    #[error("no iterator program")]
    NoProgram,
    #[error("attach: {0}")]
    Attach(#[from] aya::programs::ProgramError),
    #[error("open: {0}")]
    Open(#[from] LinkError),
    #[error("read: {0}")]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    Enter(#[from] netns::NetnsError),
}

impl Walker {
    /// Loads the iterator; where it cannot be, says what is lost.
    pub(super) fn open(ebpf: &mut Ebpf, btf: &aya::Btf) -> Self {
        let missing = match ebpf.program_mut(PROGRAM) {
            Some(program) => match <&mut Iter>::try_from(program) {
                Ok(iter) => iter.load("tcp", btf).err().map(|error| error.to_string()),
                Err(error) => Some(error.to_string()),
            },
            None => Some("not in the object".to_owned()),
        };
        Self {
            doors: Doors::new(),
            discovery: Discovery::default(),
            own: netns::own().unwrap_or(0),
            missing: missing.map(|cause| format!("connections older than tcpwin are not seen ({cause})")),
            failures: 0,
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

    /// Looks for namespaces, at a bounded rate. Gives the new ones.
    pub(super) fn discover(&mut self, now: Instant) -> HashSet<u32> {
        match self.discovery.when_due(now) {
            Ok(Some(doors)) => {
                let is_new = |inum: &&u32| !self.doors.contains_key(*inum);
                let new = doors.keys().filter(is_new).copied().collect();
                self.doors = doors;
                new
            }
            Ok(None) => HashSet::new(),
            Err(error) => {
                tracing::debug!("cannot look for network namespaces: {error}");
                self.failures += 1;
                HashSet::new()
            }
        }
    }

    /// Runs the program over every socket, or those of some namespaces; gives the CPU time it took.
    pub(super) fn walk(&mut self, ebpf: &mut Ebpf, only: Option<&HashSet<u32>>) -> Nanos {
        if self.missing.is_some() {
            return Nanos(0);
        }
        let mut cost = Nanos(0);
        for (inum, door) in &self.doors {
            if only.is_some_and(|only| !only.contains(inum)) {
                continue;
            }
            let walked = if *inum == self.own {
                walk_here(ebpf)
            } else {
                netns::inside(*inum, door, || walk_here(ebpf))
                    .map_err(WalkError::from)
                    .flatten()
            };
            match walked {
                Ok(took) => cost.0 += took.0,
                // It ended since it was found, and its connections with it.
                Err(WalkError::Enter(error)) if error.is_gone() => {}
                Err(error) => {
                    tracing::debug!("network namespace {inum}: {error}");
                    self.failures += 1;
                }
            }
        }
        cost
    }
}

/// Opens the iterator in the namespace of this thread and reads it to its end; gives the CPU time.
fn walk_here(ebpf: &mut Ebpf) -> Result<Nanos, WalkError> {
    let start = thread_cpu();
    let program = ebpf.program_mut(PROGRAM).ok_or(WalkError::NoProgram)?;
    let iter: &mut Iter = program.try_into()?;
    let link = iter.attach()?;
    let mut file: File = iter.take_link(link)?.into_file()?;
    // The program writes nothing: a read walks everything and ends.
    let mut nothing = [0; 64];
    while file.read(&mut nothing)? > 0 {}
    Ok(Nanos(thread_cpu().0.saturating_sub(start.0)))
}
