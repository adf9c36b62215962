//! The one table of connections: bounded, written by the daemon's loop alone.
//!
//! A connection is *active* while updates of it come; its intervals are classified at each tick. A quiet one costs nothing per
//! tick: it is counted with the idle.

use std::collections::HashMap;
use std::sync::Arc;

use crate::classify::{Context, Direction, Limit, Verdict, classify};
use crate::connection::delta::Baseline;
use crate::connection::interval::{BudgetShares, Interval};
use crate::connection::row;
use crate::observation::{Key, Observation, Origin, OwnerHint};
use crate::snapshot::{Connection, Process, Summary, TraceEvent};
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

/// Whose a socket is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The process.
    pub process: Option<Process>,
    /// Path of its cgroup.
    pub cgroup: Option<String>,
}

/// Finds out whose a socket is; asked once when it is first seen, and again while there is no answer.
pub trait FindOwner: Send {
    /// By the source's hint, or by a search the finder bounds itself.
    fn find(&mut self, key: Key, hint: &OwnerHint) -> Option<Arc<Ownership>>;

    /// The socket is gone.
    fn forget(&mut self, key: Key);

    /// A tick passed: a bounded step of the search, and what it found.
    fn refresh(&mut self, now: Instant, found: &mut Vec<(Key, Arc<Ownership>)>);
}

/// What a connection did in its last interval.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) last: Observation,
    baseline: Option<Box<Baseline>>,
    pub(super) verdict: Arc<Verdict>,
    pub(super) send: BytesPerSec,
    pub(super) receive: BytesPerSec,
    pub(super) budget: Option<BudgetShares>,
    pub(super) owner: Option<Arc<Ownership>>,
    /// Updated since the last tick.
    touched: bool,
    /// In the list of active connections.
    active: bool,
    /// Number of the tick that ended its last interval.
    tick: u64,
}

/// All connections that are open now.
pub struct Table {
    config: TableConfig,
    owners: Option<Box<dyn FindOwner>>,
    entries: HashMap<Key, Box<Entry>>,
    active: Vec<Key>,
    summary: Summary,
    evictions: u64,
    /// When the last tick was.
    ticked: Instant,
    /// How many there were.
    tick: u64,
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
            entries: HashMap::new(),
            active: Vec::new(),
            summary: Summary::default(),
            evictions: 0,
            ticked: Instant(0),
            tick: 0,
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
                if let Some(entry) = self.entries.get(&key) {
                    let last = entry.last.clone();
                    self.closed(last, events);
                }
            }
            Update::Retransmit {
                key,
                at,
                kind,
                segments,
            } => {
                if let Some(entry) = self.entries.get(&key) {
                    events.push(row::retransmit(entry, at, kind, segments));
                }
            }
            Update::CwndFall {
                key,
                at,
                cwnd,
                ssthresh,
                by_timeout,
            } => {
                if let Some(entry) = self.entries.get(&key) {
                    events.push(row::cwnd_fall(entry, at, cwnd, ssthresh, by_timeout));
                }
            }
            Update::Reset { key, at, sent } => {
                if let Some(entry) = self.entries.get(&key) {
                    events.push(row::reset(entry, at, sent));
                }
            }
        }
    }

    fn observed(&mut self, observation: Observation, events: &mut Vec<TraceEvent>) {
        let key = observation.key;
        if let Some(entry) = self.entries.get_mut(&key) {
            if entry.baseline.is_none() {
                let mut baseline = Baseline::of(&entry.last);
                baseline.advance_idle(self.ticked);
                entry.baseline = Some(Box::new(baseline));
            }
            if entry.owner.is_none()
                && let Some(owners) = &mut self.owners
            {
                entry.owner = owners.find(key, &observation.owner);
            }
            entry.last = observation;
            entry.touched = true;
            if !entry.active {
                entry.active = true;
                self.active.push(key);
            }
            return;
        }
        if self.entries.len() >= self.config.capacity {
            self.evict();
        }
        let owner = self
            .owners
            .as_mut()
            .and_then(|owners| owners.find(key, &observation.owner));
        let is_new = observation.origin != Origin::Seeded;
        let baseline = if is_new {
            Baseline::birth(&observation)
        } else {
            Baseline::of(&observation)
        };
        let entry = Box::new(Entry {
            last: observation,
            baseline: Some(Box::new(baseline)),
            verdict: Arc::clone(&self.new),
            send: BytesPerSec(0.0),
            receive: BytesPerSec(0.0),
            budget: None,
            owner,
            touched: true,
            active: true,
            tick: self.tick,
        });
        if is_new {
            self.summary.opened += 1;
            self.summary.opened_connect += u64::from(entry.last.origin == Origin::Connect);
            if self.telling {
                events.push(row::open(&entry));
            }
        }
        *self.summary.connections.entry(entry.verdict.limit).or_default() += 1;
        self.entries.insert(key, entry);
        self.active.push(key);
    }

    fn closed(&mut self, observation: Observation, events: &mut Vec<TraceEvent>) {
        let key = observation.key;
        if !self.entries.contains_key(&key) {
            // Opened and closed between two looks: its record is all there is of it.
            self.observed(observation.clone(), events);
        }
        let Some(mut entry) = self.entries.remove(&key) else {
            return;
        };
        if entry.baseline.is_none() {
            let mut baseline = Baseline::of(&entry.last);
            baseline.advance_idle(self.ticked);
            entry.baseline = Some(Box::new(baseline));
        }
        if entry.owner.is_none() {
            entry.owner = self
                .owners
                .as_mut()
                .and_then(|owners| owners.find(key, &observation.owner));
        }
        entry.last = observation;
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
        let idle = self.entries.len().saturating_sub(self.active.len());
        *self.summary.seconds.entry(Limit::None).or_default() += idle as f64 * span.seconds();

        self.tick += 1;
        let active = std::mem::take(&mut self.active);
        for key in active {
            let Some(mut entry) = self.entries.remove(&key) else {
                continue;
            };
            if entry.tick == self.tick {
                // Listed twice: closed and, under the same key, opened again within one interval.
                self.entries.insert(key, entry);
                continue;
            }
            entry.tick = self.tick;
            let before = entry.verdict.limit;
            if entry.touched {
                entry.touched = false;
                self.conclude(&mut entry);
                self.active.push(key);
            } else {
                entry.active = false;
                entry.baseline = None;
                entry.verdict = Arc::clone(&self.nothing);
                entry.send = BytesPerSec(0.0);
                entry.receive = BytesPerSec(0.0);
                entry.budget = None;
            }
            self.move_count(before, Some(entry.verdict.limit));
            if self.telling && before != entry.verdict.limit {
                events.push(row::verdict(&entry, now, before));
            }
            self.entries.insert(key, entry);
        }
        self.ticked = now;
        self.summary.send_bps = Bytes(self.moved.0).per(span).bits();
        self.summary.receive_bps = Bytes(self.moved.1).per(span).bits();
    }

    fn find_owners(&mut self, now: Instant) {
        let Some(owners) = &mut self.owners else { return };
        let mut found = Vec::new();
        owners.refresh(now, &mut found);
        for (key, owner) in found {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.owner = Some(owner);
            }
        }
    }

    /// Throws out the quiet connections that were seen longest ago: a sixteenth of the table at a time, since it costs a walk.
    fn evict(&mut self) {
        let mut quiet: Vec<(bool, Instant, Key)> = self
            .entries
            .values()
            .map(|entry| (entry.active, entry.last.at, entry.last.key))
            .collect();
        let count = (self.config.capacity / 16).max(1).min(quiet.len());
        if count == 0 {
            return;
        }
        quiet.select_nth_unstable(count - 1);
        for (_, _, key) in &quiet[..count] {
            if let Some(entry) = self.entries.remove(key) {
                self.move_count(entry.verdict.limit, None);
                self.evictions += 1;
                if let Some(owners) = &mut self.owners {
                    owners.forget(*key);
                }
            }
        }
    }

    /// Connections open now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// If there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
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
        self.entries
            .values()
            .map(|entry| Arc::new(row::connection(entry, now)))
            .collect()
    }
}

#[cfg(test)]
mod tests;
