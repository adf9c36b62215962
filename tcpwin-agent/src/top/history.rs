//! What the screen remembers of the last ticks, within a fixed bound.
//!
//! Rows that are on the screen and those nearest to them, [`CONNECTIONS`] at most however many there are: less than 4 MB.
//! The one connection whose detail is open is remembered for longer, see [`Closeup`].

mod closeup;
mod point;

use std::collections::{HashMap, VecDeque};

pub(crate) use self::closeup::Closeup;
pub(crate) use self::point::Point;
use crate::snapshot::{Connection, Snapshot};

/// Ticks kept.
pub(crate) const TICKS: usize = 120;
/// Connections with a history of their own, beside rows on the screen; each takes [`TICKS`] points at most.
pub(crate) const CONNECTIONS: usize = 512;

#[derive(Clone, Debug, Default)]
struct Ring {
    points: VecDeque<Point>,
    /// Of the newest point.
    tick: u64,
    /// When it was last on the screen.
    seen: u64,
}

/// The last ticks of the connections on the screen and those near it.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// By namespace, then by cookie.
    rings: HashMap<u32, HashMap<Box<str>, Ring>>,
    len: usize,
}

impl History {
    /// Takes in a tick: of connections that are followed already, of those that are `seen` on the screen, and of those
    /// `near` it while there is room. What is gone is forgotten.
    pub(crate) fn push<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        seen: impl Iterator<Item = &'a Connection>,
        near: impl Iterator<Item = &'a Connection>,
    ) {
        for connection in snapshot.connections.iter() {
            if let Some(ring) = self.ring(connection) {
                ring.push(connection, snapshot);
            }
        }
        self.retain(|ring| ring.tick == snapshot.tick);
        for connection in seen {
            self.follow(connection, snapshot).seen = snapshot.tick;
        }
        if self.len > CONNECTIONS {
            // Those that were on the screen longest ago make room; those on it now never do.
            let mut excess = self.len - CONNECTIONS;
            let mut ticks: Vec<u64> = self.all().map(|ring| ring.seen).collect();
            ticks.sort_unstable();
            let last = ticks[excess - 1].min(snapshot.tick.saturating_sub(1));
            self.retain(|ring| {
                let goes = excess > 0 && ring.seen <= last;
                excess -= usize::from(goes);
                !goes
            });
        }
        for connection in near {
            if self.len >= CONNECTIONS {
                break;
            }
            if self.ring(connection).is_none() {
                self.follow(connection, snapshot);
            }
        }
    }

    /// Connections that have a history.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn all(&self) -> impl Iterator<Item = &Ring> {
        self.rings.values().flat_map(HashMap::values)
    }

    fn retain(&mut self, mut wanted: impl FnMut(&Ring) -> bool) {
        for rings in self.rings.values_mut() {
            rings.retain(|_, ring| wanted(ring));
        }
        self.rings.retain(|_, rings| !rings.is_empty());
        self.len = self.rings.values().map(HashMap::len).sum();
    }

    /// The ring of `connection`, a new one if it has none.
    fn follow(&mut self, connection: &Connection, snapshot: &Snapshot) -> &mut Ring {
        let rings = self.rings.entry(connection.netns).or_default();
        rings.entry(connection.id.as_str().into()).or_insert_with(|| {
            self.len += 1;
            let mut ring = Ring::default();
            ring.push(connection, snapshot);
            ring
        })
    }

    fn ring(&mut self, connection: &Connection) -> Option<&mut Ring> {
        self.rings
            .get_mut(&connection.netns)?
            .get_mut(connection.id.as_str())
    }

    /// Points of `connection`, oldest first.
    pub(crate) fn of(
        &self,
        connection: &Connection,
    ) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator {
        const NONE: &VecDeque<Point> = &VecDeque::new();
        let ring = self
            .rings
            .get(&connection.netns)
            .and_then(|rings| rings.get(connection.id.as_str()));
        ring.map_or(NONE, |ring| &ring.points).iter()
    }
}

impl Ring {
    fn push(&mut self, connection: &Connection, snapshot: &Snapshot) {
        self.tick = snapshot.tick;
        // A recording that is played goes back, and so does the clock of another agent.
        if self
            .points
            .back()
            .is_some_and(|last| last.at_ns >= snapshot.at_ns)
        {
            self.points.clear();
        }
        if self.points.len() == TICKS {
            self.points.pop_front();
        }
        self.points.push_back(Point::of(connection, snapshot));
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
