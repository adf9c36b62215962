//! What the rules read: the figures of one socket, worked out once from all the looks at it and from its other end.

use crate::classify::Direction;
use crate::classify::advice::{Ask, Program, Surroundings};
use crate::explain::join::Group;
use crate::observation::Tcp;
use crate::observation::pasted::{Pasted, TimerKind};
use crate::units::{Bytes, BytesPerSec, Micros};

/// A rate and what it is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How much.
    pub rate: BytesPerSec,
    /// Over which time, in words.
    pub over: &'static str,
}

/// What the paste's other sockets say of one, which is counted with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Sockets at the same port of this host with the same amount queued.
    pub equal_queues: usize,
    /// Sockets to the same host whose peer's window was full most of the time.
    pub full_windows: usize,
}

/// The figures of one socket.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    /// The newest look.
    pub now: &'a Pasted,
    /// The one before it.
    pub earlier: Option<&'a Pasted>,
    /// The other end's newest look.
    pub mate: Option<&'a Pasted>,
    /// Seconds between the two looks.
    pub span: Option<f64>,
    /// Which way the bulk goes.
    pub direction: Direction,
    /// In that direction.
    pub rate: Option<Rate>,
    /// Share of the busy time in which the kernel saw the peer's window full.
    pub rwnd: Option<f64>,
    /// Share of the busy time in which the kernel saw the send buffer full; often too low.
    pub sndbuf: Option<f64>,
    /// Share of what was sent that was sent again.
    pub loss: Option<f64>,
    /// How it compares with the paste's other sockets.
    pub beside: Beside,
}

/// Least number of segments that a share lost can be told from.
const FEW_SEGMENTS: f64 = 50.0;

impl<'a> Figures<'a> {
    /// Of one group.
    pub fn of(group: &Group<'a>, mate: Option<&'a Pasted>, beside: Beside) -> Self {
        let now = group.now();
        let earlier = group.earlier();
        let span = earlier.and_then(|earlier| span(earlier, now));
        let direction = direction(now, earlier);
        Self {
            now,
            earlier,
            mate,
            span,
            direction,
            rate: rate(now, earlier, span, direction),
            rwnd: share(now, earlier, |socket| socket.ss.rwnd_limited),
            sndbuf: share(now, earlier, |socket| socket.ss.sndbuf_limited),
            loss: loss(now, earlier),
            beside,
        }
    }

    /// Its fields.
    pub fn tcp(&self) -> &'a Tcp {
        &self.now.tcp
    }

    /// Smoothed round-trip time.
    pub fn srtt(&self) -> Option<Micros> {
        self.tcp().srtt_us.map(Micros)
    }

    /// Least round-trip time, unless it is none of this path: a rule of thumb would be built on it otherwise.
    pub fn min_rtt(&self) -> Option<Micros> {
        let min = Micros(self.tcp().min_rtt_us?);
        match self.srtt() {
            Some(srtt) if f64::from(srtt.0) > 50.0 * f64::from(min.0) && !self.is_little(srtt) => None,
            _ => Some(min),
        }
    }

    /// The least round-trip time that was printed cannot be this path's.
    pub fn has_foreign_min_rtt(&self) -> bool {
        self.tcp().min_rtt_us.is_some() && self.min_rtt().is_none()
    }

    /// What is in flight ÷ the delivery rate is about the round trip (Little's law): then a queue explains it, however long it is.
    fn is_little(&self, rtt: Micros) -> bool {
        let trip = self
            .outstanding()
            .zip(self.tcp().delivery_rate)
            .map(|(bytes, rate)| bytes as f64 / rate.max(1) as f64);
        let is_lossy = self.loss.is_some_and(|share| share > 0.05);
        !is_lossy && trip.is_some_and(|trip| (0.25..=4.0).contains(&(trip / rtt.seconds())))
    }

    /// srtt ÷ min_rtt; 1 where either is not known.
    pub fn inflation(&self) -> f64 {
        match self.srtt().zip(self.min_rtt()) {
            Some((srtt, min)) => (srtt.seconds() / min.seconds()).max(1.0),
            None => 1.0,
        }
    }

    /// The path's queue is not empty: srtt stands above the least round trip by more than its noise.
    pub fn is_queueing(&self, factor: f64) -> bool {
        let above = self
            .srtt()
            .zip(self.min_rtt())
            .map_or(0, |(srtt, min)| srtt.0.saturating_sub(min.0));
        self.inflation() >= factor && above > 1_000 && above > self.tcp().rttvar_us.unwrap_or(0)
    }

    /// Bytes sent and not acknowledged.
    pub fn outstanding(&self) -> Option<u64> {
        self.now.ss.outstanding
    }

    /// Something is on its way, or was lost there.
    pub fn has_outstanding(&self) -> bool {
        let tcp = self.tcp();
        let is_some = |count: Option<u32>| count.is_some_and(|count| count > 0);
        is_some(tcp.packets_out) || is_some(tcp.lost) || is_some(tcp.retrans_out)
    }

    /// At least a segment waits. Less than one waits for the rest of itself, or by Nagle's rule, and for no window.
    pub fn is_waiting(&self) -> bool {
        let least = if self.has_outstanding() {
            self.tcp().mss.unwrap_or(1)
        } else {
            1
        };
        self.unsent() >= u64::from(least.max(1))
    }

    /// The kernel was busy sending for so many round trips.
    pub fn busy_rounds(&self) -> Option<f64> {
        Some(self.now.ss.busy_us? as f64 / f64::from(self.srtt()?.0))
    }

    /// The rate is this, within a share of it.
    pub fn is_rate(&self, other: BytesPerSec, within: f64) -> bool {
        self.rate
            .is_some_and(|rate| (rate.rate.0 / other.0 - 1.0).abs() <= within)
    }

    /// Written and not sent.
    pub fn unsent(&self) -> u64 {
        u64::from(self.tcp().unsent.unwrap_or(0))
    }

    /// cwnd has no room for another segment.
    pub fn is_cwnd_full(&self) -> bool {
        let tcp = self.tcp();
        let (Some(out), Some(cwnd @ 1..)) = (tcp.packets_out, tcp.cwnd) else {
            return false;
        };
        let gone = tcp.sacked.unwrap_or(0).saturating_add(tcp.lost.unwrap_or(0));
        let in_flight = out
            .saturating_sub(gone)
            .saturating_add(tcp.retrans_out.unwrap_or(0));
        // A few holes do not tell that the window is open.
        let filled = if u64::from(gone) * 4 <= u64::from(out) {
            out
        } else {
            in_flight
        };
        u64::from(filled) * 100 >= u64::from(cwnd) * 95
    }

    /// The peer's window has no room for another segment.
    pub fn is_rwnd_full(&self) -> bool {
        let tcp = self.tcp();
        let full = self.outstanding().zip(tcp.snd_wnd).zip(tcp.mss);
        full.is_some_and(|((bytes, window), mss)| bytes > 0 && bytes + u64::from(mss) > u64::from(window))
    }

    /// cwnd in bytes.
    pub fn cwnd_bytes(&self) -> Option<u64> {
        Some(u64::from(self.tcp().cwnd?) * u64::from(self.tcp().mss?))
    }

    /// Consecutive timeouts of the segment in flight, or of probes: as counted, or as the timer has grown by.
    pub fn timeouts(&self) -> u32 {
        let tcp = self.tcp();
        let timer = self.now.ss.timer.as_ref();
        let expired = timer
            .filter(|timer| matches!(timer.kind, TimerKind::Retransmit | TimerKind::Persist))
            .and_then(|timer| timer.expired);
        let least = match self.srtt() {
            Some(srtt) => (u64::from(srtt.0) + 4 * u64::from(tcp.rttvar_us.unwrap_or(srtt.0))).max(200_000),
            None => 1_000_000,
        };
        let grown = self.now.ss.rto_us.unwrap_or(0) / least;
        let doubled = if grown >= 8 { grown.ilog2() } else { 0 };
        u32::from(tcp.backoff.unwrap_or(0))
            .max(expired.unwrap_or(0))
            .max(doubled)
    }

    /// Since anything came from the peer, ms.
    pub fn silence_ms(&self) -> Option<u64> {
        let ss = &self.now.ss;
        match (ss.lastack_ms, ss.lastrcv_ms) {
            (Some(ack), Some(data)) => Some(ack.min(data)),
            (ack, _) => ack,
        }
    }

    /// Something was acknowledged between the two looks.
    pub fn has_progress(&self) -> bool {
        let before = self.earlier.and_then(|earlier| earlier.totals.bytes_acked);
        before
            .zip(self.now.totals.bytes_acked)
            .is_some_and(|(before, now)| now > before)
    }

    /// Receive buffer in use ÷ its size.
    pub fn rcvbuf_fill(of: &Pasted) -> Option<f64> {
        let size = of.tcp.rcvbuf.filter(|size| *size > 0)?;
        Some(f64::from(of.ss.rmem_alloc?) / f64::from(size))
    }

    /// What advice is worked out from.
    pub fn ask(&self) -> Ask {
        let tcp = self.tcp();
        let port = |end: &Option<String>| end.as_deref()?.rsplit_once(':')?.1.parse().ok();
        let program = self.now.process.as_ref().and_then(|(name, _)| Program::of(name));
        Ask {
            direction: self.direction,
            rate: self.rate.map_or(BytesPerSec(0.0), |rate| rate.rate),
            srtt: self.srtt(),
            min_rtt: self.min_rtt(),
            mss: tcp.mss.unwrap_or(1448),
            cwnd: tcp.cwnd,
            snd_wnd: tcp.snd_wnd,
            rcv_wnd: tcp.rcv_wnd,
            sndbuf: tcp.sndbuf,
            rcvbuf: tcp.rcvbuf,
            snd_wscale: tcp.snd_wscale,
            rcv_wscale: tcp.rcv_wscale,
            wscale_ok: tcp.wscale_ok,
            max_pacing_rate: tcp.max_pacing_rate,
            loss: self.loss.unwrap_or(0.0),
            is_bbr: self.is_bbr(),
            around: Surroundings {
                program,
                local_port: port(&self.now.local),
                peer_port: port(&self.now.peer),
                ..Surroundings::default()
            },
            ..Ask::default()
        }
    }

    /// The congestion control finds the bandwidth by itself and paces to it.
    pub fn is_bbr(&self) -> bool {
        self.tcp()
            .congestion
            .as_deref()
            .is_some_and(|name| name.starts_with("bbr"))
    }

    /// The rate in words, with what it is of.
    pub fn rate_text(&self) -> String {
        self.rate.map_or_else(
            || "an unknown rate".to_owned(),
            |rate| format!("{} ({})", crate::units::bits_text(rate.rate.bits()), rate.over),
        )
    }

    /// The time that the unsent bytes take at the rate, seconds.
    pub fn backlog(&self) -> Option<f64> {
        let rate = self.rate?.rate.0;
        (rate > 0.0).then(|| self.unsent() as f64 / rate)
    }

    /// The bytes in flight of a full window.
    pub fn window(&self) -> Option<Bytes> {
        self.tcp().snd_wnd.map(|bytes| Bytes(u64::from(bytes)))
    }
}

/// Seconds between two looks: by the clocks that were pasted, else by the socket's own, which run on while nothing happens to them.
fn span(earlier: &Pasted, now: &Pasted) -> Option<f64> {
    if let Some(seconds) = now.at.zip(earlier.at).and_then(|(now, then)| now.since(then)) {
        return Some(seconds);
    }
    let grown = |before: Option<u64>, after: Option<u64>| {
        let ms = after?.checked_sub(before?)?;
        (ms > 0).then_some(ms as f64 / 1e3)
    };
    let (then, ss) = (&earlier.ss, &now.ss);
    let is_quiet_in = earlier.totals.bytes_received == now.totals.bytes_received;
    let is_quiet_out =
        then.bytes_sent == ss.bytes_sent && earlier.totals.bytes_acked == now.totals.bytes_acked;
    let received = grown(then.lastrcv_ms, ss.lastrcv_ms).filter(|_| is_quiet_in);
    let sent = grown(then.lastsnd_ms, ss.lastsnd_ms).filter(|_| is_quiet_out && then.bytes_sent.is_some());
    received.or(sent)
}

fn direction(now: &Pasted, earlier: Option<&Pasted>) -> Direction {
    let before = |total: fn(&Pasted) -> Option<u64>| earlier.and_then(total).unwrap_or(0);
    let moved = |total: fn(&Pasted) -> Option<u64>| total(now).unwrap_or(0).saturating_sub(before(total));
    let acked = moved(|socket| socket.totals.bytes_acked);
    let received = moved(|socket| socket.totals.bytes_received);
    // What waits will be sent; a word of acknowledgement beside a download does not make it an upload.
    let waits = now.ss.send_q.or(now.ss.outstanding).unwrap_or(0);
    if acked.saturating_add(waits) >= received.saturating_add(now.ss.recv_q.unwrap_or(0)) {
        Direction::Send
    } else {
        Direction::Receive
    }
}

fn rate(now: &Pasted, earlier: Option<&Pasted>, span: Option<f64>, direction: Direction) -> Option<Rate> {
    let total = |socket: &Pasted| match direction {
        Direction::Send => socket.totals.bytes_acked,
        Direction::Receive => socket.totals.bytes_received,
    };
    if let Some((earlier, seconds)) = earlier.zip(span)
        && let Some((before, after)) = total(earlier).zip(total(now))
    {
        let rate = BytesPerSec(after.saturating_sub(before) as f64 / seconds);
        return Some(Rate {
            rate,
            over: "between the two looks",
        });
    }
    // The kernel counts the time in which it had something to send, and no other.
    let busy = now.ss.busy_us?;
    let is_long = busy >= 100_000 && direction == Direction::Send;
    is_long.then_some(())?;
    Some(Rate {
        rate: BytesPerSec(total(now)? as f64 / (busy as f64 / 1e6)),
        over: "the average of its busy time",
    })
}

/// A time limited, µs, with its share of the busy time as printed.
type Limited = fn(&Pasted) -> Option<(u64, Option<f64>)>;

/// Share of the busy time, between the looks where there are two and it was busy, else over its life.
fn share(now: &Pasted, earlier: Option<&Pasted>, limited: Limited) -> Option<f64> {
    let (after, printed) = limited(now)?;
    let Some(busy) = now.ss.busy_us else {
        return printed.filter(|share| (0.0..=1.0).contains(share));
    };
    let before = earlier.and_then(|earlier| Some((earlier.ss.busy_us?, limited(earlier)?.0)));
    let (busy_before, before) = before.unwrap_or_default();
    let between = busy.saturating_sub(busy_before);
    let (busy, limited) = if between >= 50_000 {
        (between, after.saturating_sub(before))
    } else {
        (busy, after)
    };
    (busy > 0).then(|| (limited as f64 / busy as f64).min(1.0))
}

fn loss(now: &Pasted, earlier: Option<&Pasted>) -> Option<f64> {
    let between = earlier.and_then(|earlier| {
        let sent = f64::from(now.ss.data_segs_out?.checked_sub(earlier.ss.data_segs_out?)?);
        let again = f64::from(now.totals.retransmits?.checked_sub(earlier.totals.retransmits?)?);
        (sent >= FEW_SEGMENTS * 4.0).then_some(again / sent)
    });
    let by_bytes = || {
        let sent = now.ss.bytes_sent.filter(|bytes| *bytes > 0)?;
        Some(now.ss.bytes_retrans? as f64 / sent as f64)
    };
    let by_segments = || {
        let again = f64::from(now.totals.retransmits?);
        let sent = match (now.ss.data_segs_out, now.totals.delivered) {
            (Some(sent), _) => f64::from(sent),
            (None, Some(delivered)) => f64::from(delivered) + again,
            _ => now.totals.bytes_acked? as f64 / f64::from(now.tcp.mss?) + again,
        };
        (sent >= FEW_SEGMENTS).then_some(again / sent)
    };
    between
        .or_else(by_bytes)
        .or_else(by_segments)
        .filter(|share| share.is_finite())
}
