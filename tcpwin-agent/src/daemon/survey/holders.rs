//! Which process holds which listener.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::connection::owner::Owners;
use crate::connection::{FindOwner as _, Ownership};
use crate::observation::{Key, OwnerHint};
use crate::source::sock_diag::Listening;
use crate::units::{Instant, Nanos};

/// A process that was looked for so long is not found: its open files may not be listed.
const GIVE_UP: Nanos = Nanos(300_000_000_000);
/// And is looked for anew after this time.
const AGAIN: Nanos = Nanos(3_600_000_000_000);

/// The processes found so far.
#[derive(Debug, Default)]
pub(super) struct Holders {
    owners: Owners,
    known: HashMap<Key, Arc<Ownership>>,
    /// Since when each is looked for.
    sought: HashMap<Key, Instant>,
}

impl Holders {
    /// These are the listeners now.
    pub(super) fn meet(&mut self, now: Instant, listeners: &[Listening]) {
        let here: HashSet<Key> = listeners.iter().map(|listener| listener.key).collect();
        self.known.retain(|key, _| here.contains(key));
        let owners = &mut self.owners;
        self.sought.retain(|key, since| {
            let age = now.since(*since);
            let stays = here.contains(key) && age < AGAIN;
            if !stays || age > GIVE_UP {
                owners.forget(*key);
            }
            stays
        });
        for listener in listeners {
            let Some(inode) = listener.inode else { continue };
            if !self.is_still_held(listener.key) && !self.sought.contains_key(&listener.key) {
                self.sought.insert(listener.key, now);
                self.owners.look_for(listener.key, inode);
            }
        }
    }

    /// If the process that is known to hold it lives; one of another name is another one under the same number.
    fn is_still_held(&mut self, key: Key) -> bool {
        let Some((pid, name)) = self
            .known
            .get(&key)
            .and_then(|owner| owner.process.as_ref())
            .map(|process| (process.pid, process.name.clone()))
        else {
            return false;
        };
        let hint = OwnerHint {
            pid: Some(pid),
            ..OwnerHint::default()
        };
        // None: there is no time left to look, it is told by the next step.
        let Some(owner) = self.owners.resolve(key, &hint) else {
            return true;
        };
        let is_same = owner.process.as_ref().is_some_and(|process| process.name == name);
        if is_same {
            self.known.insert(key, owner);
        } else {
            self.known.remove(&key);
        }
        is_same
    }

    /// A bounded step of the search.
    pub(super) fn step(&mut self, now: Instant) {
        let mut found = Vec::new();
        self.owners.refresh(now, &mut found);
        for (key, owner) in found {
            // One that ended in the moment it was found is looked for again.
            self.sought.remove(&key);
            if owner.process.is_some() {
                self.known.insert(key, owner);
            }
        }
    }

    /// Whose it is, as far as known.
    pub(super) fn of(&self, key: Key) -> Option<&Ownership> {
        self.known.get(&key).map(Arc::as_ref)
    }
}
