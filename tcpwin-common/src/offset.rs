//! Where the running kernel keeps the fields that the programs read.
//!
//! rustc emits no CO-RE relocations, so the agent looks the fields up in the kernel's BTF. It writes offsets straight into
//! the instructions that load whole fields ([`FIELD_MARK`]), so that such a load is one instruction, as in C; and it sets all
//! of them as one load-time global, for what else the programs must know: whether a field is there, how a bit-field lies.

/// An instruction that loads a field has this much more than four times the field's place in [`OFFSETS`] where its offset
/// belongs, until the agent puts it there. Beyond any offset that a program has for itself.
pub const FIELD_MARK: u16 = 0x4000;

/// Set in the place of a field that the running kernel lacks.
pub const OFFSET_MISSING: u32 = u32::MAX;

/// A field to look up: the structure and the member path in BTF.
#[derive(Clone, Copy, Debug)]
pub struct OffsetOf {
    /// Structure the offset counts from.
    pub root: &'static str,
    /// Member path from the structure, dotted.
    pub path: &'static str,
    /// If the programs can live without it.
    pub optional: bool,
}

/// Packs a byte offset and, for a bit-field, its shift and width (0 for a whole member): offset, shift from bit 20, mask from 24.
#[must_use]
pub const fn pack_offset(byte: u32, shift: u32, width: u32) -> u32 {
    let mask = if width == 0 { 0xff } else { (1 << width) - 1 };
    byte | shift << 20 | mask << 24
}

macro_rules! offsets {
    ($($(#[$doc:meta])* $name:ident = $root:literal . $path:literal $(if $optional:ident)?;)*) => {
        /// Load-time global `OFFSETS` of the programs: packed by [`pack_offset`], or [`OFFSET_MISSING`].
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Offsets { $(
            $(#[$doc])*
            #[doc = concat!("`", $root, ".", $path, "`.")]
            pub $name: u32,
        )* }

        /// What [`Offsets`] holds, in its order.
        pub const OFFSETS: &[OffsetOf] = &[ $( OffsetOf {
            root: $root,
            path: $path,
            optional: false $(|| { let $optional = true; $optional })?,
        }, )* ];

        impl Offsets {
            /// Nothing looked up yet.
            pub const MISSING: Self = Self { $($name: OFFSET_MISSING,)* };

            /// From the values found for [`OFFSETS`], in its order.
            #[must_use]
            pub const fn from_values(values: &[u32; OFFSETS.len()]) -> Self {
                let mut index = 0;
                $( let $name = values[index]; index += 1; )*
                let _ = index;
                Self { $($name,)* }
            }

            /// The values, in the order of [`OFFSETS`].
            #[must_use]
            pub const fn values(&self) -> [u32; OFFSETS.len()] {
                [$(self.$name,)*]
            }
        }
    };
}

offsets! {
    skc_hash = "sock_common"."skc_hash";
    skc_family = "sock_common"."skc_family";
    skc_state = "sock_common"."skc_state";
    skc_num = "sock_common"."skc_num";
    skc_dport = "sock_common"."skc_dport";
    skc_daddr = "sock_common"."skc_daddr";
    skc_rcv_saddr = "sock_common"."skc_rcv_saddr";
    skc_v6_daddr = "sock_common"."skc_v6_daddr" if optional;
    skc_v6_rcv_saddr = "sock_common"."skc_v6_rcv_saddr" if optional;
    skc_net = "sock_common"."skc_net.net";
    skc_cookie = "sock_common"."skc_cookie";
    net_inum = "net"."ns.inum";
    inet_sport = "inet_sock"."inet_sport";
    sk_protocol = "sock"."sk_protocol";
    sk_socket = "sock"."sk_socket";
    sk_sndbuf = "sock"."sk_sndbuf";
    sk_rcvbuf = "sock"."sk_rcvbuf";
    sk_wmem_queued = "sock"."sk_wmem_queued";
    sk_wmem_alloc = "sock"."sk_wmem_alloc.refs.counter" if optional;
    sk_tsq_flags = "sock"."sk_tsq_flags" if optional;
    sk_userlocks = "sock"."sk_userlocks";
    sk_pacing_rate = "sock"."sk_pacing_rate";
    sk_max_pacing_rate = "sock"."sk_max_pacing_rate";
    sk_pacing_status = "sock"."sk_pacing_status";
    socket_flags = "socket"."flags";
    icsk_ca_ops = "inet_connection_sock"."icsk_ca_ops";
    icsk_ca_state = "inet_connection_sock"."icsk_ca_state";
    icsk_retransmits = "inet_connection_sock"."icsk_retransmits";
    icsk_pending = "inet_connection_sock"."icsk_pending";
    icsk_backoff = "inet_connection_sock"."icsk_backoff";
    icsk_probes_out = "inet_connection_sock"."icsk_probes_out" if optional;
    ca_name = "tcp_congestion_ops"."name";
    snd_una = "tcp_sock"."snd_una";
    snd_nxt = "tcp_sock"."snd_nxt";
    write_seq = "tcp_sock"."write_seq";
    rcv_nxt = "tcp_sock"."rcv_nxt";
    copied_seq = "tcp_sock"."copied_seq";
    packets_out = "tcp_sock"."packets_out";
    sacked_out = "tcp_sock"."sacked_out";
    lost_out = "tcp_sock"."lost_out";
    retrans_out = "tcp_sock"."retrans_out";
    snd_cwnd = "tcp_sock"."snd_cwnd";
    snd_ssthresh = "tcp_sock"."snd_ssthresh";
    snd_cwnd_clamp = "tcp_sock"."snd_cwnd_clamp";
    snd_wnd = "tcp_sock"."snd_wnd";
    max_window = "tcp_sock"."max_window";
    rcv_wnd = "tcp_sock"."rcv_wnd";
    rcv_ssthresh = "tcp_sock"."rcv_ssthresh";
    window_clamp = "tcp_sock"."window_clamp";
    mss_cache = "tcp_sock"."mss_cache";
    srtt_us = "tcp_sock"."srtt_us";
    mdev_us = "tcp_sock"."mdev_us";
    rtt_min = "tcp_sock"."rtt_min";
    rcv_rtt_us = "tcp_sock"."rcv_rtt_est.rtt_us" if optional;
    tcp_clock_cache = "tcp_sock"."tcp_clock_cache" if optional;
    bytes_acked = "tcp_sock"."bytes_acked";
    bytes_received = "tcp_sock"."bytes_received";
    total_retrans = "tcp_sock"."total_retrans";
    delivered = "tcp_sock"."delivered";
    rate_delivered = "tcp_sock"."rate_delivered";
    rate_interval_us = "tcp_sock"."rate_interval_us";
    rate_app_limited = "tcp_sock"."rate_app_limited" if optional;
    is_cwnd_limited = "tcp_sock"."is_cwnd_limited" if optional;
    nonagle = "tcp_sock"."nonagle" if optional;
    syn_data = "tcp_sock"."syn_data" if optional;
    syn_fastopen = "tcp_sock"."syn_fastopen" if optional;
    syn_data_acked = "tcp_sock"."syn_data_acked" if optional;
    snd_wscale = "tcp_sock"."rx_opt.snd_wscale";
    rcv_wscale = "tcp_sock"."rx_opt.rcv_wscale";
    wscale_ok = "tcp_sock"."rx_opt.wscale_ok";
    skb_cb = "sk_buff"."cb";
    cb_seq = "tcp_skb_cb"."seq";
    cb_end_seq = "tcp_skb_cb"."end_seq";
    cb_ack_seq = "tcp_skb_cb"."ack_seq";
}

const _: () = assert!(size_of::<Offsets>() == 4 * OFFSETS.len());

#[cfg(feature = "user")]
// SAFETY: repr(C), u32 only, no padding (size asserted above).
unsafe impl aya::Pod for Offsets {}
