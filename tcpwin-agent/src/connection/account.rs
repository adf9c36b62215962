//! Counts over all connections, kept as their intervals end.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::classify::{Direction, Limit};
use crate::connection::grouping::Grouping;
use crate::connection::interval::Interval;
use crate::connection::tallies::{IDLE, Tallies};
use crate::observation::Origin;
use crate::snapshot::{Held, Summary, Tally};
use crate::units::{Bytes, BytesPerSec, Nanos};

/// The summary, and what moved since the last tick.
#[derive(Debug, Default)]
pub(super) struct Account {
    summary: Summary,
    /// Nanoseconds by cause. Whole numbers: a sum of fractions would depend on the order of the connections.
    time: BTreeMap<Limit, u128>,
    pub(super) tallies: Tallies,
    acked: u64,
    received: u64,
    events: u64,
    /// The most that all connections together sent in an interval, and received.
    fastest: (BytesPerSec, BytesPerSec),
}

impl Account {
    /// Whose metrics are told apart like this.
    pub(super) fn new(grouping: Grouping) -> Self {
        Self {
            tallies: Tallies::new(grouping),
            ..Self::default()
        }
    }

    /// What only metrics tell.
    pub(super) fn tally(&self) -> Arc<Tally> {
        self.tallies.tally()
    }

    pub(super) const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Segments in and calls of the program, since the start.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    /// A connection that is older than the source.
    pub(super) fn found(&mut self, held: Held) {
        *self.summary.connections.entry(held.0).or_default() += 1;
        self.tallies.found(held);
    }

    /// A connection that was seen opening.
    pub(super) fn opened(&mut self, held: Held, origin: Origin) {
        self.found(held);
        self.summary.opened += 1;
        self.summary.opened_connect += u64::from(origin == Origin::Connect);
    }

    /// It is gone, and was seen closing.
    pub(super) fn closed(&mut self, held: Held) {
        self.gone(held);
        self.summary.closed += 1;
    }

    /// It is not in the table any more.
    pub(super) fn gone(&mut self, held: Held) {
        if let Some(count) = self.summary.connections.get_mut(&held.0) {
            *count = count.saturating_sub(1);
        }
        self.tallies.gone(held);
    }

    /// Its verdict changed.
    pub(super) fn turned(&mut self, from: Held, to: Held) {
        if from != to {
            self.gone(from);
            self.found(to);
        }
    }

    /// What an interval moved and lost, whatever limited it.
    pub(super) fn moved(&mut self, interval: &Interval) {
        self.tallies.moved(interval);
        let acked = interval.acked.unwrap_or_default().0;
        let received = interval.received.unwrap_or_default().0;
        let summary = &mut self.summary;
        summary.bytes_acked += acked;
        summary.bytes_received += received;
        self.acked += acked;
        self.received += received;
        let calls = interval.calls.map_or(0, |calls| calls.sends + calls.recvs);
        self.events += interval.segments_in.unwrap_or(0) + calls;
        match interval.retransmits_by_kind {
            Some(kinds) => {
                summary.retransmits.fast += kinds.fast;
                summary.retransmits.rto += kinds.rto;
                summary.retransmits.tlp += kinds.tlp;
            }
            None => summary.retransmits_unknown += u64::from(interval.retransmits.unwrap_or(0)),
        }
    }

    /// What limited an interval.
    pub(super) fn spent(&mut self, limit: Limit, time: Nanos, bytes: u64, not_moved: Option<u64>) {
        self.lasted(limit, time.0.into());
        let summary = &mut self.summary;
        *summary.bytes.entry(limit).or_default() += bytes;
        if let Some(more) = not_moved {
            let sum = summary.bytes_not_moved.entry(limit).or_default();
            *sum = sum.saturating_add(more);
        }
    }

    /// That many connections had nothing to do for this long.
    pub(super) fn idled(&mut self, connections: usize, time: Nanos) {
        self.lasted(IDLE.0, u128::from(time.0) * connections as u128);
        self.tallies.idled(connections, time);
    }

    fn lasted(&mut self, limit: Limit, nanos: u128) {
        let sum = self.time.entry(limit).or_default();
        *sum += nanos;
        self.summary.seconds.insert(limit, *sum as f64 / 1e9);
    }

    /// A tick has ended.
    pub(super) fn tick(&mut self, span: Nanos) {
        let sent = Bytes(std::mem::take(&mut self.acked)).per(span);
        let received = Bytes(std::mem::take(&mut self.received)).per(span);
        self.summary.send_bps = sent.bits();
        self.summary.receive_bps = received.bits();
        let (most_sent, most_received) = &mut self.fastest;
        most_sent.0 = most_sent.0.max(sent.0);
        most_received.0 = most_received.0.max(received.0);
        self.tallies.tick();
    }

    /// The most that this host was ever seen to move in that direction.
    pub(super) const fn fastest(&self, direction: Direction) -> BytesPerSec {
        match direction {
            Direction::Send => self.fastest.0,
            Direction::Receive => self.fastest.1,
        }
    }
}
