//! What connections were held by since somebody last looked: the flight recorder writes it down each minute.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::entry::{Entry, Ownership};
use crate::classify::{Direction, Limit, Verdict};
use crate::observation::Key;
use crate::units::Nanos;

/// Connections told one by one; what is held beyond it is told by program and limit.
const MOST: usize = 16_384;
/// Programs told of; what is beyond it is told without a name.
const PROGRAMS: usize = 1_024;

/// Time under a limit, and what it was worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How long, all connections together.
    pub time: Nanos,
    /// Bytes moved meanwhile, both ways.
    pub bytes: u64,
    /// Bytes that lifting the limit would have moved beside these, where the next limit was known.
    pub not_moved: Option<u64>,
}

impl Sum {
    fn add(&mut self, time: Nanos, bytes: u64, not_moved: Option<u64>) {
        self.time = Nanos(self.time.0.saturating_add(time.0));
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(more) = not_moved {
            self.not_moved = Some(self.not_moved.unwrap_or(0).saturating_add(more));
        }
    }
}

/// A connection and a limit that held it.
#[derive(Clone, Debug)]
pub struct Held {
    /// Which connection.
    pub key: Key,
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
    /// Which way its bytes went.
    pub direction: Direction,
    /// Whose it is; the name alone where only the kernel told.
    pub owner: Option<Arc<Ownership>>,
    /// Name of the program.
    pub program: Option<String>,
    /// How long it was held, and at what price.
    pub sum: Sum,
    /// The last verdict, with its proof and remedies.
    pub verdict: Arc<Verdict>,
}

/// All others, by program and limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Name of the program, if known.
    pub program: Option<String>,
    /// How many intervals of connections.
    pub intervals: u64,
    /// How long, and what moved.
    pub sum: Sum,
}

/// What happened since the last look.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    held: HashMap<(Key, Limit), Held>,
    rest: HashMap<(Option<String>, Limit), Rest>,
    crowded_out: u64,
}

impl Spent {
    pub(super) fn add(&mut self, entry: &Entry, time: Nanos, bytes: u64, not_moved: Option<u64>) {
        let limit = entry.verdict.limit;
        let key = (entry.last.key, limit);
        if let Some(held) = self.held.get_mut(&key) {
            held.sum.add(time, bytes, not_moved);
            held.verdict = Arc::clone(&entry.verdict);
            if held.owner.is_none() {
                (held.owner, held.program) = (entry.owner.clone(), program(entry));
            }
            return;
        }
        // Nobody could have done anything about these.
        let is_held = !matches!(limit, Limit::None | Limit::App | Limit::Unknown);
        if is_held && self.held.len() < MOST {
            let mut sum = Sum::default();
            sum.add(time, bytes, not_moved);
            let held = Held {
                key: entry.last.key,
                local: entry.last.endpoints.local,
                peer: entry.last.endpoints.peer,
                direction: entry.verdict.direction,
                owner: entry.owner.clone(),
                program: program(entry),
                sum,
                verdict: Arc::clone(&entry.verdict),
            };
            self.held.insert(key, held);
            return;
        }
        self.crowded_out += u64::from(is_held);
        let name = program(entry).filter(|name| {
            self.rest.len() < PROGRAMS || self.rest.contains_key(&(Some(name.clone()), limit))
        });
        let rest = self.rest.entry((name.clone(), limit)).or_default();
        rest.program = name;
        rest.intervals += 1;
        rest.sum.add(time, bytes, not_moved);
    }

    /// Connections that were held, the costliest first.
    #[must_use]
    pub fn held(&self) -> Vec<&Held> {
        let mut held: Vec<&Held> = self.held.values().collect();
        held.sort_by_key(|held| {
            let sum = held.sum;
            std::cmp::Reverse((sum.not_moved, sum.time, held.key, held.verdict.limit))
        });
        held
    }

    /// All others, by program and limit.
    #[must_use]
    pub fn rest(&self) -> Vec<(Limit, &Rest)> {
        let mut rest: Vec<_> = self.rest.iter().collect();
        rest.sort_by_key(|(whose, _)| *whose);
        rest.into_iter()
            .map(|((_, limit), rest)| (*limit, rest))
            .collect()
    }

    /// Intervals of connections that were held, and are told by program since there were too many.
    #[must_use]
    pub const fn crowded_out(&self) -> u64 {
        self.crowded_out
    }
}

fn program(entry: &Entry) -> Option<String> {
    super::row::process_name(entry).map(str::to_owned)
}
