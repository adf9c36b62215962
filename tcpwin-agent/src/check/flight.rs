//! What fits into a server's first flight: its records and its chain against the first congestion window.

use serde::Serialize;

use super::stream::Stream;
use crate::handshake::{Content, Record};
use crate::units::Nanos;

/// The first congestion window of today's kernels, segments (RFC 6928).
pub const INITCWND: u64 = 10;

/// What a server let out before anything came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flight {
    /// Bytes of it.
    pub bytes: u64,
    /// More followed after a pause: this is all that the window let out. Else the answer was over, and the window may be larger.
    pub is_full: bool,
    /// Segments that it came in, small ones among them; only of a flight that is full and was read in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
}

/// The bytes from `from` on that came before a pause.
pub fn first_flight(heard: &Stream, from: usize, pause: Nanos) -> Option<Flight> {
    let burst = heard.burst(from, pause)?;
    Some(Flight {
        bytes: (burst.end - from) as u64,
        is_full: burst.more,
        segments: burst.segments.filter(|_| burst.more).map(u64::from),
    })
}

/// The records of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Records {
    /// Bytes of the first one that carries data, with its header.
    pub first_bytes: u64,
    /// Bytes of the largest.
    pub largest_bytes: u64,
    /// How many came.
    pub count: usize,
    /// From the first one's first byte to its last: half a round trip or more, where it does not fit into the first flight.
    pub first_spread_us: u64,
    /// The first one came in two flights: nothing of it can be read before its last byte is there. Absent where flights cannot be told
    /// apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_is_split: Option<bool>,
}

/// The records of data from the offset on: those before belong to the handshake.
pub fn records(found: &[Record<'_>], heard: &Stream, from: usize, pause: Option<Nanos>) -> Option<Records> {
    let data: Vec<_> = found
        .iter()
        .filter(|record| record.content == Content::Data && record.offset >= from)
        .collect();
    // Tickets of TLS 1.3 come in records that look the same; an answer that is worth judging has a larger one.
    let first = data
        .iter()
        .find(|record| record.wire_bytes() >= SMALL_BYTES)
        .or(data.first())?;
    let began = heard.passed(first.offset)?;
    let spread = heard.passed(first.end() - 1)?.since(began);
    Some(Records {
        first_bytes: first.wire_bytes() as u64,
        largest_bytes: data.iter().map(|record| record.wire_bytes()).max().unwrap_or(0) as u64,
        count: data.len(),
        first_spread_us: spread.0 / 1000,
        first_is_split: pause.map(|pause| spread >= pause),
    })
}

/// Tickets and heads of answers stay below.
const SMALL_BYTES: usize = 1_500;
