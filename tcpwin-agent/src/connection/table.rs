//! The one table of connections: bounded, written by the daemon's loop alone.
//!
//! A connection is *active* while updates of it come; its intervals are classified at each tick. A quiet one costs nothing per
//! tick, and little memory: it is counted with the idle, and what was last seen of it is kept packed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::classify::advice::Surroundings;
use crate::classify::group::Flow;
use crate::classify::{Context, Direction, Verdict};
use crate::connection::account::Account;
use crate::connection::blind::Blind;
use crate::connection::causes::Causes;
use crate::connection::entry::{Entry, FindOwner, Ownership};
use crate::connection::grouping::Grouping;
use crate::connection::journal::Journal;
use crate::connection::paths::Paths;
use crate::connection::quiet::Quiet;
use crate::connection::row;
use crate::connection::spent::Spent;
use crate::connection::tallies::IDLE;
use crate::host::{Nic, Sysctl};
use crate::observation::{Key, Observation, Origin};
use crate::snapshot::{Summary, Tally, TraceEvent};
use crate::source::Update;
use crate::units::Instant;

mod keep;
mod show;
mod tick;

pub use self::show::Changed;

/// Bounds of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableConfig {
    /// Most connections kept; beyond it the longest idle ones go, and are counted.
    pub capacity: usize,
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
    paths: Paths,
    /// What is known of each namespace's settings; those of namespaces in which nothing is busy are forgotten.
    settings: HashMap<u32, Option<Context>>,
    blind: Blind,
    /// Whose rows have changed, where somebody keeps a copy of them.
    journal: Journal,
    /// Those that moved something in the last interval.
    flows: Vec<Flow>,
    evictions: u64,
    /// When the last tick was.
    ticked: Instant,
    nothing: Arc<Verdict>,
    new: Arc<Verdict>,
    /// Somebody reads events.
    telling: bool,
    /// What the finder of owners answered, where somebody writes it down.
    answers: Option<Vec<(Key, Arc<Ownership>)>>,
    /// What connections were held by, where somebody writes that down.
    spent: Option<Spent>,
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
            paths: Paths::default(),
            settings: HashMap::new(),
            blind: Blind::default(),
            journal: Journal::default(),
            flows: Vec::new(),
            evictions: 0,
            ticked: Instant(0),
            nothing: Arc::new(Verdict::none(Direction::Send, "idle".to_owned())),
            new: Arc::new(Verdict::unknown(
                Direction::Send,
                "seen once, no interval yet".to_owned(),
            )),
            telling: true,
            answers: None,
            spent: None,
        }
    }

    /// With a finder of owners.
    #[must_use]
    pub fn with_owners(mut self, owners: Box<dyn FindOwner>) -> Self {
        self.owners = Some(owners);
        self
    }

    /// With what metrics tell connections apart by.
    #[must_use]
    pub fn with_grouping(mut self, grouping: Grouping) -> Self {
        self.account = Account::new(grouping);
        self
    }

    /// With what is known of paths.
    #[must_use]
    pub fn with_paths(mut self, paths: Paths) -> Self {
        self.paths = paths;
        self
    }

    /// The interfaces of the agent's own namespace as they are now.
    pub fn set_links(&mut self, own: u32, nics: &[Nic]) {
        self.paths.set_links(own, nics);
    }

    /// Namespaces with a connection that was busy in the last interval.
    pub fn busy_namespaces(&self) -> impl Iterator<Item = u32> {
        self.settings.keys().copied()
    }

    /// The TCP settings of a namespace as they are now; `None` where they cannot be read.
    pub fn set_settings(&mut self, netns: u32, sysctl: Option<&Sysctl>) {
        let context = sysctl.map(|sysctl| Context {
            tcp_wmem_max: sysctl.tcp_wmem.map(|sizes| sizes.max),
            around: Surroundings::of_host(sysctl),
            ..Context::default()
        });
        self.settings.insert(netns, context);
    }

    /// Events that the source has missed so far, all told.
    pub fn set_missed(&mut self, missed: u64) {
        self.blind.note(missed, self.account.events());
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
        self.journal.note(key);
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
                self.account.found(IDLE);
                self.quiet.insert(key, quiet);
                self.journal.note_until_ticked(key);
                return;
            }
        }
        self.account.tallies.shook_hands(&observation);
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
        if entry.last.tcp.handshake_us.is_none() {
            self.account.tallies.shook_hands(&observation);
        }
        entry.last = observation;
        entry.touched = true;
    }

    fn find_owner(&mut self, observation: &Observation) -> Option<Arc<Ownership>> {
        let owners = self.owners.as_mut()?;
        let owner = owners.find(observation.key, &observation.owner);
        self.note_answer(observation.key, owner.as_ref());
        owner
    }

    fn closed(&mut self, observation: Observation, events: &mut Vec<TraceEvent>) {
        let key = observation.key;
        let known = self.take(&key).or_else(|| {
            // Opened and closed between two looks: its record is all there is of it.
            self.observed(observation.clone(), events);
            self.take(&key)
        });
        let Some(mut entry) = known else { return };
        self.journal.note(key);
        self.update(&mut entry, observation);
        self.judge(&mut entry);
        self.settle(&mut entry);
        self.account.closed(entry.counted);
        self.account.tallies.closed(&entry.last);
        if let Some(owners) = &mut self.owners {
            owners.forget(key);
        }
        if self.telling {
            events.push(row::close(&entry));
        }
    }

    fn find_owners(&mut self, now: Instant) {
        let Some(owners) = &mut self.owners else { return };
        let mut found = Vec::new();
        owners.refresh(now, &mut found);
        for (key, owner) in found {
            self.note_answer(key, Some(&owner));
            self.journal.note(key);
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
            let held = match self.active.remove(key) {
                Some(entry) => entry.counted,
                None => IDLE,
            };
            self.quiet.remove(key);
            self.journal.note(*key);
            self.account.gone(held);
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

    /// What only metrics tell of them.
    #[must_use]
    pub fn tally(&self) -> Arc<Tally> {
        self.account.tally()
    }
}

#[cfg(test)]
mod changed_tests;
#[cfg(test)]
mod tally_tests;
#[cfg(test)]
mod tests;
