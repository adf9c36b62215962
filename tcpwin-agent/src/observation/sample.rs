//! A socket at one of its events, of those that are watched closely.

use serde::{Deserialize, Serialize};

/// What a socket was like when an ACK arrived, before it was applied, or when a call sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// CLOCK_MONOTONIC, ns.
    pub at_ns: u64,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; absent while it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    /// Outstanding, bytes.
    pub in_flight_bytes: u32,
    /// Written but not sent, bytes.
    pub unsent_bytes: u32,
    /// The peer's window, bytes.
    pub snd_wnd_bytes: u32,
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// Acknowledged over the connection's life, bytes.
    pub bytes_acked: u64,
    /// Segments sent again over its life.
    pub retransmits_total: u32,
}
