//! What goes into the table, and what snapshots show beside it.

use serde::{Deserialize, Serialize};

use crate::connection::{Kept, Ownership};
use crate::host::{Nic, Sysctl};
use crate::observation::Key;
use crate::source::{HostCounts, ProbeCost, Update};
use crate::units::Instant;

/// One input of the table. The order of the variants is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The source tells of a socket.
    Update(Box<Update>),
    /// Whose a socket is, found while the update or the tick before it was folded in.
    Owner {
        /// Which socket.
        key: Key,
        /// Whose.
        owner: Box<Ownership>,
    },
    /// The interfaces of the agent's own network namespace.
    Links {
        /// The namespace.
        own: u32,
        /// Its interfaces that have a speed.
        nics: Vec<Nic>,
    },
    /// The interval ends.
    Tick {
        /// When.
        now: Instant,
        /// Events that the source has missed so far.
        missed: u64,
    },
    /// TCP settings of a network namespace; `None` where they cannot be read.
    Settings {
        /// Which.
        netns: u32,
        /// As they are now.
        sysctl: Option<Box<Sysctl>>,
    },
    /// The hooks, attached or missing with the reason; told when that changes.
    Hooks(Vec<(String, Option<String>)>),
    /// What was lost since the start, by cause; told when that changes.
    Losses(Vec<(String, u64)>),
    /// The host's facts as JSON, the names those of the API; told when they change.
    Facts(String),
    /// The tick's snapshot was laid.
    Laid(Laid),
    /// The segment goes on where another one stopped: when the last tick was.
    Resume(Instant),
    /// A connection that was open when the segment began.
    Kept(Box<Kept>),
}

/// What a snapshot shows that is not of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "see Snapshot and Health")]
pub struct Laid {
    pub tick: u64,
    pub interval_us: u64,
    pub host_counts: HostCounts,
    pub probe_cost: Option<ProbeCost>,
    pub tick_cpu_us: u64,
    pub cpu_us: u64,
    pub rss_bytes: u64,
}

/// The inputs of a frame, decoded one by one: a frame is small, what it unpacks to need not be.
#[derive(Debug, Default)]
pub struct Inputs {
    raw: Vec<u8>,
    at: usize,
}

impl Inputs {
    /// Of a frame's payload.
    #[must_use]
    pub const fn new(raw: Vec<u8>) -> Self {
        Self { raw, at: 0 }
    }

    /// The next one; `None` at the end.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn take(&mut self) -> Result<Option<Input>, postcard::Error> {
        let rest = &self.raw[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let (input, rest) = postcard::take_from_bytes(rest)?;
        self.at = self.raw.len() - rest.len();
        Ok(Some(input))
    }
}
