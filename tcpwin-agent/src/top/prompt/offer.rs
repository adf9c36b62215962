//! What may be written next, offered under the prompt.

use std::collections::BTreeMap;

use crate::query::{self, Candidate, Completion};
use crate::snapshot::{Connection, Snapshot};

/// Values offered of a field.
const MOST_SEEN: usize = 40;

/// Candidates, and the one that Tab put into the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offer {
    completion: Completion,
    chosen: Option<usize>,
}

impl Offer {
    /// For what stands before the cursor.
    pub(super) fn new(text: &str, cursor: usize, snapshot: Option<&Snapshot>) -> Self {
        let connections = snapshot.map_or(&[][..], |snapshot| &snapshot.connections);
        let completion = query::complete(text, cursor, |field| {
            let texts = connections
                .iter()
                .filter_map(|connection| value(field, connection));
            most_frequent(texts)
        });
        Self {
            completion,
            chosen: None,
        }
    }

    /// The next candidate: how many characters stand before it, and its text.
    pub(super) fn next(&mut self) -> Option<(usize, &str)> {
        let count = self.completion.candidates.len();
        let at = self.chosen.map_or(0, |at| (at + 1) % count.max(1));
        let candidate = self.completion.candidates.get(at)?;
        self.chosen = Some(at);
        Some((self.completion.from, &candidate.text))
    }

    /// If there is nothing to choose between.
    pub(super) fn is_only(&self) -> bool {
        self.completion.candidates.len() == 1
    }

    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.completion.candidates
    }

    /// Which of them is in the text.
    pub(crate) fn chosen(&self) -> Option<usize> {
        self.chosen
    }

    /// What is expected where there are no candidates.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.completion.hint.as_deref()
    }
}

fn value<'a>(field: &str, connection: &'a Connection) -> Option<&'a str> {
    let address = |endpoint: &'a str| endpoint.rsplit_once(':').map(|(address, _)| address);
    match field {
        "proc" => connection.process.as_ref().map(|process| &*process.name),
        "cgroup" => connection.cgroup.as_deref(),
        "cc" => connection.tcp.congestion.as_deref(),
        "peer" => address(&connection.peer),
        "local" => address(&connection.local),
        _ => None,
    }
}

/// Each once, those of most connections first.
fn most_frequent<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
        .into_iter()
        .take(MOST_SEEN)
        .map(|(text, _)| text.to_owned())
        .collect()
}
