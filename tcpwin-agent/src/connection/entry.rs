//! An active connection in the table, and whose it is.

use std::sync::Arc;

use crate::classify::Verdict;
use crate::connection::delta::Baseline;
use crate::connection::interval::BudgetShares;
use crate::observation::{Key, Observation, OwnerHint};
use crate::snapshot::Process;
use crate::units::{BytesPerSec, Instant};

/// Whose a socket is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The process.
    pub process: Option<Process>,
    /// Path of its cgroup.
    pub cgroup: Option<String>,
}

/// Finds out whose a socket is; asked once when it is first seen, and again while there is no answer.
pub trait FindOwner: Send {
    /// By the source's hint, or by a search the finder bounds itself.
    fn find(&mut self, key: Key, hint: &OwnerHint) -> Option<Arc<Ownership>>;

    /// The socket is gone.
    fn forget(&mut self, key: Key);

    /// A tick passed: a bounded step of the search, and what it found.
    fn refresh(&mut self, now: Instant, found: &mut Vec<(Key, Arc<Ownership>)>);
}

/// What a connection did in its last interval.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) last: Observation,
    pub(super) baseline: Option<Box<Baseline>>,
    pub(super) verdict: Arc<Verdict>,
    pub(super) send: BytesPerSec,
    pub(super) receive: BytesPerSec,
    pub(super) budget: Option<BudgetShares>,
    pub(super) owner: Option<Arc<Ownership>>,
    /// Updated since the last tick.
    pub(super) touched: bool,
}

impl Entry {
    /// The next interval starts with what was last seen, unless one has started.
    pub(super) fn start_if_idle(&mut self, ticked: Instant) {
        if self.baseline.is_none() {
            let mut baseline = Baseline::of(&self.last);
            baseline.advance_idle(ticked);
            self.baseline = Some(Box::new(baseline));
        }
    }

    /// An interval in which nothing happened.
    pub(super) fn rest(&mut self, nothing: &Arc<Verdict>) {
        self.baseline = None;
        self.verdict = Arc::clone(nothing);
        self.send = BytesPerSec(0.0);
        self.receive = BytesPerSec(0.0);
        self.budget = None;
    }
}
