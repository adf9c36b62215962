//! What the screen remembers of the last ticks, within a fixed bound.

use std::collections::{HashMap, VecDeque};

use crate::snapshot::{Connection, Snapshot};

/// Ticks kept.
pub(crate) const TICKS: usize = 120;
/// Connections with a history of their own; each takes [`TICKS`] × 16 bytes at most.
const CONNECTIONS: usize = 2_048;

/// Figures of one connection at one tick; NaN where not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) rate_bps: f32,
    pub(crate) srtt_us: f32,
    pub(crate) cwnd: f32,
    pub(crate) in_flight: f32,
}

impl Sample {
    fn of(connection: &Connection) -> Self {
        let tcp = &connection.tcp;
        let known = |value: Option<u32>| value.map_or(f32::NAN, |value| value as f32);
        Self {
            rate_bps: connection.rate_bps as f32,
            srtt_us: known(tcp.srtt_us),
            cwnd: known(tcp.cwnd),
            in_flight: known(tcp.in_flight_bytes),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Ring {
    samples: VecDeque<Sample>,
    tick: u64,
}

/// The last ticks of the connections on the screen and those near it.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// By namespace, then by cookie.
    rings: HashMap<u32, HashMap<Box<str>, Ring>>,
    len: usize,
}

impl History {
    /// Takes in a tick: connections that are followed already, then those of `first`, in that order, while there is room.
    /// What is gone is forgotten, unless it is `opened`.
    pub(crate) fn push<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        opened: Option<&Connection>,
        first: impl Iterator<Item = &'a Connection>,
    ) {
        for connection in snapshot.connections.iter() {
            if let Some(ring) = self.ring(connection) {
                ring.push(connection, snapshot.tick);
            }
        }
        for (netns, rings) in &mut self.rings {
            let opened = opened
                .filter(|opened| opened.netns == *netns)
                .map(|opened| opened.id.as_str());
            rings.retain(|id, ring| ring.tick == snapshot.tick || opened == Some(id));
        }
        self.rings.retain(|_, rings| !rings.is_empty());
        self.len = self.rings.values().map(HashMap::len).sum();
        for connection in first {
            if self.len >= CONNECTIONS {
                break;
            }
            self.follow(connection, snapshot.tick);
        }
    }

    /// Follows `connection` from now on, also when there is no room: somebody looks at it.
    pub(crate) fn follow(&mut self, connection: &Connection, tick: u64) {
        if self.ring(connection).is_some() {
            return;
        }
        let mut ring = Ring::default();
        ring.push(connection, tick);
        self.rings
            .entry(connection.netns)
            .or_default()
            .insert(connection.id.as_str().into(), ring);
        self.len += 1;
    }

    fn ring(&mut self, connection: &Connection) -> Option<&mut Ring> {
        self.rings
            .get_mut(&connection.netns)?
            .get_mut(connection.id.as_str())
    }

    /// Samples of `connection`, oldest first.
    pub(crate) fn of(
        &self,
        connection: &Connection,
    ) -> impl DoubleEndedIterator<Item = &Sample> + ExactSizeIterator {
        const NONE: &VecDeque<Sample> = &VecDeque::new();
        let ring = self
            .rings
            .get(&connection.netns)
            .and_then(|rings| rings.get(connection.id.as_str()));
        ring.map_or(NONE, |ring| &ring.samples).iter()
    }
}

impl Ring {
    fn push(&mut self, connection: &Connection, tick: u64) {
        self.tick = tick;
        if self.samples.len() == TICKS {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample::of(connection));
    }
}

/// Rates of the whole host that only two snapshots can tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse {
    /// Bits per second in, oldest first.
    pub(crate) receive_bps: VecDeque<f32>,
    /// Bits per second out, oldest first.
    pub(crate) send_bps: VecDeque<f32>,
    /// Segments sent again, per second.
    pub(crate) retransmits_per_s: Option<f64>,
    /// tcpwin's own share of one core.
    pub(crate) cpu_share: Option<f64>,
    /// The probes' share of one core.
    pub(crate) probe_share: Option<f64>,
    /// Time a run of a probe takes, ns.
    pub(crate) probe_ns: Option<f64>,
    /// Losses of any kind since the snapshot before.
    pub(crate) lost: u64,
}

impl Pulse {
    /// Takes in a tick after `before`.
    pub(crate) fn push(&mut self, before: Option<&Snapshot>, now: &Snapshot) {
        for (series, value) in [
            (&mut self.receive_bps, now.summary.receive_bps),
            (&mut self.send_bps, now.summary.send_bps),
        ] {
            if series.len() == TICKS {
                series.pop_front();
            }
            series.push_back(value as f32);
        }
        // An agent that started anew counts from zero: no rate from that.
        let before =
            before.filter(|before| before.at_ns < now.at_ns && before.health.cpu_us <= now.health.cpu_us);
        let Some(before) = before else {
            *self = Self {
                receive_bps: self.receive_bps.split_off(0),
                send_bps: self.send_bps.split_off(0),
                ..Self::default()
            };
            return;
        };
        let ns = (now.at_ns - before.at_ns) as f64;
        let (old, new) = (&before.health, &now.health);
        let per_s = |old: u64, new: u64| new.saturating_sub(old) as f64 * 1e9 / ns;
        self.retransmits_per_s = Some(per_s(retransmits(before), retransmits(now)));
        self.cpu_share = Some((new.cpu_us - old.cpu_us) as f64 * 1e3 / ns);
        let probe_ns = old
            .probe_run_ns
            .zip(new.probe_run_ns)
            .map(|(old, new)| new.saturating_sub(old) as f64);
        let runs = old
            .probe_runs
            .zip(new.probe_runs)
            .map(|(old, new)| new.saturating_sub(old) as f64);
        self.probe_share = probe_ns.map(|spent| spent / ns);
        self.probe_ns = probe_ns
            .zip(runs)
            .filter(|(_, runs)| *runs > 0.0)
            .map(|(spent, runs)| spent / runs);
        let lost = |snapshot: &Snapshot| snapshot.health.losses.values().sum::<u64>();
        self.lost = lost(now).saturating_sub(lost(before));
    }
}

fn retransmits(snapshot: &Snapshot) -> u64 {
    let kinds = snapshot.summary.retransmits;
    u64::from(kinds.fast) + u64::from(kinds.rto) + u64::from(kinds.tlp) + snapshot.summary.retransmits_unknown
}
