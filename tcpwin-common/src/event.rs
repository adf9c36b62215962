//! What is told at once, through the ring buffer. Every record starts with its kind, a `u32`.

/// Length of an address field.
pub const ABI_ADDRESS_LEN: usize = 16;

/// An [`Event`]: a socket opened.
pub const RECORD_OPEN: u32 = 1;
/// A whole [`crate::Slot`]: a socket closed; these are its final totals.
pub const RECORD_CLOSE: u32 = 2;
/// An [`Event`]: a segment was sent again. `a` is `RETRANSMIT_*`, `b` the segments.
pub const RECORD_RETRANSMIT: u32 = 3;
/// An [`Event`]: the congestion window is about to fall. `a` is the new `icsk_ca_state`, `b` the cwnd before, `c` ssthresh.
pub const RECORD_CWND_FALL: u32 = 4;
/// An [`Event`]: a reset. `a` is 1 if we sent it, 0 if the peer did.
pub const RECORD_RESET: u32 = 5;

/// A [`Sample`] of a socket that is watched closely.
pub const RECORD_SAMPLE: u32 = 6;

/// Fast retransmit or recovery.
pub const RETRANSMIT_FAST: u32 = 1;
/// Retransmission timeout, or recovery after one.
pub const RETRANSMIT_RTO: u32 = 2;
/// Tail-loss probe.
pub const RETRANSMIT_TLP: u32 = 3;
/// SYN-ACK (or SYN) again.
pub const RETRANSMIT_SYN_ACK: u32 = 4;

/// Bit of the control word: somebody wants [`RECORD_RETRANSMIT`].
pub const WANT_RETRANSMIT: u32 = 1 << 0;
/// Bit of the control word: somebody wants [`RECORD_CWND_FALL`].
pub const WANT_CWND_FALL: u32 = 1 << 1;

/// Bit of the control word: somebody wants [`RECORD_OPEN`]. Without it an open connection is found by its slot.
pub const WANT_OPEN: u32 = 1 << 2;

/// A small record of the ring.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// `RECORD_*`.
    pub record: u32,
    /// Index of the socket's slot.
    pub index: u32,
    /// The socket's cookie.
    pub cookie: u64,
    /// CLOCK_MONOTONIC, ns.
    pub at_ns: u64,
    /// Network namespace (`ns.inum`).
    pub netns: u32,
    /// First argument, by record.
    pub a: u32,
    /// Second argument, by record.
    pub b: u32,
    /// Third argument, by record.
    pub c: u32,
}

const _: () = assert!(size_of::<Event>() == 40);

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (size asserted above).
unsafe impl aya::Pod for Event {}

/// A socket that is watched closely as it was at one of its events: before an ACK was applied, or after a call sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// `RECORD_SAMPLE`.
    pub record: u32,
    /// Index of the socket's slot.
    pub index: u32,
    /// The socket's cookie.
    pub cookie: u64,
    /// CLOCK_MONOTONIC, ns; never less than in the sample before.
    pub at_ns: u64,
    /// Acknowledged over the connection's life, bytes.
    pub bytes_acked: u64,
    /// Network namespace (`ns.inum`).
    pub netns: u32,
    /// `snd_cwnd`, segments.
    pub cwnd: u32,
    /// `snd_ssthresh`, segments; 0x7fffffff before the first loss.
    pub ssthresh: u32,
    /// Outstanding, bytes.
    pub outstanding: u32,
    /// Written but never sent, bytes.
    pub unsent: u32,
    /// The peer's receive window, bytes.
    pub snd_wnd: u32,
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// Segments retransmitted over the connection's life.
    pub total_retrans: u32,
}

const _: () = assert!(size_of::<Sample>() == 64);

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (size asserted above).
unsafe impl aya::Pod for Sample {}
