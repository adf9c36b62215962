//! The figures that advice is worked out from, taken from the evidence in one place.

use crate::classify::advice::Program;
use crate::classify::evidence::Evidence;
use crate::classify::{Direction, PathCapacity};
use crate::host::{Sizes, Sysctl};
use crate::observation::Origin;
use crate::units::{Bytes, BytesPerSec, Micros, bits_text, bytes_text, rtt_text};

/// What advice depends on beside the figures of the connection: whose it is, and how the host is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The program of this end, where its settings are known by name.
    pub program: Option<Program>,
    /// Port of this end.
    pub local_port: Option<u16>,
    /// Port of the other end.
    pub peer_port: Option<u16>,
    /// Connections that a change of the host's settings would reach.
    pub connections: Option<u32>,
    /// `net.ipv4.tcp_wmem` of this host.
    pub tcp_wmem: Option<Sizes>,
    /// `net.ipv4.tcp_rmem` of this host.
    pub tcp_rmem: Option<Sizes>,
    /// `net.core.wmem_max` of this host, bytes.
    pub wmem_max: Option<u64>,
    /// `net.core.rmem_max` of this host, bytes.
    pub rmem_max: Option<u64>,
    /// `net.ipv4.tcp_window_scaling` of this host.
    pub window_scaling: Option<bool>,
    /// `net.ipv4.tcp_retries2` of this host.
    pub tcp_retries2: Option<u8>,
}

impl Surroundings {
    /// What the host alone says; a connection adds whose it is.
    #[must_use]
    pub const fn of_host(sysctl: &Sysctl) -> Self {
        Self {
            program: None,
            local_port: None,
            peer_port: None,
            connections: None,
            tcp_wmem: sysctl.tcp_wmem,
            tcp_rmem: sysctl.tcp_rmem,
            wmem_max: sysctl.wmem_max,
            rmem_max: sysctl.rmem_max,
            window_scaling: sysctl.window_scaling,
            tcp_retries2: sysctl.tcp_retries2,
        }
    }
}

/// The figures of one connection that its limit's advice needs. What is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Which way the bytes go.
    pub direction: Direction,
    /// What gets through now.
    pub rate: BytesPerSec,
    /// Smoothed round-trip time.
    pub srtt: Option<Micros>,
    /// Least round-trip time.
    pub min_rtt: Option<Micros>,
    /// Sending MSS, bytes.
    pub mss: u32,
    /// Path MTU, where MTU probing shrank the MSS far below it (`net.ipv4.tcp_mtu_probing`), bytes.
    pub shrunk_below: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: Option<u32>,
    /// `snd_cwnd_clamp`, segments.
    pub clamp: Option<u32>,
    /// The peer's receive window, bytes.
    pub snd_wnd: Option<u32>,
    /// Our receive window, bytes.
    pub rcv_wnd: Option<u32>,
    /// `sk_sndbuf`, bytes.
    pub sndbuf: Option<u32>,
    /// SO_SNDBUF was set.
    pub sndbuf_locked: Option<bool>,
    /// `sk_rcvbuf`, bytes.
    pub rcvbuf: Option<u32>,
    /// SO_RCVBUF was set.
    pub rcvbuf_locked: Option<bool>,
    /// Shift of the peer's windows.
    pub snd_wscale: Option<u8>,
    /// Shift of our windows.
    pub rcv_wscale: Option<u8>,
    /// If window scaling was agreed on.
    pub wscale_ok: Option<bool>,
    /// SO_MAX_PACING_RATE, bytes per second.
    pub max_pacing_rate: Option<u64>,
    /// Share of segments lost.
    pub loss: f64,
    /// The congestion control is a bbr.
    pub is_bbr: bool,
    /// Mean of a send call, bytes.
    pub write: Option<Bytes>,
    /// Bytes per burst between two words of the peer: per turn, or per application window.
    pub burst: Option<Bytes>,
    /// Nagle's rule held data back in a good part of the interval.
    pub nagle: bool,
    /// This end accepted the connection; where neither was seen, as the ports say.
    pub accepted: Option<bool>,
    /// What the path can carry, where it is known.
    pub path: Option<PathCapacity>,
    /// It fills its path together with others, and not by itself.
    pub is_one_of_many: bool,
    /// Whose it is, and how the host is set.
    pub around: Surroundings,
}

/// Growth asked for when nobody knows what the path carries.
const GROWTH: f64 = 10.0;

impl Ask {
    /// Everything the evidence tells.
    pub(in crate::classify) fn of(evidence: &Evidence<'_>) -> Self {
        let interval = evidence.interval;
        let tcp = &interval.tcp;
        let calls = interval.calls.unwrap_or_default();
        let around = evidence.context.around;
        Self {
            direction: evidence.direction,
            rate: evidence.rate,
            srtt: match evidence.direction {
                Direction::Send => evidence.srtt,
                Direction::Receive => evidence.receiver_rtt(),
            },
            min_rtt: evidence.min_rtt,
            mss: evidence.mss,
            shrunk_below: None,
            cwnd: tcp.cwnd,
            clamp: tcp.cwnd_clamp,
            snd_wnd: tcp.snd_wnd,
            rcv_wnd: tcp.rcv_wnd,
            sndbuf: tcp.sndbuf,
            sndbuf_locked: tcp.sndbuf_locked,
            rcvbuf: tcp.rcvbuf,
            rcvbuf_locked: tcp.rcvbuf_locked,
            snd_wscale: tcp.snd_wscale,
            rcv_wscale: tcp.rcv_wscale,
            wscale_ok: tcp.wscale_ok,
            max_pacing_rate: tcp.max_pacing_rate,
            loss: evidence.loss_ratio(),
            is_bbr: evidence.is_bbr(),
            write: calls.sent_bytes.checked_div(calls.sends).map(Bytes),
            burst: calls
                .burst_peak_sum
                .checked_div(u64::from(calls.bursts))
                .filter(|bytes| *bytes > 0)
                .map(Bytes),
            nagle: interval.nagle.is_some_and(|share| share > 0.1),
            accepted: match interval.origin {
                Origin::Accept => Some(true),
                Origin::Connect => Some(false),
                Origin::Seeded => by_ports(around.local_port, around.peer_port),
            },
            path: evidence.context.path,
            is_one_of_many: false,
            around,
        }
    }

    /// The path's own round trip, or the best that is known of it.
    #[must_use]
    pub fn rtt(&self) -> Option<Micros> {
        self.min_rtt.or(self.srtt)
    }

    /// The rate now, whatever was counted.
    pub(super) fn now(&self) -> BytesPerSec {
        BytesPerSec(finite(self.rate.0))
    }

    /// The rate to make room for.
    #[must_use]
    pub fn target(&self) -> BytesPerSec {
        let now = self.now().0;
        match self.path {
            Some(path) => BytesPerSec(finite(path.rate.0).max(now)),
            None => BytesPerSec(now * GROWTH),
        }
    }

    /// What must be in flight for that; `None` without a round-trip time or a rate.
    #[must_use]
    pub fn need(&self) -> Option<Bytes> {
        let target = self.target();
        let rtt = self.rtt().filter(|rtt| rtt.0 > 0)?;
        (target.0 > 0.0).then(|| target.bdp(rtt))
    }

    /// The same in words, for a remedy's reason.
    #[must_use]
    pub fn need_text(&self) -> String {
        let (Some(need), Some(rtt)) = (self.need(), self.rtt()) else {
            return "the round-trip time or the rate is not known".to_owned();
        };
        let target = bits_text(self.target().bits());
        let told = match self.path {
            Some(path) => format!("{target} ({})", path.formula()),
            None => format!("{target} (ten times now, since the path's capacity is not known)"),
        };
        format!("{told} × {} = {} in flight", rtt_text(rtt), bytes_text(need.0))
    }

    /// What a setting of so many bytes a connection may cost at this number of connections.
    pub(super) fn memory(&self, bytes: u64) -> Option<u64> {
        let connections = self.around.connections.filter(|count| *count > 0)?;
        Some(bytes.saturating_mul(u64::from(connections)))
    }
}

/// Which end listens, where the opening was not seen: the one at a port below 1024, or at one that a known program serves.
fn by_ports(local: Option<u16>, peer: Option<u16>) -> Option<bool> {
    let serves = |port: u16| port < 1024 || !Program::serving(port).is_empty();
    match (serves(local?), serves(peer?)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// A rate that stays finite when it is multiplied; no path comes near the bound.
fn finite(rate: f64) -> f64 {
    if rate.is_finite() {
        rate.clamp(0.0, 1e15)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::PathOrigin;

    fn configured(rate: f64) -> PathCapacity {
        PathCapacity {
            rate: BytesPerSec(rate),
            origin: PathOrigin::Configured,
        }
    }

    #[test]
    fn the_target_is_the_path_or_ten_times_now() {
        let now = Ask {
            rate: BytesPerSec(362_000.0),
            min_rtt: Some(Micros(181_000)),
            ..Ask::default()
        };
        assert_eq!(now.need(), Some(Bytes(655_220)));
        assert!(now.need_text().contains("ten times now"), "{}", now.need_text());
        let known = Ask {
            path: Some(configured(12.5e6)),
            ..now
        };
        // 100 Mbit/s over 181 ms.
        assert_eq!(known.need(), Some(Bytes(2_262_500)));
        assert!(
            known
                .need_text()
                .starts_with("100 Mbit/s (the path's bandwidth as configured) × 181 ms"),
            "{}",
            known.need_text()
        );
    }

    #[test]
    fn a_path_slower_than_now_does_not_lower_the_target() {
        let ask = Ask {
            rate: BytesPerSec(2e6),
            path: Some(configured(1e6)),
            ..Ask::default()
        };
        assert_eq!(ask.target(), BytesPerSec(2e6));
        assert_eq!(ask.need(), None, "no round-trip time");
    }

    #[test]
    fn ports_tell_the_listener_where_the_opening_was_not_seen() {
        assert_eq!(by_ports(Some(443), Some(51_000)), Some(true));
        assert_eq!(by_ports(Some(51_000), Some(5432)), Some(false));
        assert_eq!(by_ports(Some(51_000), Some(52_000)), None);
        assert_eq!(by_ports(None, Some(443)), None);
    }
}
