//! `struct tcp_info` (include/uapi/linux/tcp.h), of whatever length the running kernel gives it.

macro_rules! tcp_info {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $offset:literal;)*) => {
        /// The fields of `struct tcp_info` that are used. A field beyond the length that the kernel gave is `None`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TcpInfo {
            len: u16,
            $($name: $type,)*
        }

        impl TcpInfo {
            /// Reads the payload of `INET_DIAG_INFO`, or what `getsockopt` gave; total on any bytes.
            #[must_use]
            pub fn parse(bytes: &[u8]) -> Self {
                Self {
                    len: u16::try_from(bytes.len()).unwrap_or(u16::MAX),
                    $($name: bytes
                        .get($offset..$offset + size_of::<$type>())
                        .and_then(|field| field.try_into().ok())
                        .map_or(0, <$type>::from_ne_bytes),)*
                }
            }

            fn reaches(&self, end: usize) -> bool {
                usize::from(self.len) >= end
            }

            $($(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> Option<$type> {
                self.reaches($offset + size_of::<$type>()).then_some(self.$name)
            })*
        }
    };
}

tcp_info! {
    /// `TCP_*` of include/net/tcp_states.h.
    state: u8 = 0;
    /// `icsk_ca_state`.
    ca_state: u8 = 1;
    /// Consecutive retransmission timeouts of the segment in flight.
    retransmits: u8 = 2;
    /// Unanswered window probes.
    probes: u8 = 3;
    /// Exponential backoff of the timer.
    backoff: u8 = 4;
    /// `TCPI_OPT_*`.
    options: u8 = 5;
    /// `tcpi_snd_wscale` in the low four bits, `tcpi_rcv_wscale` in the high ones.
    wscales: u8 = 6;
    /// Bit 0 `tcpi_delivery_rate_app_limited`, bits 1–2 `tcpi_fastopen_client_fail`.
    flags: u8 = 7;
    /// Sending MSS, bytes.
    snd_mss: u32 = 16;
    /// `packets_out`, segments.
    unacked: u32 = 24;
    /// `sacked_out`, segments.
    sacked: u32 = 28;
    /// `lost_out`, segments.
    lost: u32 = 32;
    /// `retrans_out`, segments.
    retrans: u32 = 36;
    /// `srtt_us >> 3`, µs; 0 before the first sample.
    rtt: u32 = 68;
    /// `mdev_us >> 2`, µs.
    rttvar: u32 = 72;
    /// Slow-start threshold, segments; 0x7fffffff before the first loss.
    snd_ssthresh: u32 = 76;
    /// Congestion window, segments.
    snd_cwnd: u32 = 80;
    /// The MSS this end advertised, bytes.
    advmss: u32 = 84;
    /// Round-trip time as the receiving side estimates it, µs; 0 before the first sample.
    rcv_rtt: u32 = 92;
    /// Segments retransmitted over the connection's life.
    total_retrans: u32 = 100;
    /// `sk_pacing_rate`, bytes per second; all ones when unlimited.
    pacing_rate: u64 = 104;
    /// `sk_max_pacing_rate`, bytes per second; all ones when unset.
    max_pacing_rate: u64 = 112;
    /// Payload bytes acknowledged, and one each for a SYN and a FIN of ours.
    bytes_acked: u64 = 120;
    /// Bytes received in order.
    bytes_received: u64 = 128;
    /// Segments sent, retransmissions among them.
    segs_out: u32 = 136;
    /// Segments received.
    segs_in: u32 = 140;
    /// Written but never sent, bytes.
    notsent_bytes: u32 = 144;
    /// Windowed minimum round-trip time, µs; all ones before the first sample.
    min_rtt: u32 = 148;
    /// Segments received that carried data.
    data_segs_in: u32 = 152;
    /// Delivery rate of the last kept sample, bytes per second; 0 without one.
    delivery_rate: u64 = 160;
    /// Time with data outstanding or unsent, µs.
    busy_time: u64 = 168;
    /// Time limited by the peer's window, µs.
    rwnd_limited: u64 = 176;
    /// Time limited by the send buffer, µs.
    sndbuf_limited: u64 = 184;
    /// Segments delivered. Since 4.18.
    delivered: u32 = 192;
    /// The peer's window, scaled, bytes. Since 5.4.
    snd_wnd: u32 = 228;
    /// Our window, scaled, bytes. Since 6.2.
    rcv_wnd: u32 = 232;
}

/// `TCPI_OPT_TIMESTAMPS` of `tcpi_options`: both ends send them.
pub const OPTION_TIMESTAMPS: u8 = 1 << 0;
/// `TCPI_OPT_SACK`: both ends may acknowledge selectively.
pub const OPTION_SACK: u8 = 1 << 1;
/// `TCPI_OPT_WSCALE` of `tcpi_options`: window scaling was agreed on.
pub const OPTION_WSCALE: u8 = 1 << 2;
/// `TCPI_OPT_ECN`: explicit congestion notification was agreed on.
pub const OPTION_ECN: u8 = 1 << 3;
/// `TCPI_OPT_SYN_DATA`: the data in a SYN, ours or the peer's, was acknowledged by the SYN-ACK.
pub const OPTION_SYN_DATA: u8 = 1 << 5;

#[cfg(test)]
mod tests {
    use super::TcpInfo;

    #[test]
    fn a_field_is_there_from_its_last_byte_on() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(TcpInfo::parse(&bytes[..231]).snd_wnd(), None);
        assert_eq!(
            TcpInfo::parse(&bytes[..232]).snd_wnd(),
            Some(u32::from_ne_bytes([228, 229, 230, 231]))
        );
        assert_eq!(TcpInfo::parse(&bytes[..232]).rcv_wnd(), None);
        assert_eq!(TcpInfo::parse(&[]).ca_state(), None);
    }
}
