//! One socket as sock_diag gives it, small enough to be kept for every socket of the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::request::AF_INET;
use crate::observation::tcp_info::{OPTION_SYN_DATA, OPTION_WSCALE, TcpInfo};
use crate::observation::{Endpoints, FastOpen, Key, Observation, Origin, OwnerHint, Tcp, TcpState, Totals};
use crate::units::Instant;

/// `TCP_INFINITE_SSTHRESH`: no loss yet.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// `tcpi_fastopen_client_fail`: a cookie was asked for (`TFO_COOKIE_UNAVAILABLE`).
const TFO_COOKIE_UNAVAILABLE: u8 = 1;
/// The data of the SYN was not acknowledged (`TFO_DATA_NOT_ACKED`).
const TFO_DATA_NOT_ACKED: u8 = 2;
/// The SYN was sent again, without data (`TFO_SYN_RETRANSMITTED`).
const TFO_SYN_RETRANSMITTED: u8 = 3;

/// `INET_DIAG_SKMEMINFO`, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// `sk_rcvbuf`.
    pub rcvbuf: u32,
    /// `sk_sndbuf`.
    pub sndbuf: u32,
    /// `sk_wmem_queued`.
    pub wmem_queued: u32,
}

/// A decoded `struct inet_diag_msg` with the attributes that are used; two equal ones give equal observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// `idiag_cookie`.
    pub cookie: u64,
    /// `INET_DIAG_CGROUP_ID`; 0 when not given.
    pub cgroup: u64,
    /// `idiag_src`, network order; IPv4 in the first four bytes.
    pub local: [u8; 16],
    /// `idiag_dst`, the same.
    pub peer: [u8; 16],
    /// `INET_DIAG_CONG`, NUL-padded.
    pub congestion: [u8; 16],
    /// `idiag_if`: the device the socket is bound to, 0 for none.
    pub interface: u32,
    /// `idiag_inode`; 0 for a socket that no program holds.
    pub inode: u32,
    /// Received but not read, bytes.
    pub rqueue: u32,
    /// Written but not acknowledged, bytes.
    pub wqueue: u32,
    /// Host order.
    pub local_port: u16,
    /// Host order; 0 for a socket without a peer.
    pub peer_port: u16,
    /// `AF_INET` or `AF_INET6`.
    pub family: u8,
    /// `idiag_state`.
    pub state: TcpState,
    /// Buffer sizes.
    pub memory: Option<Memory>,
    /// `INET_DIAG_INFO`; mini sockets have none.
    pub info: Option<TcpInfo>,
}

impl Record {
    /// The two ends, v4-mapped addresses as IPv4.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        Endpoints {
            local: SocketAddr::new(self.address(&self.local), self.local_port),
            peer: SocketAddr::new(self.address(&self.peer), self.peer_port),
        }
    }

    fn address(&self, octets: &[u8; 16]) -> IpAddr {
        if self.family == AF_INET {
            Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]).into()
        } else {
            Ipv6Addr::from(*octets).to_canonical()
        }
    }

    /// These figures, with what the record of a destroyed socket lacks taken from the last live one.
    #[must_use]
    pub fn after(self, last: &Self) -> Self {
        Self {
            cgroup: if self.cgroup == 0 {
                last.cgroup
            } else {
                self.cgroup
            },
            congestion: if self.congestion[0] == 0 {
                last.congestion
            } else {
                self.congestion
            },
            inode: if self.inode == 0 { last.inode } else { self.inode },
            memory: self.memory.or(last.memory),
            info: self.info.or(last.info),
            ..self
        }
    }

    /// The record as an observation.
    #[must_use]
    pub fn observation(&self, netns: u32, at: Instant, since: Instant, origin: Origin) -> Observation {
        let info = self.info.unwrap_or_default();
        Observation {
            key: Key {
                cookie: self.cookie,
                netns,
            },
            at,
            since,
            origin,
            endpoints: self.endpoints(),
            state: self.state,
            owner: OwnerHint {
                pid: None,
                name: None,
                cgroup_id: (self.cgroup != 0).then_some(self.cgroup),
                inode: (self.inode != 0).then_some(self.inode),
            },
            tcp: self.tcp(&info),
            totals: totals(&info),
            budget: None,
            calls: None,
        }
    }

    fn tcp(&self, info: &TcpInfo) -> Tcp {
        let srtt_us = info.rtt().filter(|&rtt| rtt != 0);
        let options = info.options();
        // Not agreed on before the peer's SYN came.
        let wscale_ok = options
            .filter(|_| self.state != TcpState::SynSent)
            .map(|options| options & OPTION_WSCALE != 0);
        let wscales = info.wscales().filter(|_| wscale_ok == Some(true));
        let delivery_rate = info.delivery_rate().filter(|&rate| rate != 0);
        Tcp {
            srtt_us,
            rttvar_us: info.rttvar().filter(|_| srtt_us.is_some()),
            min_rtt_us: info.min_rtt().filter(|&rtt| rtt != u32::MAX),
            cwnd: info.snd_cwnd(),
            ssthresh: info
                .snd_ssthresh()
                .filter(|&ssthresh| ssthresh < INFINITE_SSTHRESH),
            cwnd_clamp: None,
            mss: info.snd_mss(),
            snd_wnd: info.snd_wnd(),
            max_window: None,
            rcv_wnd: info.rcv_wnd(),
            snd_wscale: wscales.map(|both| both & 0xf),
            rcv_wscale: wscales.map(|both| both >> 4),
            wscale_ok,
            sndbuf: self.memory.map(|memory| memory.sndbuf),
            rcvbuf: self.memory.map(|memory| memory.rcvbuf),
            sndbuf_locked: None,
            rcvbuf_locked: None,
            wmem_queued: self.memory.map(|memory| memory.wmem_queued),
            unsent: info.notsent_bytes(),
            unread: Some(self.rqueue),
            rcv_rtt_us: info.rcv_rtt().filter(|&rtt| rtt != 0),
            wmem_alloc: None,
            nagle: None,
            in_flight: self.in_flight(info),
            packets_out: info.unacked(),
            lost: info.lost(),
            sacked: info.sacked(),
            retrans_out: info.retrans(),
            pacing_rate: info.pacing_rate().filter(|&rate| rate != u64::MAX),
            max_pacing_rate: info.max_pacing_rate().filter(|&rate| rate != u64::MAX),
            paced: None,
            delivery_rate,
            app_limited: info
                .flags()
                .filter(|_| delivery_rate.is_some())
                .map(|flags| flags & 1 != 0),
            cwnd_limited: None,
            writer_blocked: None,
            ca_state: info.ca_state(),
            timeouts: info.retransmits(),
            backoff: info.backoff(),
            probes: info.probes(),
            congestion: self.congestion_name(),
            fastopen: fastopen(info),
            handshake_us: None,
        }
    }

    /// (unacked − sacked − lost + retrans) × mss, at most `snd_nxt − snd_una` = `idiag_wqueue` − notsent.
    fn in_flight(&self, info: &TcpInfo) -> Option<u32> {
        let segments = info
            .unacked()?
            .saturating_sub(info.sacked()?)
            .saturating_sub(info.lost()?)
            .saturating_add(info.retrans()?);
        let bytes = segments.saturating_mul(info.snd_mss()?);
        Some(match info.notsent_bytes() {
            Some(unsent) => bytes.min(self.wqueue.saturating_sub(unsent)),
            None => bytes,
        })
    }

    /// The congestion control's name, where it was asked for.
    pub(super) fn congestion_name(&self) -> Option<Box<str>> {
        let len = self.congestion.iter().position(|&byte| byte == 0)?;
        (len > 0).then(|| String::from_utf8_lossy(&self.congestion[..len]).into())
    }
}

fn totals(info: &TcpInfo) -> Totals {
    let chrono_us = || Some([info.busy_time()?, info.rwnd_limited()?, info.sndbuf_limited()?]);
    Totals {
        bytes_acked: info.bytes_acked(),
        bytes_received: info.bytes_received(),
        retransmits: info.total_retrans(),
        retransmits_by_kind: None,
        delivered: info.delivered(),
        segments_in: info.segs_in().map(u64::from),
        cwnd_falls: None,
        fall_cwnd: None,
        zero_window_ns: None,
        nagle_ns: None,
        throttled_ns: None,
        unread: None,
        ack_max: None,
        chrono_us: chrono_us(),
    }
}

/// `tcp_fastopen_cookie_check`, `tcp_rcv_fastopen_synack`: the failures are set only on a socket that tried.
fn fastopen(info: &TcpInfo) -> Option<FastOpen> {
    if info.options()? & OPTION_SYN_DATA != 0 {
        return Some(FastOpen::DataAccepted);
    }
    match info.flags()? >> 1 & 3 {
        TFO_COOKIE_UNAVAILABLE => Some(FastOpen::CookieRequested),
        TFO_DATA_NOT_ACKED | TFO_SYN_RETRANSMITTED => Some(FastOpen::DataRefused),
        _ => None,
    }
}
