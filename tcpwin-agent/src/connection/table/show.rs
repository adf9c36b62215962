//! The table as exits show it; built when asked for, since most ticks nobody looks.

use std::sync::Arc;

use super::Table;
use crate::classify::group::{self, Member};
use crate::connection::journal::Since;
use crate::connection::prevailing::Prevailing;
use crate::connection::quiet::Quiet;
use crate::connection::row;
use crate::observation::Key;
use crate::snapshot::{Connection, Finding};
use crate::units::Instant;

/// What a reader that keeps a copy of the rows has to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// To be given back with the next question.
    pub generation: u64,
    /// The rows are those that have changed since this generation; `None` where they are all there are.
    pub since: Option<u64>,
    /// By key.
    pub connections: Vec<Arc<Connection>>,
    /// Those that have none any more.
    pub gone: Vec<Key>,
}

impl Table {
    /// Every connection, by key: the order is the same in a replay.
    #[must_use]
    pub fn connections(&self, now: Instant) -> Vec<Arc<Connection>> {
        let active = self
            .active
            .iter()
            .map(|(key, entry)| (*key, row::connection(entry, now)));
        let quiet = self
            .quiet
            .iter()
            .filter_map(|(key, quiet)| Some((*key, self.quiet_row(quiet, now)?)));
        let shared = |(key, connection)| (key, Arc::new(connection));
        let mut shown: Vec<_> = active.chain(quiet).map(shared).collect();
        shown.sort_unstable_by_key(|(key, _)| *key);
        shown.into_iter().map(|(_, connection)| connection).collect()
    }

    /// The connections whose rows have changed since generation `since`, but for what time alone does to a row (the reader's
    /// [`Mirror`](crate::snapshot::Mirror) does that too); every one where it is not known.
    #[must_use]
    pub fn changed(&mut self, since: u64, now: Instant) -> Changed {
        let (generation, told) = self.journal.ask(since, now);
        let Since::Changed(keys) = told else {
            // Those told of as just found are something else after the tick.
            for (key, quiet) in &self.quiet {
                if quiet.at() > self.ticked {
                    self.journal.note_until_ticked(*key);
                }
            }
            return Changed {
                generation,
                since: None,
                connections: self.connections(now),
                gone: Vec::new(),
            };
        };
        let mut gone = Vec::new();
        let connections = keys
            .into_iter()
            .filter_map(|key| {
                let row = self.row(key, now);
                if row.is_none() {
                    gone.push(key);
                }
                row.map(Arc::new)
            })
            .collect();
        Changed {
            generation,
            since: Some(since),
            connections,
            gone,
        }
    }

    fn row(&self, key: Key, now: Instant) -> Option<Connection> {
        match self.active.get(&key) {
            Some(entry) => Some(row::connection(entry, now)),
            None => self.quiet_row(self.quiet.get(&key)?, now),
        }
    }

    fn quiet_row(&self, quiet: &Quiet, now: Instant) -> Option<Connection> {
        let mut entry = self.wake(quiet)?;
        if entry.last.at > self.ticked {
            // Found since the last tick, older than the source: what it does is not known yet.
            entry.verdict = Arc::clone(&self.new);
            entry.prevailing = Prevailing::new(entry.last.since);
        }
        Some(row::connection(&entry, now))
    }

    /// What is worth telling of those that moved something in the last interval, what gives most first.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let members: Vec<Member<'_>> = self
            .flows
            .iter()
            .filter_map(|flow| {
                let entry = self.active.get(&flow.key)?;
                Some(Member {
                    flow,
                    verdict: &entry.verdict,
                    process: row::process_name(entry),
                })
            })
            .collect();
        group::findings(&members)
            .into_iter()
            .map(|finding| row::finding(finding, &members))
            .collect()
    }
}
