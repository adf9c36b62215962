//! The table as exits show it; built when asked for, since most ticks nobody looks.

use std::sync::Arc;

use super::Table;
use crate::classify::group::{self, Member};
use crate::connection::prevailing::Prevailing;
use crate::connection::row;
use crate::snapshot::{Connection, Finding};
use crate::units::Instant;

impl Table {
    /// Every connection, by key: the order is the same in a replay.
    #[must_use]
    pub fn connections(&self, now: Instant) -> Vec<Arc<Connection>> {
        let active = self
            .active
            .iter()
            .map(|(key, entry)| (*key, row::connection(entry, now)));
        let quiet = self.quiet.iter().filter_map(|(key, quiet)| {
            let mut entry = self.wake(quiet)?;
            if entry.last.at > self.ticked {
                // Found since the last tick, older than the source: what it does is not known yet.
                entry.verdict = Arc::clone(&self.new);
                entry.prevailing = Prevailing::new(entry.last.since);
            }
            Some((*key, row::connection(&entry, now)))
        });
        let shared = |(key, connection)| (key, Arc::new(connection));
        let mut shown: Vec<_> = active.chain(quiet).map(shared).collect();
        shown.sort_unstable_by_key(|(key, _)| *key);
        shown.into_iter().map(|(_, connection)| connection).collect()
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
