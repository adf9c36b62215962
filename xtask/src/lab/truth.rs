//! The truth of a flow: what its receiver's program counted, and beside it what the kernel's own counters say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::clock::seconds_ns;
use super::flow::{Connection, Reading};
use super::peers::Clocks;
use super::scenario::SAMPLE_SPAN_S;

/// Fewer bursts than this make no rate of their own.
const EDGES_MIN: usize = 10;

/// One connection over the steady part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Truth {
    /// The sender's end.
    pub local: String,
    /// The receiver's end.
    pub peer: String,
    /// Bits a second that the receiver's program read.
    pub received_bps: f64,
    /// Bits a second that the sender's program wrote.
    pub sent_bps: f64,
    /// Kernel: smallest RTT of the sender.
    pub min_rtt_us: u32,
    /// Kernel: the sender's mean smoothed RTT.
    pub srtt_us: f64,
    /// Kernel: the sender's last congestion window, in segments.
    pub cwnd: u32,
    /// Kernel: the last window the sender saw (0 before 5.4).
    pub snd_wnd_bytes: u32,
    /// Kernel: segments retransmitted in the interval.
    pub retransmits: u32,
    /// Kernel: share of the interval in which something was outstanding.
    pub busy: f64,
    /// Kernel: share of busy time that its counters blame on the peer's window.
    pub rwnd_limited: f64,
    /// Kernel: share of busy time that its counters blame on the send buffer.
    pub sndbuf_limited: f64,
    /// The sender's clocks over the second that ends at each full second of the flow: what other rules judge by.
    #[serde(skip)]
    pub clocks: BTreeMap<u32, Clocks>,
    /// What the receiver's program read, in bits a second, over the time that a sample of each full second speaks of.
    #[serde(skip)]
    pub spans_bps: BTreeMap<u32, f64>,
}

impl Truth {
    /// Of the time between the two instants; `None` with fewer than two readings at either end.
    pub fn between(connection: &Connection, from_ns: u64, to_ns: u64) -> Option<Self> {
        let (sent_from, sent_to) = ends(&connection.sender, from_ns, to_ns)?;
        let busy_us = sent_to.tcp.busy_us.saturating_sub(sent_from.tcp.busy_us) as f64;
        let interval_us = (sent_to.at_ns - sent_from.at_ns) as f64 / 1e3;
        let of_busy = |from: u64, to: u64| {
            if busy_us > 0.0 {
                to.saturating_sub(from) as f64 / busy_us
            } else {
                0.0
            }
        };
        let within = connection
            .sender
            .iter()
            .filter(|reading| (from_ns..=to_ns).contains(&reading.at_ns));
        let (sum, count) = within.fold((0.0, 0_u32), |(sum, n), reading| {
            (sum + f64::from(reading.tcp.rtt_us), n + 1)
        });
        Some(Self {
            local: connection.local.to_string(),
            peer: connection.peer.to_string(),
            received_bps: rate_bps(&connection.receiver, from_ns, to_ns)?,
            sent_bps: rate_bps(&connection.sender, from_ns, to_ns)?,
            min_rtt_us: sent_to.tcp.min_rtt_us,
            srtt_us: sum / f64::from(count.max(1)),
            cwnd: sent_to.tcp.snd_cwnd,
            snd_wnd_bytes: sent_to.tcp.snd_wnd,
            retransmits: sent_to
                .tcp
                .total_retrans
                .saturating_sub(sent_from.tcp.total_retrans),
            busy: busy_us / interval_us,
            rwnd_limited: of_busy(sent_from.tcp.rwnd_limited_us, sent_to.tcp.rwnd_limited_us),
            sndbuf_limited: of_busy(sent_from.tcp.sndbuf_limited_us, sent_to.tcp.sndbuf_limited_us),
            clocks: BTreeMap::new(),
            spans_bps: BTreeMap::new(),
        })
    }

    /// With what is known of each second of a flow that started then.
    pub fn with_seconds(mut self, connection: &Connection, started_ns: u64) -> Self {
        let last_ns = connection.sender.last().map_or(0, |reading| reading.at_ns);
        let at = |seconds: f64| started_ns + seconds_ns(seconds);
        for second in (1..).take_while(|second| at(f64::from(*second)) <= last_ns) {
            let end_s = f64::from(second);
            if let Some(clocks) = Clocks::between(&connection.sender, at(end_s - 1.0), at(end_s)) {
                self.clocks.insert(second, clocks);
            }
            if let Some((from, to)) = ends(&connection.receiver, at(end_s - SAMPLE_SPAN_S), at(end_s)) {
                let time_s = (to.at_ns - from.at_ns) as f64 / 1e9;
                self.spans_bps
                    .insert(second, (to.bytes - from.bytes) as f64 * 8.0 / time_s);
            }
        }
        self
    }
}

/// The first and the last reading within the interval.
fn ends(readings: &[Reading], from_ns: u64, to_ns: u64) -> Option<(Reading, Reading)> {
    let mut within = readings
        .iter()
        .filter(|reading| (from_ns..=to_ns).contains(&reading.at_ns));
    let first = *within.next()?;
    let last = *within.next_back()?;
    Some((first, last))
}

/// The rate from the first reading that found new bytes to the last one that did. A window comes in bursts, one a
/// round trip: from edge to edge there is a whole number of them. With few bursts, the whole interval is meant.
fn rate_bps(readings: &[Reading], from_ns: u64, to_ns: u64) -> Option<f64> {
    let (mut from, mut to) = ends(readings, from_ns, to_ns)?;
    let pairs = readings
        .windows(2)
        .filter(|pair| (from_ns..=to_ns).contains(&pair[0].at_ns) && pair[1].at_ns <= to_ns);
    let edges: Vec<Reading> = pairs
        .filter(|pair| pair[1].bytes > pair[0].bytes)
        .map(|pair| pair[1])
        .collect();
    if let [first, .., last] = edges[..]
        && edges.len() >= EDGES_MIN
    {
        (from, to) = (first, last);
    }
    let time_s = (to.at_ns - from.at_ns) as f64 / 1e9;
    Some((to.bytes - from.bytes) as f64 * 8.0 / time_s)
}

#[cfg(test)]
mod tests {
    use super::Truth;
    use crate::lab::flow::{Connection, Reading, TcpInfo};

    #[test]
    fn the_rate_is_the_receivers_over_the_steady_part_only() {
        let reading = |s: u64, bytes| Reading {
            at_ns: s * 1_000_000_000,
            bytes,
            ..Reading::default()
        };
        let readings = vec![
            reading(1, 9_000_000),
            reading(2, 10_000_000),
            reading(4, 10_250_000),
            reading(5, 90_000_000),
        ];
        let mut connection = Connection::new(([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into());
        connection.sender.clone_from(&readings);
        connection.receiver = readings;
        let truth = Truth::between(&connection, 2_000_000_000, 4_000_000_000).expect("two readings");
        assert!((truth.received_bps - 1e6).abs() < 1.0, "{}", truth.received_bps);
        assert!(Truth::between(&connection, 0, 1_500_000_000).is_none());
    }

    #[test]
    fn each_full_second_has_the_clocks_of_the_one_that_ends_there() {
        let mut connection = Connection::new(([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into());
        // Busy from 1.5 s to 2.5 s of a flow that started at 10 s.
        connection.sender = (0..=60)
            .map(|tick: u64| Reading {
                at_ns: 10_000_000_000 + tick * 50_000_000,
                tcp: TcpInfo {
                    busy_us: (tick * 50_000).clamp(1_500_000, 2_500_000) - 1_500_000,
                    ..TcpInfo::default()
                },
                ..Reading::default()
            })
            .collect();
        let truth = Truth::default().with_seconds(&connection, 10_000_000_000);
        let busy: Vec<_> = truth.clocks.values().map(|clocks| clocks.busy).collect();
        assert_eq!(busy, [0.0, 0.5, 0.5]);
        assert_eq!(truth.clocks.into_keys().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn bursts_are_counted_whole() {
        // 10,000 B each 180 ms, read each 50 ms: the interval of 10 s holds 55.6 of them.
        let readings: Vec<_> = (0..=200_u64)
            .map(|n| Reading {
                at_ns: n * 50_000_000,
                bytes: n * 50 / 180 * 10_000,
                ..Reading::default()
            })
            .collect();
        let rate = super::rate_bps(&readings, 0, 10_000_000_000).expect("readings");
        assert!((rate / (10_000.0 * 8.0 / 0.18) - 1.0).abs() < 0.005, "{rate}");
    }
}
