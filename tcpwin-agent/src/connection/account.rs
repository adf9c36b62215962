//! Counts over all connections, kept as their intervals end.

use std::collections::BTreeMap;

use crate::classify::Limit;
use crate::connection::interval::Interval;
use crate::observation::Origin;
use crate::snapshot::Summary;
use crate::units::{Bytes, Nanos};

/// The summary, and what moved since the last tick.
#[derive(Debug, Default)]
pub(super) struct Account {
    summary: Summary,
    /// Nanoseconds by cause. Whole numbers: a sum of fractions would depend on the order of the connections.
    time: BTreeMap<Limit, u128>,
    acked: u64,
    received: u64,
    events: u64,
}

impl Account {
    pub(super) const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Segments in and calls of the program, since the start.
    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    /// A connection that is older than the source.
    pub(super) fn found(&mut self, limit: Limit) {
        *self.summary.connections.entry(limit).or_default() += 1;
    }

    /// A connection that was seen opening.
    pub(super) fn opened(&mut self, limit: Limit, origin: Origin) {
        self.found(limit);
        self.summary.opened += 1;
        self.summary.opened_connect += u64::from(origin == Origin::Connect);
    }

    /// It is gone, and was seen closing.
    pub(super) fn closed(&mut self, limit: Limit) {
        self.gone(limit);
        self.summary.closed += 1;
    }

    /// It is not in the table any more.
    pub(super) fn gone(&mut self, limit: Limit) {
        if let Some(count) = self.summary.connections.get_mut(&limit) {
            *count = count.saturating_sub(1);
        }
    }

    /// Its verdict changed.
    pub(super) fn turned(&mut self, from: Limit, to: Limit) {
        if from != to {
            self.gone(from);
            self.found(to);
        }
    }

    /// What an interval moved and lost, whatever limited it.
    pub(super) fn moved(&mut self, interval: &Interval) {
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
        self.lasted(Limit::None, u128::from(time.0) * connections as u128);
    }

    fn lasted(&mut self, limit: Limit, nanos: u128) {
        let sum = self.time.entry(limit).or_default();
        *sum += nanos;
        self.summary.seconds.insert(limit, *sum as f64 / 1e9);
    }

    /// A tick has ended.
    pub(super) fn tick(&mut self, span: Nanos) {
        self.summary.send_bps = Bytes(std::mem::take(&mut self.acked)).per(span).bits();
        self.summary.receive_bps = Bytes(std::mem::take(&mut self.received)).per(span).bits();
    }
}
