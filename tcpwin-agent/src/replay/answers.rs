//! Whose sockets are, as the recording has it: `/proc` of this host knows nothing of that one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::connection::{FindOwner, Ownership};
use crate::observation::{Key, OwnerHint};
use crate::units::Instant;

type Given = BTreeMap<Key, Arc<Ownership>>;

/// What is answered until the next input. Shared with the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(Arc<Mutex<Given>>);

impl Answers {
    pub(super) fn clear(&self) {
        self.given().clear();
    }

    pub(super) fn give(&self, key: Key, owner: Arc<Ownership>) {
        self.given().insert(key, owner);
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FindOwner for Answers {
    fn find(&mut self, key: Key, _: &OwnerHint) -> Option<Arc<Ownership>> {
        self.given().remove(&key)
    }

    fn forget(&mut self, _: Key) {}

    fn refresh(&mut self, _: Instant, found: &mut Vec<(Key, Arc<Ownership>)>) {
        found.extend(std::mem::take(&mut *self.given()));
    }
}
