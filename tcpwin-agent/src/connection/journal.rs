//! Which connections have changed of late, for readers that keep a copy of the rows. Nothing is noted while there are none.

use std::collections::HashMap;

use crate::observation::Key;
use crate::units::Instant;

/// A reader that last asked longer ago than this many generations is given every row.
const KEPT: u64 = 64;

/// The generations of the table's rows: each tick and each answer ends one.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<Followed>);

#[derive(Debug)]
struct Followed {
    /// The one now.
    generation: u64,
    /// What changed later than in this one is known.
    first: u64,
    /// When somebody last asked.
    asked: u64,
    /// Each connection that changed, or went, and when it did last.
    changed: HashMap<Key, u64>,
    /// Those that the next tick changes by itself.
    pending: Vec<Key>,
}

/// What a reader has to be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// Every row.
    All,
    /// These, which have changed or are gone; in the order of keys.
    Changed(Vec<Key>),
}

impl Journal {
    /// The connection's row is another one now, or there is none any more.
    pub(super) fn note(&mut self, key: Key) {
        if let Some(followed) = &mut self.0 {
            followed.changed.insert(key, followed.generation);
        }
    }

    /// It is another one now, and will be again after the next tick.
    pub(super) fn note_until_ticked(&mut self, key: Key) {
        self.note(key);
        if let Some(followed) = &mut self.0 {
            followed.pending.push(key);
        }
    }

    /// A tick passed.
    pub(super) fn tick(&mut self) {
        let Some(followed) = &mut self.0 else { return };
        followed.generation += 1;
        let floor = followed.generation.saturating_sub(KEPT);
        if followed.asked < floor {
            self.0 = None;
            return;
        }
        for key in std::mem::take(&mut followed.pending) {
            followed.changed.insert(key, followed.generation);
        }
        if followed.first < floor {
            followed.first = floor;
            followed.changed.retain(|_, changed| *changed > floor);
        }
    }

    /// What has changed since generation `since`, and the generation of the answer.
    pub(super) fn ask(&mut self, since: u64, now: Instant) -> (u64, Since) {
        // Numbered by the clock, so that a generation of an earlier agent, or of an earlier reader, is none of these.
        let begin = (now.0 / 1_000).max(1);
        let followed = self.0.get_or_insert_with(|| Followed {
            generation: begin,
            first: begin,
            asked: begin,
            changed: HashMap::new(),
            pending: Vec::new(),
        });
        let answered = followed.generation;
        followed.generation += 1;
        followed.asked = answered;
        if since < followed.first || since >= answered {
            return (answered, Since::All);
        }
        let later = followed.changed.iter().filter(|(_, changed)| **changed > since);
        let mut keys: Vec<Key> = later.map(|(key, _)| *key).collect();
        keys.sort_unstable();
        (answered, Since::Changed(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(cookie: u64) -> Key {
        Key { cookie, netns: 1 }
    }

    fn keys(cookies: &[u64]) -> Since {
        Since::Changed(cookies.iter().copied().map(key).collect())
    }

    #[test]
    fn each_reader_is_told_what_changed_since_it_asked() {
        let mut journal = Journal::default();
        journal.note(key(1));
        let (first, all) = journal.ask(0, Instant(9_000_000));
        assert_eq!((first, all), (9_000, Since::All));
        journal.note(key(3));
        journal.note(key(2));
        let (second, changed) = journal.ask(first, Instant(9_100_000));
        assert_eq!(changed, keys(&[2, 3]));
        journal.tick();
        journal.note(key(3));
        assert_eq!(journal.ask(second, Instant(0)).1, keys(&[3]));
        assert_eq!(journal.ask(first, Instant(0)).1, keys(&[2, 3]), "another reader");
    }

    #[test]
    fn who_asked_too_long_ago_or_another_agent_is_told_all() {
        let mut journal = Journal::default();
        let (first, _) = journal.ask(0, Instant(1_000_000));
        assert_eq!(
            journal.ask(first + 500, Instant(0)).1,
            Since::All,
            "of another agent"
        );
        let mut last = first;
        for _ in 0..KEPT {
            journal.tick();
            last = journal.ask(last, Instant(0)).0;
        }
        assert_eq!(journal.ask(first, Instant(0)).1, Since::All, "long ago");
        assert_eq!(journal.ask(last, Instant(0)).1, keys(&[]));
    }

    #[test]
    fn nothing_is_noted_once_nobody_asks() {
        let mut journal = Journal::default();
        let (first, _) = journal.ask(0, Instant(1_000_000));
        for _ in 0..=KEPT {
            journal.note(key(1));
            journal.tick();
        }
        assert!(journal.0.is_none());
        assert_eq!(journal.ask(first, Instant(2_000_000)), (2_000, Since::All));
    }

    #[test]
    fn what_a_tick_changes_by_itself_is_told_again() {
        let mut journal = Journal::default();
        let (first, _) = journal.ask(0, Instant(1_000_000));
        journal.note_until_ticked(key(7));
        let (second, changed) = journal.ask(first, Instant(0));
        assert_eq!(changed, keys(&[7]));
        journal.tick();
        let (third, changed) = journal.ask(second, Instant(0));
        assert_eq!(changed, keys(&[7]));
        journal.tick();
        assert_eq!(journal.ask(third, Instant(0)).1, keys(&[]));
    }
}
