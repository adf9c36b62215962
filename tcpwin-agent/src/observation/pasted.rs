//! What a line of pasted `ss` output says of one socket at one moment.
//!
//! The common part is that of every source. `ss` says a few things more, and leaves out what is zero or not known: which of the two
//! it was, only its reader can tell.

use crate::observation::{Tcp, TcpState, Totals};

/// One socket of a paste.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pasted {
    /// Line of the text where it begins, from 1.
    pub line: usize,
    /// What the paste's clock said before it.
    pub at: Option<Moment>,
    /// This end, `ip:port` as far as it was printed; absent where only the figures were pasted.
    pub local: Option<String>,
    /// The other end.
    pub peer: Option<String>,
    /// Socket cookie (`sk:`).
    pub cookie: Option<u64>,
    /// Name and id of the first process that holds it.
    pub process: Option<(String, Option<u32>)>,
    /// Its TCP state.
    pub state: Option<TcpState>,
    /// The socket of a Multipath TCP connection, which has its subflows below it, and no TCP figures.
    pub is_mptcp: bool,
    /// Fields as they were.
    pub tcp: Tcp,
    /// Totals over its life.
    pub totals: Totals,
    /// What other sources do not give.
    pub ss: SsFigures,
    /// Tokens that were not understood.
    pub unknown: Vec<String>,
    /// Whoever pasted it left something out and said so (`...`).
    pub elided: bool,
}

/// What only `ss` prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SsFigures {
    /// Unread bytes; of a listener, connections to be accepted.
    pub recv_q: Option<u64>,
    /// Bytes unacknowledged or unsent; of a listener, its backlog.
    pub send_q: Option<u64>,
    /// Bytes sent and not acknowledged.
    pub outstanding: Option<u64>,
    /// The running timer.
    pub timer: Option<Timer>,
    /// Retransmission timeout, µs.
    pub rto_us: Option<u64>,
    /// Memory held by received data (`sk_rmem_alloc`), bytes.
    pub rmem_alloc: Option<u32>,
    /// Segments dropped for want of memory (`sk_drops`).
    pub drops: Option<u32>,
    /// Since data was sent last, ms.
    pub lastsnd_ms: Option<u64>,
    /// Since data was received last, ms.
    pub lastrcv_ms: Option<u64>,
    /// Since an ACK was received last, ms.
    pub lastack_ms: Option<u64>,
    /// Path MTU, bytes.
    pub pmtu: Option<u32>,
    /// MSS told to the peer, bytes.
    pub advmss: Option<u32>,
    /// Estimate of the peer's segment size, bytes.
    pub rcvmss: Option<u32>,
    /// Largest window that we would offer now, bytes.
    pub rcv_ssthresh: Option<u32>,
    /// Out-of-order segments received.
    pub rcv_ooopack: Option<u32>,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Payload bytes sent again.
    pub bytes_retrans: Option<u64>,
    /// Segments with data sent.
    pub data_segs_out: Option<u32>,
    /// Segments with data received.
    pub data_segs_in: Option<u32>,
    /// Times that reordering was seen.
    pub reord_seen: Option<u32>,
    /// Segments of ours that arrived twice.
    pub dsack_dups: Option<u32>,
    /// bbr's estimate of the bandwidth, bytes per second.
    pub bbr_bandwidth: Option<u64>,
    /// Time with data outstanding or unsent, µs.
    pub busy_us: Option<u64>,
    /// Time limited by the peer's window, µs, and its share of the busy time as printed.
    pub rwnd_limited: Option<(u64, Option<f64>)>,
    /// Time limited by the send buffer, µs, and its share of the busy time as printed.
    pub sndbuf_limited: Option<(u64, Option<f64>)>,
    /// What the kernel's TLS does with the stream, as printed.
    pub ktls: Option<String>,
    /// The figures after the addresses were there at all: `ss` was asked for `-i`.
    pub has_info: bool,
}

/// A socket's timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer {
    /// What for.
    pub kind: TimerKind,
    /// Until it expires, ms.
    pub left_ms: Option<u64>,
    /// Times it has expired in a row.
    pub expired: Option<u32>,
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerKind {
    /// Retransmission, or a tail-loss probe.
    Retransmit,
    /// Keepalive.
    Keepalive,
    /// TIME-WAIT.
    TimeWait,
    /// Zero-window probe.
    Persist,
    /// Another.
    Other,
}

/// A reading of some clock: moments of one paste may be compared if both have a date, or neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since midnight, or since 1970 with a date.
    pub seconds: f64,
    /// With a date.
    pub has_date: bool,
}

impl Moment {
    /// Seconds from `earlier` to this; `None` where the two cannot be compared, or run backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> Option<f64> {
        let seconds = self.seconds - earlier.seconds;
        (self.has_date == earlier.has_date && seconds > 0.0 && seconds.is_finite()).then_some(seconds)
    }
}
