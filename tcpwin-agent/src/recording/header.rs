//! Where and how a segment was recorded.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::observation::Prefix;
use crate::units::{BytesPerSec, Instant};

/// What stays the same through a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of tcpwin.
    pub version: String,
    /// Host name; `anonymised` where that was asked for.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Source of the observations.
    pub source: String,
    /// Why not a better one.
    pub source_reason: Option<String>,
    /// Most connections that the table held.
    pub capacity: u64,
    /// What paths can carry, as the user said: to the peers of a prefix (address, bits), or to all; bytes per second.
    pub paths: Vec<(Option<(IpAddr, u8)>, f64)>,
    /// Addresses are not those of the host.
    pub anonymised: bool,
}

/// The first frame of a segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The same in all segments of a recording: CLOCK_REALTIME at its start, ns.
    pub recording: i64,
    /// Which segment, from 0.
    pub segment: u32,
    /// It goes on exactly where the segment before it ended.
    pub goes_on: bool,
    /// When it began.
    pub began: Instant,
    /// CLOCK_REALTIME less CLOCK_MONOTONIC when it began, ns.
    pub wall_offset_ns: i64,
    /// Seconds east of Greenwich where it was recorded.
    pub zone_seconds: i32,
    /// The rest.
    pub about: About,
}

impl About {
    /// With what the user says of paths.
    #[must_use]
    pub fn with_paths(mut self, said: impl Iterator<Item = (Option<Prefix>, BytesPerSec)>) -> Self {
        let parts = |prefix: Prefix| (prefix.address(), prefix.bits());
        self.paths = said.map(|(prefix, rate)| (prefix.map(parts), rate.0)).collect();
        self
    }

    /// What the user said of paths.
    pub fn path_bandwidths(&self) -> impl Iterator<Item = (Option<Prefix>, BytesPerSec)> + '_ {
        let prefix = |(address, bits): (IpAddr, u8)| Prefix::new(address, bits);
        self.paths
            .iter()
            .map(move |(said, rate)| (said.map(prefix), BytesPerSec(*rate)))
    }
}
