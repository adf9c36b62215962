//! What any source says of one socket at one instant.
//!
//! A field that the source, the kernel or the moment does not give is `None`: absent is not zero.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::units::Instant;

pub mod pasted;
mod prefix;
mod sample;
pub mod tcp_info;

pub use prefix::{NoPrefix, Prefix};
pub use sample::Sample;

/// The identity of a socket: stable from its birth to its end, equal in every source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Socket cookie (`sk_cookie`), unique per boot.
    pub cookie: u64,
    /// Network namespace (`ns.inum`, the number in `/proc/PID/ns/net`); 0 if the source cannot tell.
    pub netns: u32,
}

/// The two ends. Addresses of `::ffff:a.b.c.d` sockets are given as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Endpoints {
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
}

/// TCP states, numbered as in include/net/tcp_states.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of RFC 9293, section 3.3.2")]
pub enum TcpState {
    Established = 1,
    SynSent = 2,
    SynRecv = 3,
    FinWait1 = 4,
    FinWait2 = 5,
    TimeWait = 6,
    Close = 7,
    CloseWait = 8,
    LastAck = 9,
    Listen = 10,
    Closing = 11,
    NewSynRecv = 12,
}

impl TcpState {
    /// From the kernel's number.
    #[must_use]
    pub const fn from_kernel(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Established,
            2 => Self::SynSent,
            3 => Self::SynRecv,
            4 => Self::FinWait1,
            5 => Self::FinWait2,
            6 => Self::TimeWait,
            7 => Self::Close,
            8 => Self::CloseWait,
            9 => Self::LastAck,
            10 => Self::Listen,
            11 => Self::Closing,
            12 => Self::NewSynRecv,
            _ => return None,
        })
    }
}

/// How the connection came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Opened by this host.
    Connect,
    /// Accepted by a listener of this host.
    Accept,
    /// Older than the source: life totals may include time that was not watched.
    Seeded,
}

/// What the source itself knows of the socket's owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerHint {
    /// Process (thread group) id in the initial pid namespace.
    pub pid: Option<u32>,
    /// Name of the process when it was seen.
    pub name: Option<Box<str>>,
    /// cgroup id (inode number of the cgroup2 directory).
    pub cgroup_id: Option<u64>,
    /// Inode of the socket file, for a look-up in `/proc/PID/fd`.
    pub inode: Option<u32>,
}

/// Nanoseconds by state of the in-kernel time budget, and the integral of outstanding bytes over each.
/// The open interval is already counted in, to the state that the last event left behind. Sums to the time the socket was
/// watched. The sum only grows; a single state gives the open interval back should the next event show that another held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetTotals {
    /// By `tcpwin_common::BUDGET_*`, ns.
    pub ns: [u64; tcpwin_common::BUDGET_STATES],
    /// By `tcpwin_common::BUDGET_*`, bytes × 1,024 ns.
    pub flight: [u64; tcpwin_common::BUDGET_STATES],
}

/// Exact counts of the program's calls; only the probes see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Send calls that took at least one byte.
    pub sends: u64,
    /// Bytes they took.
    pub sent_bytes: u64,
    /// Largest of them, bytes.
    pub send_max: u32,
    /// Refused for want of buffer space (EAGAIN).
    pub send_refused: u32,
    /// Failed otherwise.
    pub send_failed: u32,
    /// Receive calls that gave bytes.
    pub recvs: u64,
    /// Bytes they gave.
    pub recv_bytes: u64,
    /// Sends that found everything acknowledged.
    pub resumes: u32,
    /// Of those, prompted by inbound data.
    pub turns: u32,
    /// Sends prompted by inbound data while older data was outstanding and nothing unsent.
    pub turns_in_flight: u32,
    /// Sends that ended a time in which the writer was blocked.
    pub unblocks: u32,
    /// Sends after a pause: none in the eighth of a round trip before.
    pub pauses: u32,
    /// Of those, the ones that inbound data prompted.
    pub pauses_prompted: u32,
    /// Bursts that ended: inbound data prompted the next one.
    pub bursts: u32,
    /// Sum over those of the most bytes unacknowledged after a send.
    pub burst_peak_sum: u64,
    /// Sum of the squares of the same, in units of 64 B.
    pub burst_peak_sq: u64,
    /// Sum over prompted sends of the bytes still unacknowledged when they came.
    pub turn_flight_sum: u64,
}

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Retransmits {
    /// Fast retransmit and recovery.
    pub fast: u32,
    /// Retransmission timeout, and recovery after one.
    pub rto: u32,
    /// Tail-loss probes.
    pub tlp: u32,
}

/// Totals over the connection's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Payload bytes acknowledged (plus one for a SYN of ours), as in `tcp_info`.
    pub bytes_acked: Option<u64>,
    /// Bytes received in order.
    pub bytes_received: Option<u64>,
    /// Segments retransmitted (`tcpi_total_retrans`).
    pub retransmits: Option<u32>,
    /// The same by kind; only the probes see it.
    pub retransmits_by_kind: Option<Retransmits>,
    /// Segments delivered.
    pub delivered: Option<u32>,
    /// Segments received while established.
    pub segments_in: Option<u64>,
    /// Entries into recovery or loss.
    pub cwnd_falls: Option<u32>,
    /// Those after the first few, which slow start's overshoot may have cost; the sum over them of cwnd as it was, segments, and the sum of its squares.
    pub fall_cwnd: Option<(u32, u64, u64)>,
    /// Time with data unsent and the peer's window below one segment, ns.
    pub zero_window_ns: Option<u64>,
    /// Time in which less than a segment waited for an ACK (Nagle), ns.
    pub nagle_ns: Option<u64>,
    /// Time in which the small-queue limit held the socket: its data waited in the host below TCP, ns.
    pub throttled_ns: Option<u64>,
    /// Inbound segments with data, and the sum over them of the bytes that the program had not read when they came.
    pub unread: Option<(u32, u64)>,
    /// Most bytes that one ACK acknowledged.
    pub ack_max: Option<u32>,
    /// Kernel's own chronos, µs: busy, rwnd-limited, sndbuf-limited (`tcpi_busy_time` …).
    pub chrono_us: Option<[u64; 3]>,
}

/// Fields of the socket as they are now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tcp {
    /// Smoothed round-trip time, µs.
    pub srtt_us: Option<u32>,
    /// Its mean deviation, µs.
    pub rttvar_us: Option<u32>,
    /// Minimum round-trip time over the kernel's window, µs.
    pub min_rtt_us: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: Option<u32>,
    /// Slow-start threshold, segments; absent before the first loss.
    pub ssthresh: Option<u32>,
    /// `snd_cwnd_clamp`, segments; absent when not clamped.
    pub cwnd_clamp: Option<u32>,
    /// Sending MSS, bytes.
    pub mss: Option<u32>,
    /// The peer's receive window, bytes.
    pub snd_wnd: Option<u32>,
    /// The largest window the peer ever offered, bytes.
    pub max_window: Option<u32>,
    /// Our receive window, bytes.
    pub rcv_wnd: Option<u32>,
    /// Shift of the peer's windows; absent where scaling was not agreed on.
    pub snd_wscale: Option<u8>,
    /// Shift of our windows; absent where scaling was not agreed on.
    pub rcv_wscale: Option<u8>,
    /// If window scaling was agreed on.
    pub wscale_ok: Option<bool>,
    /// `sk_sndbuf`, bytes.
    pub sndbuf: Option<u32>,
    /// `sk_rcvbuf`, bytes.
    pub rcvbuf: Option<u32>,
    /// SO_SNDBUF was set (autotuning off).
    pub sndbuf_locked: Option<bool>,
    /// SO_RCVBUF was set (autotuning off).
    pub rcvbuf_locked: Option<bool>,
    /// Memory held by the send queue, bytes.
    pub wmem_queued: Option<u32>,
    /// Written but never sent, bytes.
    pub unsent: Option<u32>,
    /// Received but not read by the program, bytes.
    pub unread: Option<u32>,
    /// Round-trip time as the receiving side estimates it, µs (`rcv_rtt_est`).
    pub rcv_rtt_us: Option<u32>,
    /// Bytes in the queues below TCP, memory of their records included (`sk_wmem_alloc`).
    pub wmem_alloc: Option<u32>,
    /// If Nagle's rule is in force: neither TCP_NODELAY nor TCP_CORK is set.
    pub nagle: Option<bool>,
    /// In flight, bytes: (unacked − sacked − lost + retrans) × mss, never more than what is outstanding.
    pub in_flight: Option<u32>,
    /// Sent but not acknowledged, segments (`packets_out`).
    pub packets_out: Option<u32>,
    /// Segments marked lost.
    pub lost: Option<u32>,
    /// Segments acknowledged selectively.
    pub sacked: Option<u32>,
    /// Retransmissions outstanding.
    pub retrans_out: Option<u32>,
    /// `sk_pacing_rate`, bytes per second; absent when unlimited.
    pub pacing_rate: Option<u64>,
    /// SO_MAX_PACING_RATE, bytes per second; absent when unset.
    pub max_pacing_rate: Option<u64>,
    /// If the kernel paces this socket (`sk_pacing_status` not none).
    pub paced: Option<bool>,
    /// Delivery rate of the last kept sample, bytes per second.
    pub delivery_rate: Option<u64>,
    /// That sample was application-limited.
    pub app_limited: Option<bool>,
    /// `is_cwnd_limited`.
    pub cwnd_limited: Option<bool>,
    /// The writer waits for buffer space (SOCK_NOSPACE).
    pub writer_blocked: Option<bool>,
    /// `icsk_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: Option<u8>,
    /// Consecutive timeouts of the segment in flight.
    pub timeouts: Option<u8>,
    /// Exponential backoff of the timer.
    pub backoff: Option<u8>,
    /// Unanswered window probes.
    pub probes: Option<u8>,
    /// Congestion control.
    pub congestion: Option<Box<str>>,
    /// What became of Fast Open on this connection.
    pub fastopen: Option<FastOpen>,
    /// How long the handshake took, µs: of a connect from SYN_SENT to ESTABLISHED, SYNs sent again included; of an accept the round
    /// trip of the SYN-ACK, absent where it was sent again. Only the probes see it.
    pub handshake_us: Option<u32>,
}

/// What became of TCP Fast Open (RFC 7413) on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FastOpen {
    /// A cookie was asked for; the SYN carried no data.
    CookieRequested,
    /// The SYN carried data and the peer did not accept it.
    DataRefused,
    /// The SYN carried data and the peer accepted it.
    DataAccepted,
}

/// One socket at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Which socket.
    pub key: Key,
    /// When, by the kernel's clock.
    pub at: Instant,
    /// When the socket was first seen; its birth unless `origin` is [`Origin::Seeded`].
    pub since: Instant,
    /// How it came to be known.
    pub origin: Origin,
    /// Its ends.
    pub endpoints: Endpoints,
    /// Its TCP state.
    pub state: TcpState,
    /// Whose it is, as far as the source can tell.
    pub owner: OwnerHint,
    /// Fields as they are now.
    pub tcp: Tcp,
    /// Totals over its life.
    pub totals: Totals,
    /// Time budget; only the probes keep it.
    pub budget: Option<BudgetTotals>,
    /// Counts of calls; only the probes see them.
    pub calls: Option<CallCounts>,
}

/// What sent a segment again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the field's own terms")]
pub enum RetransmitKind {
    Fast,
    Rto,
    Tlp,
    SynAck,
}

/// A hook and whether it is in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HookState {
    /// Kernel name of the hook.
    pub hook: String,
    /// Why it is missing and what is lost; `None` when attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}
