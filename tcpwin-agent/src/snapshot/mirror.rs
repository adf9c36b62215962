//! A reader's copy of the connections: it asks for those that have changed, and the others only grow older.
//!
//! Most connections of a busy host are idle. Telling, sending and reading all of them each second would cost more than
//! watching them.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Cause, Connection, Snapshot, listener};
use crate::classify::Limit;
use crate::observation::Key;
use crate::units::Nanos;

/// How the connections of a snapshot are to be taken by a reader that keeps a copy of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changes {
    /// To be given back with the next question.
    pub generation: u64,
    /// The connections are those that have changed since this generation; absent where they are all there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Those that are there no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Gone>,
}

/// A connection that is there no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gone {
    /// As it was in [`Connection::id`].
    pub id: String,
    /// Its network namespace.
    pub netns: u32,
}

/// An answer that does not fit the copy, or has an id that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its connections do not fit those it told of before")]
pub struct Misfit;

/// The copy.
#[derive(Clone, Debug, Default)]
pub struct Mirror {
    generation: u64,
    /// By key.
    rows: Vec<Row>,
    /// Of the last answer: the time that rows are shown as of.
    at_ns: u64,
    /// Of the one before it.
    before_ns: u64,
}

/// A connection in the copy.
#[derive(Clone, Debug)]
struct Row {
    key: Key,
    shown: Arc<Connection>,
    /// The same row younger, as it was shown before. Once its reader has let go of it, it is the next to be shown:
    /// copying thousands of rows each second is what a screen would spend most on.
    before: Option<Arc<Connection>>,
}

/// Time since rows were shown.
#[derive(Clone, Copy)]
struct Passed {
    since_shown: Nanos,
    since_before: Nanos,
}

impl Mirror {
    /// The generation of the copy, to ask with; 0 while there is none.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.generation
    }

    /// The answer to a question with [`Mirror::since`], made whole.
    ///
    /// # Errors
    /// When it does not fit the copy, which is thrown away: the next answer is whole.
    pub fn fold(&mut self, mut answer: Snapshot) -> Result<Arc<Snapshot>, Misfit> {
        let copy = std::mem::take(self);
        let Some(changes) = answer.changes.take() else {
            // An agent that knows nothing of changes tells all.
            return Ok(Arc::new(answer));
        };
        let told = std::mem::take(&mut answer.connections);
        let told = told.into_iter().map(Row::new);
        let told: Vec<Row> = told.collect::<Option<_>>().ok_or(Misfit)?;
        *self = match changes.since {
            None => Self {
                rows: told,
                ..Self::default()
            },
            Some(since) if since == copy.generation => copy.changed(told, &changes.gone, answer.at_ns)?,
            Some(_) => return Err(Misfit),
        };
        self.generation = changes.generation;
        self.at_ns = answer.at_ns;
        answer.connections = self.rows.iter().map(|row| Arc::clone(&row.shown)).collect();
        if changes.since.is_some() {
            listener::count_connections(&mut answer.listeners, &answer.connections);
        }
        Ok(Arc::new(answer))
    }

    /// With what was told of at `now_ns`.
    fn changed(mut self, told: Vec<Row>, gone: &[Gone], now_ns: u64) -> Result<Self, Misfit> {
        let gone = gone.iter().map(|gone| key(&gone.id, gone.netns));
        let gone: HashSet<Key> = gone.collect::<Option<_>>().ok_or(Misfit)?;
        let since = |then_ns: u64| Nanos((now_ns / 1_000).saturating_sub(then_ns / 1_000) * 1_000);
        let passed = Passed {
            since_shown: since(self.at_ns),
            since_before: since(self.before_ns),
        };
        let old = self.rows.into_iter().filter(|row| !gone.contains(&row.key));
        self.rows = merged(old, told, passed);
        if passed.since_shown.0 > 0 {
            self.before_ns = self.at_ns;
        }
        Ok(self)
    }
}

/// Both, by key; what is in both is the new one's, and what is not has grown older.
fn merged(old: impl Iterator<Item = Row>, told: Vec<Row>, passed: Passed) -> Vec<Row> {
    let mut rows = Vec::with_capacity(old.size_hint().1.unwrap_or(0) + told.len());
    let mut told = told.into_iter().peekable();
    for mut row in old {
        while let Some(before) = told.next_if(|told| told.key < row.key) {
            rows.push(before);
        }
        rows.push(match told.next_if(|told| told.key == row.key) {
            Some(told) => told,
            None => {
                row.grow_older(passed);
                row
            }
        });
    }
    rows.extend(told);
    rows
}

impl Row {
    /// `None` if its id is none.
    fn new(shown: Arc<Connection>) -> Option<Self> {
        Some(Self {
            key: key(&shown.id, shown.netns)?,
            shown,
            before: None,
        })
    }

    fn grow_older(&mut self, passed: Passed) {
        if passed.since_shown.0 == 0 {
            return;
        }
        let again = self.before.take().and_then(|mut before| {
            Arc::get_mut(&mut before)?.age(passed.since_before);
            Some(before)
        });
        let older = again.unwrap_or_else(|| {
            let mut copy = (*self.shown).clone();
            copy.age(passed.since_shown);
            Arc::new(copy)
        });
        self.before = Some(std::mem::replace(&mut self.shown, older));
    }
}

impl Connection {
    /// Takes in a time in which nothing happened on the connection: it was idle.
    fn age(&mut self, passed: Nanos) {
        let passed_us = passed.0 / 1_000;
        self.age_us += passed_us;
        if let Some(prevailing) = &mut self.prevailing {
            prevailing.since_us += passed_us;
        }
        rest(&mut self.causes, passed);
    }
}

/// Adds time without a limit; the longest cause stays first.
fn rest(causes: &mut Vec<Cause>, passed: Nanos) {
    match causes.iter_mut().find(|cause| cause.limit == Limit::None) {
        // In whole nanoseconds, as they are counted: sums of fractions drift.
        Some(idle) => idle.seconds = ((idle.seconds * 1e9).round() + passed.0 as f64) / 1e9,
        None => causes.push(Cause {
            limit: Limit::None,
            seconds: passed.seconds(),
            bytes: 0,
            bytes_not_moved: None,
        }),
    }
    if causes.len() > 1 {
        causes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.limit.cmp(&b.limit)));
    }
}

fn key(id: &str, netns: u32) -> Option<Key> {
    let cookie = id.parse().ok()?;
    Some(Key { cookie, netns })
}

#[cfg(test)]
mod tests;
