//! A printed socket → figures.
//!
//! `ss` leaves out what is zero. Where the line is whole a figure that is missing is zero; where somebody cut the line, or the `ss` is too
//! old to know the field, it is not known. Send-Q helps: it is always there, and is what is unacknowledged and unsent together.

use super::record::Family;
use super::{Socket, Value};
use crate::observation::pasted::{Pasted, SsFigures, Timer, TimerKind};
use crate::observation::{FastOpen, Tcp, TcpState, Totals};

pub(super) fn observe(socket: &Socket) -> Pasted {
    let figures = Figures(socket);
    Pasted {
        line: socket.line,
        at: socket.at,
        local: socket.head.local.clone(),
        peer: socket.head.peer.clone(),
        cookie: figures
            .text("sk")
            .and_then(|hex| u64::from_str_radix(hex, 16).ok()),
        process: figures.text(super::field::USERS).and_then(process),
        state: socket.head.state,
        is_mptcp: socket.head.family == Family::Mptcp,
        tcp: figures.tcp(),
        totals: figures.totals(),
        ss: figures.ss(),
        unknown: socket.unknown.clone(),
        elided: socket.elided,
    }
}

/// Name and id of the first process of `(("nc",pid=12,fd=3))`, or of `(("nc",12,3))`.
fn process(users: &str) -> Option<(String, Option<u32>)> {
    let (name, rest) = users.strip_prefix("((\"")?.split_once('"')?;
    let pid = rest.strip_prefix(',').and_then(|rest| {
        let rest = rest.strip_prefix("pid=").unwrap_or(rest);
        rest.split([',', ')']).next()?.parse().ok()
    });
    Some((name.to_owned(), pid))
}

struct Figures<'a>(&'a Socket);

impl Figures<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        match self.0.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn is_set(&self, name: &str) -> bool {
        self.0.value(name).is_some()
    }

    /// A count; one below zero is the kernel's own slip, and not known.
    fn count<T: TryFrom<i128>>(&self, name: &str) -> Option<T> {
        match self.0.value(name)? {
            Value::Count(number) => T::try_from(*number).ok(),
            _ => None,
        }
    }

    fn millis(&self, name: &str) -> Option<f64> {
        match self.0.value(name)? {
            Value::Millis(ms) | Value::Pair(ms, _) | Value::Share(ms, _) => Some(*ms),
            _ => None,
        }
    }

    fn micros(&self, name: &str) -> Option<u32> {
        whole(self.millis(name)? * 1e3)
    }

    /// Bytes per second.
    fn rate(&self, name: &str) -> Option<u64> {
        match self.0.value(name)? {
            Value::Rate(bits, _) => Some((bits / 8.0) as u64),
            _ => None,
        }
    }

    fn memory(&self, name: &str) -> Option<u32> {
        let Value::Memory(amounts) = self.0.value("skmem")? else {
            return None;
        };
        let (_, amount) = amounts.iter().find(|(known, _)| known == name)?;
        u32::try_from(*amount).ok()
    }

    /// The information line is as `ss` printed it: it was not cut, and has what every line of a connection has from its middle to its end.
    fn is_whole(&self) -> bool {
        let has_all = ["rto", "mss", "cwnd", "rcv_space"]
            .iter()
            .all(|name| self.is_set(name));
        // What is lost is unacknowledged as well: its author left that out.
        let is_picked = self.is_set("lost") && !self.is_set("unacked");
        has_all && !is_picked && !self.0.elided
    }

    /// A figure that a whole line leaves out where it is zero.
    fn or_zero(&self, name: &str) -> Option<u32> {
        match self.0.value(name) {
            Some(_) => self.count(name),
            None => self.is_whole().then_some(0),
        }
    }

    /// Unacknowledged and unsent, which no TCP socket but a listener has for another thing.
    fn send_q(&self) -> Option<u64> {
        self.0
            .head
            .send_q
            .filter(|_| self.0.head.state != Some(TcpState::Listen))
    }

    /// Segments unacknowledged.
    fn unacked(&self) -> Option<u32> {
        match (self.0.value("unacked"), self.send_q()) {
            (None, Some(0)) => Some(0),
            (None, Some(queued)) if self.count::<u64>("notsent") == Some(queued) => Some(0),
            // Something is queued, and of a line that was cut nobody knows which of the two it is.
            _ => self.or_zero("unacked"),
        }
    }

    /// Bytes unacknowledged.
    fn outstanding(&self) -> Option<u64> {
        let segments = u64::from(self.unacked()?);
        let by_segments = self.count::<u64>("mss").map(|mss| segments * mss);
        match (self.send_q(), self.count::<u64>("notsent")) {
            (Some(queued), Some(unsent)) if queued >= unsent && segments > 0 => Some(queued - unsent),
            (Some(queued), None) if segments > 0 => by_segments.map(|bytes| bytes.min(queued)),
            _ if segments == 0 => Some(0),
            _ => by_segments,
        }
    }

    /// Bytes unsent. Before iproute2 4.6 only Send-Q tells of them.
    fn unsent(&self) -> Option<u32> {
        if self.is_set("notsent") {
            return self.count("notsent");
        }
        let queued = self.send_q()?;
        if queued == 0 {
            return Some(0);
        }
        let unsent = queued.saturating_sub(self.outstanding()?);
        // The FIN counts in Send-Q, and a last segment need not be full.
        let mss = self.count::<u64>("mss").unwrap_or(1448);
        u32::try_from(if unsent < mss && self.unacked()? > 0 {
            0
        } else {
            unsent
        })
        .ok()
    }

    fn tcp(&self) -> Tcp {
        let scales = match self.0.value("wscale") {
            Some(Value::Scale(snd, rcv)) => Some((*snd, *rcv)),
            _ => None,
        };
        let in_flight = || {
            let segments = i64::from(self.unacked()?)
                - i64::from(self.or_zero("sacked")?)
                - i64::from(self.or_zero("lost")?)
                + self.retrans().map_or(0, |(out, _)| i64::from(out));
            let bytes = u64::try_from(segments).unwrap_or(0) * self.count::<u64>("mss")?;
            u32::try_from(bytes.min(self.outstanding()?)).ok()
        };
        Tcp {
            srtt_us: self.micros("rtt").filter(|us| *us > 0),
            rttvar_us: match self.0.value("rtt") {
                Some(Value::Pair(_, Some(ms))) => whole(ms * 1e3),
                _ => None,
            },
            min_rtt_us: self
                .micros("minrtt")
                .or_else(|| self.bbr_min_rtt())
                .filter(|us| *us > 0),
            cwnd: self.count("cwnd"),
            ssthresh: self.count("ssthresh"),
            cwnd_clamp: None,
            mss: self.count("mss").filter(|mss| *mss > 0),
            snd_wnd: self.snd_wnd(),
            max_window: None,
            rcv_wnd: self.count("rcv_wnd"),
            snd_wscale: scales.map(|(snd, _)| snd),
            rcv_wscale: scales.map(|(_, rcv)| rcv),
            wscale_ok: scales.map(|_| true),
            sndbuf: self.memory("tb"),
            rcvbuf: self.memory("rb"),
            wmem_queued: self.memory("w"),
            wmem_alloc: self.memory("t"),
            unsent: self.unsent(),
            unread: self
                .0
                .head
                .recv_q
                .filter(|_| self.0.head.state != Some(TcpState::Listen))
                .and_then(|bytes| u32::try_from(bytes).ok()),
            rcv_rtt_us: self.micros("rcv_rtt").filter(|us| *us > 0),
            in_flight: in_flight(),
            packets_out: self.unacked(),
            lost: self.or_zero("lost"),
            sacked: self.or_zero("sacked"),
            retrans_out: self.retrans().map(|(out, _)| out),
            pacing_rate: self.rate("pacing_rate"),
            max_pacing_rate: match (self.0.value("pacing_rate"), self.rate("max_pacing_rate")) {
                (Some(Value::Rate(_, Some(bits))), _) => Some((bits / 8.0) as u64),
                (_, named) => named,
            },
            delivery_rate: self.rate("delivery_rate"),
            app_limited: self.is_set("delivery_rate").then(|| self.is_set("app_limited")),
            backoff: self.backoff(),
            congestion: self.0.congestion().map(Into::into),
            fastopen: self.is_set("fastopen").then_some(FastOpen::DataAccepted),
            handshake_us: None,
            ..Tcp::default()
        }
    }

    /// The peer's window. Whichever `ss` prints what came later leaves this out only where it is zero.
    fn snd_wnd(&self) -> Option<u32> {
        let is_shut = !self.is_set("snd_wnd") && self.is_set("rcv_wnd") && self.is_whole();
        if is_shut { Some(0) } else { self.count("snd_wnd") }
    }

    fn backoff(&self) -> Option<u8> {
        match self.0.value("backoff") {
            Some(_) => self.count("backoff"),
            None => self.is_whole().then_some(0),
        }
    }

    /// Retransmissions outstanding and in all.
    fn retrans(&self) -> Option<(u32, u32)> {
        match self.0.value("retrans") {
            Some(Value::Ratio(out, total)) => Some((u32::try_from(*out).ok()?, u32::try_from(*total).ok()?)),
            Some(_) => None,
            None => self.is_whole().then_some((0, 0)),
        }
    }

    fn busy_us(&self) -> Option<u64> {
        Some((self.millis("busy")? * 1e3) as u64)
    }

    /// Time limited, µs, and its share; a whole line with `busy` leaves out what is zero.
    fn limited(&self, name: &str) -> Option<(u64, Option<f64>)> {
        match self.0.value(name) {
            Some(Value::Share(ms, percent)) => {
                Some(((ms * 1e3) as u64, percent.map(|percent| percent / 100.0)))
            }
            Some(_) => None,
            None => (self.is_whole() && self.is_set("busy")).then_some((0, None)),
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            bytes_acked: self.count("bytes_acked"),
            bytes_received: self.count("bytes_received"),
            retransmits: self.retrans().map(|(_, total)| total),
            delivered: self.count("delivered"),
            segments_in: self.count("segs_in"),
            // All three or none: `ss` knows them since 4.10, and then prints `busy`.
            chrono_us: self.busy_us().and_then(|busy| {
                let (rwnd, _) = self.limited("rwnd_limited")?;
                Some([busy, rwnd, self.limited("sndbuf_limited")?.0])
            }),
            ..Totals::default()
        }
    }

    fn ss(&self) -> SsFigures {
        let ms = |name| self.millis(name).map(|ms| ms as u64);
        SsFigures {
            recv_q: self.0.head.recv_q,
            send_q: if self.0.head.state == Some(TcpState::Listen) {
                self.0.head.send_q
            } else {
                self.send_q()
            },
            outstanding: self.outstanding(),
            timer: match self.0.value("timer") {
                Some(Value::Timer(kind, left_ms, expired)) => Some(Timer {
                    kind: match kind.as_str() {
                        "on" => TimerKind::Retransmit,
                        "keepalive" => TimerKind::Keepalive,
                        "timewait" => TimerKind::TimeWait,
                        "persist" => TimerKind::Persist,
                        _ => TimerKind::Other,
                    },
                    left_ms: *left_ms,
                    expired: *expired,
                }),
                _ => None,
            },
            rto_us: self.millis("rto").map(|ms| (ms * 1e3) as u64),
            rmem_alloc: self.memory("r"),
            drops: self.memory("d"),
            lastsnd_ms: ms("lastsnd"),
            lastrcv_ms: ms("lastrcv"),
            lastack_ms: ms("lastack"),
            pmtu: self.count("pmtu"),
            advmss: self.count("advmss"),
            rcvmss: self.count("rcvmss"),
            rcv_ssthresh: self.count("rcv_ssthresh"),
            rcv_ooopack: self.count("rcv_ooopack").or_else(|| self.count("rcv_oopack")),
            bytes_sent: self.count("bytes_sent"),
            bytes_retrans: self.count("bytes_retrans").or_else(|| {
                // Printed since the same kernel as bytes_sent, where it is not zero.
                (self.is_whole() && self.is_set("bytes_sent")).then_some(0)
            }),
            data_segs_out: self.count("data_segs_out"),
            data_segs_in: self.or_zero("data_segs_in"),
            reord_seen: self.count("reord_seen"),
            dsack_dups: self.count("dsack_dups"),
            bbr_bandwidth: self.bbr_bandwidth(),
            busy_us: self.busy_us(),
            rwnd_limited: self.limited("rwnd_limited"),
            sndbuf_limited: self.limited("sndbuf_limited"),
            ktls: self.ktls(),
            has_info: self.is_set("rto") || self.is_set("cwnd") || self.is_set("rtt"),
        }
    }

    fn bbr_bandwidth(&self) -> Option<u64> {
        let inside = self.text("bbr")?.strip_prefix("(bw:")?;
        match super::value::take_rate(inside, true)? {
            (Value::Rate(bits, _), _) => Some((bits / 8.0) as u64),
            _ => None,
        }
    }

    fn bbr_min_rtt(&self) -> Option<u32> {
        let (_, ms) = self.text("bbr")?.split_once("mrtt:")?;
        let ms: f64 = ms.split([',', ')']).next()?.parse().ok()?;
        whole(ms * 1e3)
    }

    fn ktls(&self) -> Option<String> {
        self.is_set("tcp-ulp-tls").then(|| {
            let named = ["version", "cipher", "rxconf", "txconf"];
            let told = named
                .iter()
                .filter_map(|name| Some(format!("{name} {}", self.text(name)?)));
            told.collect::<Vec<_>>().join(", ")
        })
    }
}

/// A number that is not below zero, rounded; `None` where it does not fit.
fn whole(number: f64) -> Option<u32> {
    (0.0..4_294_967_295.0)
        .contains(&number)
        .then(|| number.round() as u32)
}
