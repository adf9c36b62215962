//! A socket's fields as exits show them.

use serde::{Deserialize, Serialize};

use crate::observation::{FastOpen, Retransmits, Tcp, TcpState, Totals};

/// The socket's fields. Absent where the source or the kernel does not give them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
#[expect(
    missing_docs,
    reason = "the names of `struct tcp_info` and `ss`, units in the names"
)]
pub struct TcpFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TcpState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rttvar_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snd_wnd_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_wnd_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snd_wscale: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcv_wscale: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sndbuf_locked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf_locked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wmem_queued_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsent_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_acked: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits_total: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<Retransmits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate_bps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pacing_rate_bps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fastopen: Option<FastOpen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_us: Option<u32>,
}

impl TcpFields {
    /// What was seen of a socket, but for its state.
    #[must_use]
    pub fn of(tcp: &Tcp, totals: &Totals) -> Self {
        let bits = |bytes: u64| bytes as f64 * 8.0;
        Self {
            state: None,
            srtt_us: tcp.srtt_us,
            rttvar_us: tcp.rttvar_us,
            min_rtt_us: tcp.min_rtt_us,
            cwnd: tcp.cwnd,
            ssthresh: tcp.ssthresh,
            mss: tcp.mss,
            snd_wnd_bytes: tcp.snd_wnd,
            rcv_wnd_bytes: tcp.rcv_wnd,
            snd_wscale: tcp.snd_wscale,
            rcv_wscale: tcp.rcv_wscale,
            sndbuf_bytes: tcp.sndbuf,
            sndbuf_locked: tcp.sndbuf_locked,
            rcvbuf_bytes: tcp.rcvbuf,
            rcvbuf_locked: tcp.rcvbuf_locked,
            wmem_queued_bytes: tcp.wmem_queued,
            in_flight_bytes: tcp.in_flight,
            unsent_bytes: tcp.unsent,
            unread_bytes: tcp.unread,
            bytes_acked: totals.bytes_acked,
            bytes_received: totals.bytes_received,
            delivered: totals.delivered,
            retransmits_total: totals.retransmits,
            retransmits: totals.retransmits_by_kind,
            pacing_rate_bps: tcp.pacing_rate.map(bits),
            max_pacing_rate_bps: tcp.max_pacing_rate.map(bits),
            delivery_rate_bps: tcp.delivery_rate.map(bits),
            timeouts: tcp.timeouts,
            congestion: tcp.congestion.as_deref().map(str::to_owned),
            fastopen: tcp.fastopen,
            handshake_us: tcp.handshake_us,
        }
    }
}
