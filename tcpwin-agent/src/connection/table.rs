//! The one table of connections: bounded, written by the daemon's loop alone.
//!
//! A connection is *active* while updates of it come; its intervals are classified at each tick. A quiet one costs nothing per
//! tick, and little memory: it is counted with the idle, and what was last seen of it is kept packed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::classify::{Context, Direction, Limit, Verdict, classify};
use crate::connection::delta::Baseline;
use crate::connection::entry::{Entry, FindOwner, Ownership};
use crate::connection::interval::Interval;
use crate::connection::quiet::Quiet;
use crate::connection::row;
use crate::observation::{Key, Observation, Origin};
use crate::snapshot::{Connection, Summary, TraceEvent};
use crate::source::Update;
use crate::units::{Bytes, BytesPerSec, Instant};

/// Bounds of the table, and what is known beside the connections.
#[derive(Clone, Copy, Debug)]
pub struct TableConfig {
    /// Most connections kept; beyond it the longest idle ones go, and are counted.
    pub capacity: usize,
    /// Facts of the host that verdicts need.
    pub context: Context,
}

/// All connections that are open now.
pub struct Table {
    config: TableConfig,
    owners: Option<Box<dyn FindOwner>>,
    /// Those updated in the last interval or in this one.
    active: HashMap<Key, Box<Entry>>,
    quiet: HashMap<Key, Quiet>,
    /// Where a quiet one is packed.
    room: Vec<u8>,
    summary: Summary,
    evictions: u64,
    /// When the last tick was.
    ticked: Instant,
    nothing: Arc<Verdict>,
    new: Arc<Verdict>,
    /// Somebody reads events.
    telling: bool,
    moved: (u64, u64),
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(config: TableConfig) -> Self {
        Self {
            config,
            owners: None,
            active: HashMap::new(),
            quiet: HashMap::new(),
            room: Vec::new(),
            summary: Summary::default(),
            evictions: 0,
            ticked: Instant(0),
            nothing: Arc::new(Verdict::none(Direction::Send, "idle".to_owned())),
            new: Arc::new(Verdict::unknown(
                Direction::Send,
                "seen once, no interval yet".to_owned(),
            )),
            telling: true,
            moved: (0, 0),
        }
    }

    /// With a finder of owners.
    #[must_use]
    pub fn with_owners(mut self, owners: Box<dyn FindOwner>) -> Self {
        self.owners = Some(owners);
        self
    }

    /// Whether anybody reads events; they are not made for nobody.
    pub const fn tell(&mut self, wanted: bool) {
        self.telling = wanted;
    }

    /// Folds one update in. What is worth telling at once is pushed to `events`.
    pub fn apply(&mut self, update: Update, events: &mut Vec<TraceEvent>) {
        match update {
            Update::Observed(observation) => self.observed(observation, events),
            Update::Closed(observation) => self.closed(observation, events),
            Update::Vanished { key, .. } => {
                if let Some(last) = self.look(&key, |entry| entry.last.clone()) {
                    self.closed(last, events);
                }
            }
            Update::Retransmit {
                key,
                at,
                kind,
                segments,
            } => events.extend(self.look(&key, |entry| row::retransmit(entry, at, kind, segments))),
            Update::CwndFall {
                key,
                at,
                cwnd,
                ssthresh,
                by_timeout,
            } => events.extend(self.look(&key, |entry| {
                row::cwnd_fall(entry, at, cwnd, ssthresh, by_timeout)
            })),
            Update::Reset { key, at, sent } => {
                events.extend(self.look(&key, |entry| row::reset(entry, at, sent)));
            }
        }
    }

    /// A look at a connection, active or quiet.
    fn look<T>(&self, key: &Key, tell: impl FnOnce(&Entry) -> T) -> Option<T> {
        match self.active.get(key) {
            Some(entry) => Some(tell(entry)),
            None => Some(tell(&self.wake(self.quiet.get(key)?)?)),
        }
    }

    /// A quiet connection's entry: nothing happened on it until the last tick.
    fn wake(&self, quiet: &Quiet) -> Option<Entry> {
        let last = quiet.last()?;
        let mut baseline = Baseline::of(&last);
        baseline.advance_idle(self.ticked);
        Some(Entry {
            last,
            baseline: Some(Box::new(baseline)),
            verdict: Arc::clone(&self.nothing),
            send: BytesPerSec(0.0),
            receive: BytesPerSec(0.0),
            budget: None,
            owner: quiet.owner.clone(),
            touched: true,
        })
    }

    /// Takes a connection out of the table.
    fn take(&mut self, key: &Key) -> Option<Box<Entry>> {
        if let Some(mut entry) = self.active.remove(key) {
            entry.start_if_idle(self.ticked);
            return Some(entry);
        }
        let quiet = self.quiet.remove(key)?;
        self.wake(&quiet).map(Box::new)
    }

    fn observed(&mut self, observation: Observation, events: &mut Vec<TraceEvent>) {
        let key = observation.key;
        if let Some(mut entry) = self.take(&key) {
            self.update(&mut entry, observation);
            self.active.insert(key, entry);
            return;
        }
        if self.len() >= self.config.capacity {
            self.evict();
        }
        let owner = self.find_owner(&observation);
        if observation.origin == Origin::Seeded {
            // Nothing is known to have happened on it yet.
            if let Some(quiet) = Quiet::pack(&observation, owner.clone(), &mut self.room) {
                *self.summary.connections.entry(Limit::None).or_default() += 1;
                self.quiet.insert(key, quiet);
                return;
            }
        }
        *self.summary.connections.entry(self.new.limit).or_default() += 1;
        let entry = Box::new(Entry {
            baseline: Some(Box::new(Baseline::birth(&observation))),
            last: observation,
            verdict: Arc::clone(&self.new),
            send: BytesPerSec(0.0),
            receive: BytesPerSec(0.0),
            budget: None,
            owner,
            touched: true,
        });
        self.summary.opened += 1;
        self.summary.opened_connect += u64::from(entry.last.origin == Origin::Connect);
        if self.telling {
            events.push(row::open(&entry));
        }
        self.active.insert(key, entry);
    }

    fn update(&mut self, entry: &mut Entry, observation: Observation) {
        if entry.owner.is_none() {
            entry.owner = self.find_owner(&observation);
        }
        entry.last = observation;
        entry.touched = true;
    }

    fn find_owner(&mut self, observation: &Observation) -> Option<Arc<Ownership>> {
        let owners = self.owners.as_mut()?;
        owners.find(observation.key, &observation.owner)
    }

    fn closed(&mut self, observation: Observation, events: &mut Vec<TraceEvent>) {
        let key = observation.key;
        let known = self.take(&key).or_else(|| {
            // Opened and closed between two looks: its record is all there is of it.
            self.observed(observation.clone(), events);
            self.take(&key)
        });
        let Some(mut entry) = known else { return };
        self.update(&mut entry, observation);
        let before = entry.verdict.limit;
        self.conclude(&mut entry);
        self.move_count(before, None);
        self.summary.closed += 1;
        if let Some(owners) = &mut self.owners {
            owners.forget(key);
        }
        if self.telling {
            events.push(row::close(&entry));
        }
    }

    /// Ends the entry's interval: classifies it and adds it to the summary.
    fn conclude(&mut self, entry: &mut Entry) {
        let Some(baseline) = entry.baseline.take() else {
            return;
        };
        let interval = baseline.interval(&entry.last);
        if interval.span.0 > 0 {
            entry.verdict = Arc::new(classify(&interval, &self.config.context));
        }
        entry.send = interval.sending();
        entry.receive = interval.receiving();
        entry.budget = interval.budget;
        self.add(&interval, entry.verdict.limit);
    }

    fn add(&mut self, interval: &Interval, limit: Limit) {
        let summary = &mut self.summary;
        let (acked, received) = (
            interval.acked.unwrap_or_default(),
            interval.received.unwrap_or_default(),
        );
        *summary.seconds.entry(limit).or_default() += interval.span.seconds();
        *summary.bytes.entry(limit).or_default() += acked.0 + received.0;
        summary.bytes_acked += acked.0;
        summary.bytes_received += received.0;
        self.moved.0 += acked.0;
        self.moved.1 += received.0;
        match interval.retransmits_by_kind {
            Some(kinds) => {
                summary.retransmits.fast += kinds.fast;
                summary.retransmits.rto += kinds.rto;
                summary.retransmits.tlp += kinds.tlp;
            }
            None => summary.retransmits_unknown += u64::from(interval.retransmits.unwrap_or(0)),
        }
    }

    fn move_count(&mut self, from: Limit, to: Option<Limit>) {
        if to == Some(from) {
            return;
        }
        if let Some(count) = self.summary.connections.get_mut(&from) {
            *count = count.saturating_sub(1);
        }
        if let Some(to) = to {
            *self.summary.connections.entry(to).or_default() += 1;
        }
    }

    /// Ends the interval of every connection that changed, and counts the time of those that did not.
    pub fn tick(&mut self, now: Instant, events: &mut Vec<TraceEvent>) {
        let span = now.since(if self.ticked.0 == 0 { now } else { self.ticked });
        self.moved = (0, 0);
        self.find_owners(now);
        *self.summary.seconds.entry(Limit::None).or_default() += self.quiet.len() as f64 * span.seconds();

        let mut active = std::mem::take(&mut self.active);
        active.retain(|key, entry| {
            let before = entry.verdict.limit;
            let was_touched = std::mem::take(&mut entry.touched);
            if was_touched {
                self.conclude(entry);
            } else {
                entry.rest(&self.nothing);
            }
            self.move_count(before, Some(entry.verdict.limit));
            if self.telling && before != entry.verdict.limit {
                events.push(row::verdict(entry, now, before));
            }
            if was_touched {
                return true;
            }
            match Quiet::pack(&entry.last, entry.owner.clone(), &mut self.room) {
                Some(quiet) => self.quiet.insert(*key, quiet).is_some(),
                None => true,
            }
        });
        self.active = active;
        self.ticked = now;
        self.summary.send_bps = Bytes(self.moved.0).per(span).bits();
        self.summary.receive_bps = Bytes(self.moved.1).per(span).bits();
    }

    fn find_owners(&mut self, now: Instant) {
        let Some(owners) = &mut self.owners else { return };
        let mut found = Vec::new();
        owners.refresh(now, &mut found);
        for (key, owner) in found {
            if let Some(entry) = self.active.get_mut(&key) {
                entry.owner = Some(owner);
            } else if let Some(quiet) = self.quiet.get_mut(&key) {
                quiet.owner = Some(owner);
            }
        }
    }

    /// Throws out the quiet connections that were seen longest ago: a sixteenth of the table at a time, since it costs a walk.
    fn evict(&mut self) {
        let quiet = self.quiet.iter().map(|(key, quiet)| (false, quiet.at(), *key));
        let active = self.active.iter().map(|(key, entry)| (true, entry.last.at, *key));
        let mut all: Vec<_> = quiet.chain(active).collect();
        let count = (self.config.capacity / 16).max(1).min(all.len());
        if count == 0 {
            return;
        }
        all.select_nth_unstable(count - 1);
        for (_, _, key) in &all[..count] {
            let limit = match self.active.remove(key) {
                Some(entry) => entry.verdict.limit,
                None => Limit::None,
            };
            self.quiet.remove(key);
            self.move_count(limit, None);
            self.evictions += 1;
            if let Some(owners) = &mut self.owners {
                owners.forget(*key);
            }
        }
    }

    /// Connections open now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.active.len() + self.quiet.len()
    }

    /// If there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries thrown out to stay within the bound.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Counts over all connections.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Every connection as exits show it; built when asked for, since most ticks nobody looks.
    #[must_use]
    pub fn connections(&self, now: Instant) -> Vec<Arc<Connection>> {
        let active = self.active.values().map(|entry| row::connection(entry, now));
        let quiet = self.quiet.values().filter_map(|quiet| {
            let mut entry = self.wake(quiet)?;
            if entry.last.at > self.ticked {
                // Found since the last tick, older than the source: what it does is not known yet.
                entry.verdict = Arc::clone(&self.new);
            }
            Some(row::connection(&entry, now))
        });
        active.chain(quiet).map(Arc::new).collect()
    }
}

#[cfg(test)]
mod tests;
