//! Every read of a kernel structure, by the offsets of this kernel.
//!
//! A load through a BTF pointer is checked by the verifier and, should the pointer be stale, yields zero.

use core::{arch::asm, mem::offset_of, ptr::read_volatile};

use aya_ebpf::helpers::{
    bpf_probe_read_kernel_buf,
    generated::{bpf_get_socket_cookie, bpf_skc_to_tcp_sock},
};
use tcpwin_common::{
    FIELD_MARK, FLAG_CWND_LIMITED, FLAG_NOSPACE, FLAG_RATE_APP_LIMITED, FLAG_SYN_DATA, FLAG_SYN_DATA_ACKED,
    FLAG_SYN_FASTOPEN, Gauges, Identity, OFFSET_MISSING, Offsets,
};

use crate::global::{OFFSETS, have_cookie_helper};

/// `SOCK_NOSPACE`, bit of `socket.flags` (include/linux/net.h).
const SOCK_NOSPACE: u64 = 1 << 2;
/// `TSQ_THROTTLED`, bit of `sk_tsq_flags` (include/linux/tcp.h).
const TSQ_THROTTLED: u64 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
/// Bits of `tcp_sock.nonagle` (include/net/tcp.h).
const TCP_NAGLE_OFF: u8 = 1;
const TCP_NAGLE_CORK: u8 = 2;
const IPPROTO_TCP: u16 = 6;

/// Reads a load-time global, whose value the compiler must not assume.
#[inline(always)]
fn constant(global: &'static u32) -> u32 {
    // SAFETY: a reference.
    unsafe { read_volatile(global) }
}

/// Packed offset of a field, a constant to the verifier.
macro_rules! offset {
    ($field:ident) => {
        constant(&OFFSETS.$field)
    };
}

/// Loads a whole field that every kernel has. One instruction, into which the agent writes the offset; a field that is
/// missing all the same keeps its mark, which the verifier refuses.
macro_rules! load {
    ($base:expr, $field:ident: $type:ident) => {{
        let value: u64;
        // SAFETY: a load through a BTF pointer by an offset from BTF: the verifier checks the access. It reads what the kernel
        // may change at any time, as `readonly` allows between two stores of ours.
        unsafe {
            asm!(
                concat!("{value} = *(", stringify!($type), " *)({base} + {mark})"),
                value = lateout(reg) value,
                base = in(reg) $base,
                mark = const FIELD_MARK as usize + offset_of!(Offsets, $field),
                options(pure, readonly, nostack),
            );
        }
        value as $type
    }};
}

/// Loads a field that is a pointer.
macro_rules! follow {
    ($base:expr, $field:ident) => {
        load!($base, $field: u64) as *const u8
    };
}

/// Loads a whole field; zero where this kernel lacks it.
macro_rules! load_if_there {
    ($base:expr, $field:ident: $type:ident) => {
        if offset!($field) == OFFSET_MISSING {
            0 as $type
        } else {
            load!($base, $field: $type)
        }
    };
}

/// Loads a bit-field, or a byte where a newer kernel made it one.
macro_rules! bits {
    ($base:expr, $field:ident) => {{
        let packed = offset!($field);
        load!($base, $field: u8) >> (packed >> 20 & 7) & (packed >> 24) as u8
    }};
}

/// Loads a bit-field; zero where this kernel lacks it.
macro_rules! bits_if_there {
    ($base:expr, $field:ident) => {
        if offset!($field) == OFFSET_MISSING {
            0u8
        } else {
            bits!($base, $field)
        }
    };
}

/// A `struct sock` of TCP, as the verifier knows it: a BTF pointer to `struct tcp_sock`.
#[derive(Clone, Copy)]
pub struct Socket {
    tcp: *const u8,
}

/// The sequence space of the sending side, read together.
#[derive(Clone, Copy)]
pub struct Sequence {
    /// Oldest unacknowledged.
    pub snd_una: u32,
    /// Next to be sent.
    pub snd_nxt: u32,
    /// End of what the program wrote.
    pub write_seq: u32,
}

/// What an inbound segment carries (`tcp_skb_cb`).
#[derive(Clone, Copy)]
pub struct Segment {
    /// First sequence number.
    pub seq: u32,
    /// After the last one.
    pub end_seq: u32,
    /// Acknowledged by it.
    pub ack_seq: u32,
}

impl Socket {
    /// `sk` is a BTF pointer to `struct sock` or `sock_common`; `None` for what is no full TCP socket (UDP, TIME_WAIT, requests).
    #[inline(always)]
    pub fn from_sock(sk: *const u8) -> Option<Self> {
        if sk.is_null() {
            return None;
        }
        // SAFETY: the verifier checks that `sk` is a BTF pointer.
        let tcp = unsafe { bpf_skc_to_tcp_sock(sk.cast_mut().cast()) }
            .cast::<u8>()
            .cast_const();
        (!tcp.is_null()).then_some(Self { tcp })
    }

    /// If `sk` is of IPv4 or IPv6 and TCP: a cheap look before anything else, for hooks that see every protocol.
    #[inline(always)]
    pub fn is_tcp(sk: *const u8) -> bool {
        Self::is_inet(sk) && load!(sk, sk_protocol: u16) & 0xff == IPPROTO_TCP
    }

    /// If `sk` is of IPv4 or IPv6. Reads what TIME_WAIT and request sockets have too.
    #[inline(always)]
    pub fn is_inet(sk: *const u8) -> bool {
        let family = load!(sk, skc_family: u16);
        family == AF_INET || family == AF_INET6
    }

    /// A number that tells sockets apart, though not surely: what the kernel hashes established ones by.
    #[inline(always)]
    pub fn hash(sk: *const u8) -> u32 {
        load!(sk, skc_hash: u32)
    }

    /// TCP state.
    #[inline(always)]
    pub fn state(self) -> u8 {
        load!(self.tcp, skc_state: u8)
    }

    /// Socket cookie, made on first use; on kernels without the helper what stands in the socket, else its address.
    #[inline(always)]
    pub fn cookie(self, sk: *const u8) -> u64 {
        if have_cookie_helper() == 1 {
            // SAFETY: a BTF pointer to a socket.
            return unsafe { bpf_get_socket_cookie(sk.cast_mut().cast()) };
        }
        let cookie = load!(self.tcp, skc_cookie: u64);
        if cookie != 0 { cookie } else { sk as u64 }
    }

    /// CLOCK_MONOTONIC when the socket last sent or took in a segment, ns; 0 where this kernel does not keep it
    /// (`tcp_mstamp_refresh`).
    #[inline(always)]
    pub fn last_segment_ns(self) -> u64 {
        load_if_there!(self.tcp, tcp_clock_cache: u64)
    }

    /// Sequence space of the sending side.
    #[inline(always)]
    pub fn sequence(self) -> Sequence {
        Sequence {
            snd_una: load!(self.tcp, snd_una: u32),
            snd_nxt: load!(self.tcp, snd_nxt: u32),
            write_seq: load!(self.tcp, write_seq: u32),
        }
    }

    /// In flight, segments (`tcp_packets_in_flight`).
    #[inline(always)]
    pub fn packets_in_flight(self) -> u32 {
        load!(self.tcp, packets_out: u32)
            .wrapping_sub(load!(self.tcp, sacked_out: u32))
            .wrapping_sub(load!(self.tcp, lost_out: u32))
            .wrapping_add(load!(self.tcp, retrans_out: u32))
    }

    /// `snd_cwnd`.
    #[inline(always)]
    pub fn cwnd(self) -> u32 {
        load!(self.tcp, snd_cwnd: u32)
    }

    /// `snd_ssthresh`.
    #[inline(always)]
    pub fn ssthresh(self) -> u32 {
        load!(self.tcp, snd_ssthresh: u32)
    }

    /// `snd_wnd`.
    #[inline(always)]
    pub fn snd_wnd(self) -> u32 {
        load!(self.tcp, snd_wnd: u32)
    }

    /// `mss_cache`.
    #[inline(always)]
    pub fn mss(self) -> u32 {
        load!(self.tcp, mss_cache: u32)
    }

    /// `rcv_nxt`.
    #[inline(always)]
    pub fn rcv_nxt(self) -> u32 {
        load!(self.tcp, rcv_nxt: u32)
    }

    /// Received but not read by the program, bytes; [`Self::rcv_nxt`] is handed in.
    #[inline(always)]
    pub fn unread(self, rcv_nxt: u32) -> u32 {
        rcv_nxt.wrapping_sub(load!(self.tcp, copied_seq: u32))
    }

    /// The small-queue limit holds the socket: what it sent waits in the host below TCP (`tcp_small_queue_check`).
    #[inline(always)]
    pub fn is_throttled(self) -> bool {
        load_if_there!(self.tcp, sk_tsq_flags: u64) & TSQ_THROTTLED != 0
    }

    /// Nagle's rule holds a part of a segment back: neither TCP_NODELAY nor TCP_CORK is set.
    #[inline(always)]
    pub fn obeys_nagle(self) -> bool {
        bits_if_there!(self.tcp, nonagle) & (TCP_NAGLE_OFF | TCP_NAGLE_CORK) == 0
    }

    /// `srtt_us`, unscaled.
    #[inline(always)]
    pub fn srtt_us(self) -> u32 {
        load!(self.tcp, srtt_us: u32) >> 3
    }

    /// `bytes_acked`.
    #[inline(always)]
    pub fn bytes_acked(self) -> u64 {
        load!(self.tcp, bytes_acked: u64)
    }

    /// `bytes_received`.
    #[inline(always)]
    pub fn bytes_received(self) -> u64 {
        load!(self.tcp, bytes_received: u64)
    }

    /// `total_retrans`.
    #[inline(always)]
    pub fn total_retrans(self) -> u32 {
        load!(self.tcp, total_retrans: u32)
    }

    /// `sk_pacing_status` is not SK_PACING_NONE.
    #[inline(always)]
    pub fn is_paced(self) -> bool {
        load!(self.tcp, sk_pacing_status: u32) != 0
    }

    /// `is_cwnd_limited`.
    #[inline(always)]
    pub fn is_cwnd_limited(self) -> bool {
        bits_if_there!(self.tcp, is_cwnd_limited) != 0
    }

    /// `icsk_ca_state`.
    #[inline(always)]
    pub fn ca_state(self) -> u8 {
        bits!(self.tcp, icsk_ca_state)
    }

    /// `icsk_pending`.
    #[inline(always)]
    pub fn pending(self) -> u8 {
        load!(self.tcp, icsk_pending: u8)
    }

    /// `icsk_retransmits`.
    #[inline(always)]
    pub fn retransmits(self) -> u8 {
        load!(self.tcp, icsk_retransmits: u8)
    }

    /// The writer waits for buffer space: SOCK_NOSPACE of the `struct socket`, which an orphan lacks.
    #[inline(always)]
    pub fn writer_blocked(self) -> bool {
        let socket = follow!(self.tcp, sk_socket);
        !socket.is_null() && load!(socket, socket_flags: u64) & SOCK_NOSPACE != 0
    }

    /// No program holds the socket: closed by it, or not yet accepted.
    #[inline(always)]
    pub fn is_orphan(self) -> bool {
        follow!(self.tcp, sk_socket).is_null()
    }

    /// Copies the gauges; what was read before is handed in.
    #[inline(always)]
    pub fn copy_gauges(self, to: &mut Gauges, sequence: Sequence, blocked: bool) {
        let tcp = self.tcp;
        to.pacing_rate = load!(tcp, sk_pacing_rate: u64);
        to.max_pacing_rate = load!(tcp, sk_max_pacing_rate: u64);
        to.srtt_us = self.srtt_us();
        to.rttvar_us = load!(tcp, mdev_us: u32) >> 2;
        // struct minmax: window of { u32 t, v } samples, the first is the minimum.
        // SAFETY: as in `load!`; `v` follows `t` (include/linux/win_minmax.h).
        to.min_rtt_us =
            unsafe { read_volatile(tcp.add((offset!(rtt_min) & 0xf_ffff) as usize + 4).cast::<u32>()) };
        to.cwnd = self.cwnd();
        to.ssthresh = self.ssthresh();
        to.cwnd_clamp = load!(tcp, snd_cwnd_clamp: u32);
        to.mss = self.mss();
        to.snd_wnd = self.snd_wnd();
        to.max_window = load!(tcp, max_window: u32);
        to.rcv_wnd = load!(tcp, rcv_wnd: u32);
        to.rcv_ssthresh = load!(tcp, rcv_ssthresh: u32);
        to.window_clamp = load!(tcp, window_clamp: u32);
        to.sndbuf = load!(tcp, sk_sndbuf: u32);
        to.rcvbuf = load!(tcp, sk_rcvbuf: u32);
        to.wmem_queued = load!(tcp, sk_wmem_queued: u32);
        to.unsent = sequence.write_seq.wrapping_sub(sequence.snd_nxt);
        to.outstanding = sequence.snd_nxt.wrapping_sub(sequence.snd_una);
        to.packets_out = load!(tcp, packets_out: u32);
        to.sacked_out = load!(tcp, sacked_out: u32);
        to.lost_out = load!(tcp, lost_out: u32);
        to.retrans_out = load!(tcp, retrans_out: u32);
        to.delivered = load!(tcp, delivered: u32);
        to.rate_delivered = load!(tcp, rate_delivered: u32);
        to.rate_interval_us = load!(tcp, rate_interval_us: u32);
        to.unread = self.unread(self.rcv_nxt());
        to.rcv_rtt_us = load_if_there!(tcp, rcv_rtt_us: u32) >> 3;
        to.wmem_alloc = load_if_there!(tcp, sk_wmem_alloc: u32);
        to.ca_state = self.ca_state();
        to.retransmits = self.retransmits();
        to.backoff = load!(tcp, icsk_backoff: u8);
        to.probes_out = bits_if_there!(tcp, icsk_probes_out);
        to.snd_wscale = bits!(tcp, snd_wscale);
        to.rcv_wscale = bits!(tcp, rcv_wscale);
        to.wscale_ok = bits!(tcp, wscale_ok);
        to.userlocks = bits!(tcp, sk_userlocks);
        to.pacing_status = load!(tcp, sk_pacing_status: u32) as u8;
        to.nonagle = bits_if_there!(tcp, nonagle);
        let mut flags = 0;
        if blocked {
            flags |= FLAG_NOSPACE;
        }
        if self.is_cwnd_limited() {
            flags |= FLAG_CWND_LIMITED;
        }
        if bits_if_there!(tcp, rate_app_limited) != 0 {
            flags |= FLAG_RATE_APP_LIMITED;
        }
        if bits_if_there!(tcp, syn_data) != 0 {
            flags |= FLAG_SYN_DATA;
        }
        if bits_if_there!(tcp, syn_fastopen) != 0 {
            flags |= FLAG_SYN_FASTOPEN;
        }
        if bits_if_there!(tcp, syn_data_acked) != 0 {
            flags |= FLAG_SYN_DATA_ACKED;
        }
        to.flags = flags;
    }

    /// Copies the congestion control's name if it is another than at the last copy.
    #[inline(always)]
    pub fn copy_ca_name(self, to: &mut Identity, known: &mut u64) {
        let ops = follow!(self.tcp, icsk_ca_ops);
        if ops as u64 != *known && !ops.is_null() {
            *known = ops as u64;
            // SAFETY: a helper that checks the address itself.
            let _ = unsafe {
                bpf_probe_read_kernel_buf(ops.add((offset!(ca_name) & 0xf_ffff) as usize), &mut to.ca_name)
            };
        }
    }

    /// Copies addresses, ports and namespace. Ports are given up at close: what is zero by then is left as it was.
    #[inline(never)]
    pub fn copy_identity(self, to: &mut Identity) {
        let tcp = self.tcp;
        let family = load!(tcp, skc_family: u16);
        let local4 = load!(tcp, skc_rcv_saddr: u32);
        let peer4 = load!(tcp, skc_daddr: u32);
        if family == AF_INET6 && offset!(skc_v6_daddr) != OFFSET_MISSING {
            let mut local = [0u8; 16];
            let mut peer = [0u8; 16];
            // SAFETY: helpers that check the addresses themselves.
            unsafe {
                let _ = bpf_probe_read_kernel_buf(
                    tcp.add((offset!(skc_v6_rcv_saddr) & 0xf_ffff) as usize),
                    &mut local,
                );
                let _ = bpf_probe_read_kernel_buf(
                    tcp.add((offset!(skc_v6_daddr) & 0xf_ffff) as usize),
                    &mut peer,
                );
            }
            to.local = local;
            to.peer = peer;
            to.family = AF_INET6 as u8;
        } else {
            to.local[..4].copy_from_slice(&local4.to_ne_bytes());
            to.peer[..4].copy_from_slice(&peer4.to_ne_bytes());
            to.family = AF_INET as u8;
        }
        let local_port = u16::from_be(load!(tcp, inet_sport: u16));
        if local_port != 0 {
            to.local_port = local_port;
        }
        let peer_port = u16::from_be(load!(tcp, skc_dport: u16));
        if peer_port != 0 {
            to.peer_port = peer_port;
        }
        let net = follow!(tcp, skc_net);
        if !net.is_null() {
            to.netns = load!(net, net_inum: u32);
        }
    }
}

impl Segment {
    /// From the control block of an inbound `struct sk_buff`, a BTF pointer.
    #[inline(always)]
    pub fn from_skb(skb: *const u8) -> Self {
        // SAFETY: the verifier allows any access within `cb`.
        let cb = unsafe { skb.add((offset!(skb_cb) & 0xf_ffff) as usize) };
        Self {
            seq: load!(cb, cb_seq: u32),
            end_seq: load!(cb, cb_end_seq: u32),
            ack_seq: load!(cb, cb_ack_seq: u32),
        }
    }
}
