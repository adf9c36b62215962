//! The one table of connections: bounded, written by the daemon's loop alone.
//!
//! A connection is *active* while updates of it come; its intervals are classified at each tick. A quiet one costs nothing per
//! tick, and little memory: it is counted with the idle, and what was last seen of it is kept packed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::classify::{Context, Direction, Limit, Verdict, classify};
use crate::connection::account::Account;
use crate::connection::causes::{Causes, not_moved};
use crate::connection::entry::{Ended, Entry, FindOwner, Ownership};
use crate::connection::prevailing::Prevailing;
use crate::connection::quiet::Quiet;
use crate::connection::row;
use crate::observation::{Key, Observation, Origin};
use crate::snapshot::{Connection, Summary, TraceEvent};
use crate::source::Update;
use crate::units::Instant;

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
    account: Account,
    evictions: u64,
    /// When the last tick was.
    ticked: Instant,
    nothing: Arc<Verdict>,
    new: Arc<Verdict>,
    /// Somebody reads events.
    telling: bool,
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
            account: Account::default(),
            evictions: 0,
            ticked: Instant(0),
            nothing: Arc::new(Verdict::none(Direction::Send, "idle".to_owned())),
            new: Arc::new(Verdict::unknown(
                Direction::Send,
                "seen once, no interval yet".to_owned(),
            )),
            telling: true,
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
        let (last, causes) = quiet.unpack()?;
        let nothing = Arc::clone(&self.nothing);
        Some(Entry::woken(
            last,
            causes,
            self.ticked,
            nothing,
            quiet.owner.clone(),
        ))
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
            if let Some(quiet) = Quiet::pack(&observation, &Causes::default(), owner.clone(), &mut self.room)
            {
                self.account.found(Limit::None);
                self.quiet.insert(key, quiet);
                return;
            }
        }
        let entry = Box::new(Entry::new(observation, Arc::clone(&self.new), owner));
        self.account.opened(entry.counted, entry.last.origin);
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
        self.judge(&mut entry);
        self.settle(&mut entry);
        self.account.closed(entry.counted);
        if let Some(owners) = &mut self.owners {
            owners.forget(key);
        }
        if self.telling {
            events.push(row::close(&entry));
        }
    }

    /// Ends the entry's interval and classifies it.
    fn judge(&mut self, entry: &mut Entry) {
        let Some(baseline) = entry.baseline.take() else {
            return;
        };
        let mut interval = baseline.interval(&entry.last);
        interval.recent = Some(entry.history.fold(&interval));
        if interval.span.0 > 0 {
            entry.verdict = Arc::new(classify(&interval, &entry.context(&self.config.context)));
        }
        entry.send = interval.sending();
        entry.receive = interval.receiving();
        entry.budget = interval.budget;
        let (acked, received) = (interval.acked, interval.received);
        entry.ended = Some(Ended {
            start: baseline.start(),
            span: interval.span,
            bytes: acked.unwrap_or_default().0 + received.unwrap_or_default().0,
        });
        self.account.moved(&interval);
    }

    /// Counts what was judged: to the connection's own causes, and to the summary.
    fn settle(&mut self, entry: &mut Entry) {
        let limit = entry.verdict.limit;
        if let Some(Ended { start, span, bytes }) = entry.ended.take() {
            let next = entry.verdict.next.as_ref().map(|next| next.rate);
            let more = not_moved(entry.rate(), next, span);
            entry.causes.add(limit, span, bytes, more);
            self.account.spent(limit, span, bytes, more);
            if span.0 > 0 {
                entry.prevailing.fold(limit, start);
            }
        }
        self.account.turned(entry.counted, limit);
        entry.counted = limit;
    }

    /// Ends the interval of every connection that changed, and counts the time of those that did not.
    pub fn tick(&mut self, now: Instant, events: &mut Vec<TraceEvent>) {
        let span = now.since(if self.ticked.0 == 0 { now } else { self.ticked });
        self.find_owners(now);
        self.account.idled(self.quiet.len(), span);

        // Those that a change of the host's settings would reach.
        self.config.context.around.connections = u32::try_from(self.active.len()).ok();
        let mut active = std::mem::take(&mut self.active);
        active.retain(|key, entry| {
            let before = entry.counted;
            let was_touched = std::mem::take(&mut entry.touched);
            if was_touched {
                self.judge(entry);
            } else {
                entry.rest(&self.nothing);
            }
            self.settle(entry);
            if self.telling && before != entry.counted {
                events.push(row::verdict(entry, now, before));
            }
            if was_touched {
                return true;
            }
            match Quiet::pack(&entry.last, &entry.causes, entry.owner.clone(), &mut self.room) {
                Some(quiet) => self.quiet.insert(*key, quiet).is_some(),
                None => true,
            }
        });
        self.active = active;
        self.ticked = now;
        self.account.tick(span);
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
                Some(entry) => entry.counted,
                None => Limit::None,
            };
            self.quiet.remove(key);
            self.account.gone(limit);
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
        self.account.summary()
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
                entry.prevailing = Prevailing::new(entry.last.since);
            }
            Some(row::connection(&entry, now))
        });
        active.chain(quiet).map(Arc::new).collect()
    }
}

#[cfg(test)]
mod tests;
