//! What the kernel programs keep of one socket, where the agent reads it without a system call.

/// Length of a process name, with its NUL (`TASK_COMM_LEN`).
pub const COMM_LEN: usize = 16;
/// Length of a congestion control's name, with its NUL (`TCP_CA_NAME_MAX`).
pub const CA_NAME_LEN: usize = 16;

/// Number of states of the time [`Budget`].
pub const BUDGET_STATES: usize = 6;
/// Nothing outstanding and nothing unsent.
pub const BUDGET_IDLE: usize = 0;
/// Data outstanding, nothing unsent, the writer not blocked: the program gave no more.
pub const BUDGET_APP: usize = 1;
/// The writer is blocked on buffer space while cwnd and the peer's window have room.
pub const BUDGET_SNDBUF: usize = 2;
/// Data unsent because the peer's receive window is full.
pub const BUDGET_RWND: usize = 3;
/// Data unsent because in flight has reached cwnd.
pub const BUDGET_CWND: usize = 4;
/// Data unsent though cwnd and the peer's window have room: the pacing timer holds it.
pub const BUDGET_PACING: usize = 5;

/// The socket was seen opening by `connect` (SYN_SENT).
pub const ORIGIN_CONNECT: u8 = 1;
/// The socket was seen opening from a listener (SYN_RECV).
pub const ORIGIN_ACCEPT: u8 = 2;
/// The socket was there before the probes.
pub const ORIGIN_SEEDED: u8 = 3;

/// `SOCK_NOSPACE`: the writer waits for buffer space.
pub const FLAG_NOSPACE: u16 = 1 << 0;
/// `tcp_sock.is_cwnd_limited`.
pub const FLAG_CWND_LIMITED: u16 = 1 << 1;
/// `tcp_sock.rate_app_limited`: of the last rate sample that was kept, not of now.
pub const FLAG_RATE_APP_LIMITED: u16 = 1 << 2;
/// `tcp_sock.syn_data`: the SYN carried data.
pub const FLAG_SYN_DATA: u16 = 1 << 3;
/// `tcp_sock.syn_fastopen`: the SYN asked for, or carried, a Fast Open cookie.
pub const FLAG_SYN_FASTOPEN: u16 = 1 << 4;
/// `tcp_sock.syn_data_acked`: the data in the SYN was acknowledged by the SYN-ACK.
pub const FLAG_SYN_DATA_ACKED: u16 = 1 << 5;

/// `SOCK_SNDBUF_LOCK` of `sk_userlocks`: SO_SNDBUF was set, autotuning is off.
pub const USERLOCK_SNDBUF: u8 = 1;
/// `SOCK_RCVBUF_LOCK` of `sk_userlocks`: SO_RCVBUF was set, autotuning is off.
pub const USERLOCK_RCVBUF: u8 = 2;

/// Where the connection's time went, and how much was in flight meanwhile. Both only grow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nanoseconds spent in each state, by `BUDGET_*`. The interval since [`Slot::last_ns`] is not in it yet.
    pub ns: [u64; BUDGET_STATES],
    /// Integral of outstanding bytes over the time of each state, in bytes × 1,024 ns.
    pub flight: [u64; BUDGET_STATES],
}

/// Exact counts, one event at a time. All only grow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Payload bytes acknowledged by the peer, and one for a SYN of ours (`tcp_sock.bytes_acked`).
    pub bytes_acked: u64,
    /// Bytes received in order (`tcp_sock.bytes_received`).
    pub bytes_received: u64,
    /// Send calls that took at least one byte.
    pub sends: u64,
    /// Bytes those calls took.
    pub sent_bytes: u64,
    /// Receive calls that gave at least one byte.
    pub recvs: u64,
    /// Bytes those calls gave.
    pub recv_bytes: u64,
    /// Segments received while established (`tcp_probe` events).
    pub segments_in: u64,
    /// Nanoseconds with data unsent and a peer's window below one segment.
    pub zero_window_ns: u64,
    /// Nanoseconds in which less than a segment waited for an ACK (Nagle, RFC 9293 section 3.7.4).
    pub nagle_ns: u64,
    /// Nanoseconds in which data waited below TCP: the small-queue limit held the socket (`TSQ_THROTTLED`).
    pub throttled_ns: u64,
    /// Sum over bursts of the most bytes unacknowledged after a send. A burst ends where inbound data prompts the next one.
    pub burst_peak_sum: u64,
    /// Sum of the squares of the same, in units of 64 B.
    pub burst_peak_sq: u64,
    /// Sum over prompted sends of the bytes still unacknowledged when they came.
    pub turn_flight_sum: u64,
    /// Sum over [`Self::falls_counted`] of cwnd as it was, segments.
    pub fall_cwnd_sum: u64,
    /// Sum of the squares of the same.
    pub fall_cwnd_sq: u64,
    /// Sum over inbound segments with data of the bytes that the program had not read when they came.
    pub unread_sum: u64,
    /// Send calls refused for want of buffer space (EAGAIN).
    pub send_refused: u32,
    /// Send calls that failed otherwise (EPIPE, ECONNRESET …).
    pub send_failed: u32,
    /// Segments retransmitted in fast recovery.
    pub retrans_fast: u32,
    /// Segments retransmitted by, and in recovery after, a retransmission timeout.
    pub retrans_rto: u32,
    /// Tail-loss probes that resent data.
    pub retrans_tlp: u32,
    /// SYNs sent again.
    pub retrans_syn: u32,
    /// Entries into recovery or loss (`tcp_set_ca_state` to CA_Recovery or CA_Loss).
    pub cwnd_falls: u32,
    /// Sends that found everything acknowledged.
    pub resumes: u32,
    /// Of `resumes`, those within a quarter of srtt after inbound data that came since the last send.
    pub turns: u32,
    /// Sends within a quarter of srtt after inbound data, with data of an earlier send still outstanding and nothing unsent.
    pub turns_in_flight: u32,
    /// Largest single send call, bytes.
    pub send_max: u32,
    /// Sends that ended a time in which the writer was blocked.
    pub unblocks: u32,
    /// Bursts in [`Self::burst_peak_sum`].
    pub bursts: u32,
    /// Sends after a pause: none in the eighth of a round trip before.
    pub pauses: u32,
    /// Of those, the ones that inbound data prompted.
    pub pauses_prompted: u32,
    /// Inbound segments with data.
    pub data_segments: u32,
    /// Most bytes that one ACK acknowledged.
    pub ack_max: u32,
    /// Of `cwnd_falls`, all but the first few: the overshoot of slow start says nothing of the path.
    pub falls_counted: u32,
}

/// Slowly changing fields, copied at most once every refresh interval.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// `icsk_ca_ops` as an address: tells the programs that [`Identity::ca_name`] must be read again.
    pub ca_ops: u64,
    /// `sk_pacing_rate`, bytes per second; all ones when there is none.
    pub pacing_rate: u64,
    /// `sk_max_pacing_rate` (SO_MAX_PACING_RATE), bytes per second; all ones when unset.
    pub max_pacing_rate: u64,
    /// Smoothed round-trip time, µs (`srtt_us >> 3`); 0 before the first sample.
    pub srtt_us: u32,
    /// Mean deviation of the round-trip time, µs (`mdev_us >> 2`).
    pub rttvar_us: u32,
    /// Windowed minimum round-trip time, µs (`rtt_min`); all ones before the first sample.
    pub min_rtt_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; 0x7fffffff before the first loss.
    pub ssthresh: u32,
    /// `snd_cwnd_clamp`, segments.
    pub cwnd_clamp: u32,
    /// Sending MSS, bytes (`mss_cache`).
    pub mss: u32,
    /// The peer's receive window, bytes, scaled.
    pub snd_wnd: u32,
    /// Largest window the peer ever offered, bytes.
    pub max_window: u32,
    /// Receive window we offer, bytes (`rcv_wnd`).
    pub rcv_wnd: u32,
    /// Slow-start threshold of our receive window, bytes (`rcv_ssthresh`).
    pub rcv_ssthresh: u32,
    /// `window_clamp`, bytes.
    pub window_clamp: u32,
    /// `sk_sndbuf`, bytes.
    pub sndbuf: u32,
    /// `sk_rcvbuf`, bytes.
    pub rcvbuf: u32,
    /// `sk_wmem_queued`, bytes of memory held by the send queue.
    pub wmem_queued: u32,
    /// Written but never sent, bytes (`write_seq - snd_nxt`).
    pub unsent: u32,
    /// Sent but not acknowledged, bytes (`snd_nxt - snd_una`).
    pub outstanding: u32,
    /// `packets_out`, segments.
    pub packets_out: u32,
    /// `sacked_out`, segments.
    pub sacked_out: u32,
    /// `lost_out`, segments.
    pub lost_out: u32,
    /// `retrans_out`, segments.
    pub retrans_out: u32,
    /// Segments retransmitted over the connection's life (`total_retrans`).
    pub total_retrans: u32,
    /// Segments delivered over the connection's life (`delivered`).
    pub delivered: u32,
    /// Segments delivered in the last kept rate sample (`rate_delivered`).
    pub rate_delivered: u32,
    /// Length of the last kept rate sample, µs (`rate_interval_us`).
    pub rate_interval_us: u32,
    /// Received but not read by the program, bytes (`rcv_nxt - copied_seq`).
    pub unread: u32,
    /// Round-trip time as the receiving side estimates it, µs (`rcv_rtt_est.rtt_us >> 3`); 0 before the first sample.
    pub rcv_rtt_us: u32,
    /// Bytes in the queues below TCP, memory of their records included (`sk_wmem_alloc`).
    pub wmem_alloc: u32,
    /// `FLAG_*`.
    pub flags: u16,
    /// `icsk_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Consecutive retransmission timeouts of the segment in flight (`icsk_retransmits`).
    pub retransmits: u8,
    /// Exponential backoff of the timer (`icsk_backoff`).
    pub backoff: u8,
    /// Unanswered window probes (`icsk_probes_out`).
    pub probes_out: u8,
    /// Shift of the windows the peer offers.
    pub snd_wscale: u8,
    /// Shift of the windows we offer.
    pub rcv_wscale: u8,
    /// 1 if window scaling was agreed on.
    pub wscale_ok: u8,
    /// `sk_userlocks`, see `USERLOCK_*`.
    pub userlocks: u8,
    /// `sk_pacing_status`: 0 none, 1 internal timer, 2 fq.
    pub pacing_status: u8,
    /// `nonagle` of tcp_sock: bit 0 TCP_NODELAY, bit 1 TCP_CORK.
    pub nonagle: u8,
    /// Keeps the record a multiple of eight.
    pub pad: [u8; 4],
}

/// What a socket is and whose it is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Identifier of the process's cgroup (`bpf_get_current_cgroup_id`); 0 if not seen.
    pub cgroup: u64,
    /// Local address, network order; IPv4 in the first four bytes.
    pub local: [u8; 16],
    /// Peer's address, network order; IPv4 in the first four bytes.
    pub peer: [u8; 16],
    /// Process name, NUL-padded; empty if not seen.
    pub comm: [u8; COMM_LEN],
    /// Congestion control's name, NUL-padded.
    pub ca_name: [u8; CA_NAME_LEN],
    /// Network namespace (`ns.inum`).
    pub netns: u32,
    /// Process (thread group) id in the initial namespace; 0 if not seen.
    pub pid: u32,
    /// Local port, host order.
    pub local_port: u16,
    /// Peer's port, host order.
    pub peer_port: u16,
    /// `AF_INET` (2) or `AF_INET6` (10), as the addresses are written: v4-mapped is 2.
    pub family: u8,
    /// TCP state of include/net/tcp_states.h.
    pub state: u8,
    /// `ORIGIN_*`.
    pub origin: u8,
    /// Keeps the record a multiple of eight.
    pub pad: u8,
}

/// What stands beside each slot, in memory of its own that the agent maps whole.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// How often the slot was about to change. Written by the programs alone.
    pub changes: u32,
    /// 1 if each event of the socket is to be told ([`crate::RECORD_SAMPLE`]). Written by the agent; cleared when a socket takes
    /// the slot.
    pub watched: u32,
}

/// Everything known of one socket. Free when `cookie` is 0.
///
/// When the connection has ended and the program has let go of the socket, the whole slot goes through the ring as the record
/// [`crate::RECORD_CLOSE`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// `RECORD_CLOSE` in the copy that the ring carries.
    pub record: u32,
    /// Index of this slot.
    pub index: u32,
    /// Socket cookie (`sk_cookie`), the stable identity; 0 in a free slot. Written last, cleared first.
    pub cookie: u64,
    /// Address of the `struct sock`, 0 in a free slot: a look-up that leads to another's slot shows by it. Of no use to the agent.
    pub socket: u64,
    /// CLOCK_MONOTONIC of the last event, ns: the budget is accounted up to here.
    pub last_ns: u64,
    /// CLOCK_MONOTONIC of the last copy of the gauges, ns.
    pub gauges_ns: u64,
    /// CLOCK_MONOTONIC when the socket was seen opening, or seeded, ns.
    pub opened_ns: u64,
    /// CLOCK_MONOTONIC of the last send that took bytes, ns.
    pub last_send_ns: u64,
    /// CLOCK_MONOTONIC of the last segment with data, ns.
    pub last_data_ns: u64,
    /// Budget state that holds since `last_ns`, `BUDGET_*`.
    pub budget_state: u32,
    /// Outstanding bytes since `last_ns`.
    pub outstanding: u32,
    /// Most bytes unacknowledged after a send of this burst.
    pub burst_peak: u32,
    /// How long the handshake took, µs: of a connect from SYN_SENT to ESTABLISHED, of an accept the round trip of the SYN-ACK as
    /// the kernel measured it; 0 where that is not known, or not yet.
    pub handshake_us: u32,
    /// Time by state.
    pub budget: Budget,
    /// Counts.
    pub counters: Counters,
    /// Copies of the socket's fields.
    pub gauges: Gauges,
    /// Addresses and owner.
    pub identity: Identity,
}

impl Slot {
    /// Nothing known.
    pub const EMPTY: Self = Self {
        record: 0,
        index: 0,
        cookie: 0,
        socket: 0,
        last_ns: 0,
        gauges_ns: 0,
        opened_ns: 0,
        last_send_ns: 0,
        last_data_ns: 0,
        budget_state: 0,
        outstanding: 0,
        burst_peak: 0,
        handshake_us: 0,
        // SAFETY: integers only: all zeroes is a value of each.
        budget: unsafe { core::mem::zeroed() },
        // SAFETY: as above.
        counters: unsafe { core::mem::zeroed() },
        // SAFETY: as above.
        gauges: unsafe { core::mem::zeroed() },
        // SAFETY: as above.
        identity: unsafe { core::mem::zeroed() },
    };
}

const _: () = assert!(size_of::<Budget>() == 96);
const _: () = assert!(size_of::<Counters>() == 200);
const _: () = assert!(size_of::<Gauges>() == 152);
const _: () = assert!(size_of::<Identity>() == 88);
const _: () = assert!(size_of::<Slot>() == 80 + 96 + 200 + 152 + 88);
const _: () = assert!(align_of::<Slot>() == 8);
const _: () = assert!(size_of::<Beside>() == 8);

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (sizes asserted above).
unsafe impl aya::Pod for Slot {}

#[cfg(feature = "user")]
// SAFETY: as above.
unsafe impl aya::Pod for Beside {}
