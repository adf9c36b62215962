//! Tens of thousands of open connections, in a network namespace of their own.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Result, ensure};

use crate::bench::worker::{Role, Worker};
use crate::lab::netns::NetNs;

/// Connections of one process: two descriptors each, well under the hard limit of 20,000 of a common host.
const PAIRS_PER_PROCESS: usize = 8_000;
const PORT: u16 = 7;

/// The connections, by process.
pub struct Herd<'a> {
    netns: &'a NetNs,
    quiet: Vec<Worker>,
    busy: Option<Worker>,
    sockets: usize,
    addresses: u8,
}

impl<'a> Herd<'a> {
    /// No connection yet.
    pub fn new(netns: &'a NetNs) -> Self {
        Self {
            netns,
            quiet: Vec::new(),
            busy: None,
            sockets: 0,
            addresses: 0,
        }
    }

    /// Opens quiet connections until there are so many sockets.
    pub fn grow_to(&mut self, sockets: usize) -> Result<()> {
        let mut missing = sockets.saturating_sub(self.sockets) / 2;
        while missing > 0 {
            let pairs = missing.min(PAIRS_PER_PROCESS);
            let worker = self.hold(pairs, 1_000)?;
            self.quiet.push(worker);
            missing -= pairs;
        }
        Ok(())
    }

    /// Opens connections that [`Herd::be_busy`] makes busy.
    pub fn add_busy(&mut self, sockets: usize, every_ms: u64) -> Result<()> {
        ensure!(self.busy.is_none(), "one process is busy, not more");
        self.busy = Some(self.hold(sockets / 2, every_ms)?);
        Ok(())
    }

    /// If some connections can be made busy.
    pub const fn has_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Starts or ends the pings.
    pub fn be_busy(&mut self, busy: bool) -> Result<()> {
        if let Some(worker) = &mut self.busy {
            worker.order(if busy { "busy" } else { "idle" })?;
        }
        Ok(())
    }

    /// Open sockets.
    pub const fn sockets(&self) -> usize {
        self.sockets
    }

    fn hold(&mut self, pairs: usize, every_ms: u64) -> Result<Worker> {
        // An address a process: ports are searched for among those of one destination only.
        self.addresses += 1;
        let listen = SocketAddr::from((Ipv4Addr::new(127, 0, 1, self.addresses), PORT));
        let mut worker = Worker::start(
            self.netns,
            &Role::Hold {
                pairs,
                listen,
                every_ms,
            },
        )?;
        worker.answer()?;
        self.sockets += pairs * 2;
        Ok(worker)
    }
}
