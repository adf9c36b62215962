//! An active connection in the table, and whose it is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::classify::advice::{Program, Surroundings};
use crate::classify::{Context, Direction, Verdict};
use crate::connection::causes::Causes;
use crate::connection::delta::Baseline;
use crate::connection::interval::BudgetShares;
use crate::connection::prevailing::Prevailing;
use crate::connection::recent::History;
use crate::connection::tallies;
use crate::observation::{Key, Observation, OwnerHint};
use crate::snapshot::{Held, Process};
use crate::units::{BytesPerSec, Instant, Nanos};

/// Whose a socket is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Judged, but not counted yet.
    pub(super) ended: Option<Ended>,
    /// What the summary counts it under.
    pub(super) counted: Held,
    pub(super) history: History,
    pub(super) prevailing: Prevailing,
    pub(super) causes: Causes,
}

/// An interval that has its verdict, or waits for those of the connections beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) start: Instant,
    pub(super) span: Nanos,
    /// Both ways.
    pub(super) bytes: u64,
    /// What its path can carry was known.
    pub(super) knows_path: bool,
}

impl Entry {
    /// Of a connection met just now, its first interval yet to end.
    pub(super) fn new(last: Observation, verdict: Arc<Verdict>, owner: Option<Arc<Ownership>>) -> Self {
        Self {
            baseline: Some(Box::new(Baseline::birth(&last))),
            counted: tallies::held(&verdict),
            prevailing: Prevailing::new(last.since),
            last,
            verdict,
            send: BytesPerSec(0.0),
            receive: BytesPerSec(0.0),
            budget: None,
            owner,
            touched: true,
            ended: None,
            history: History::default(),
            causes: Causes::default(),
        }
    }

    /// Of one on which nothing happened until `ticked`.
    pub(super) fn woken(
        last: Observation,
        causes: Causes,
        ticked: Instant,
        nothing: Arc<Verdict>,
        owner: Option<Arc<Ownership>>,
    ) -> Self {
        let prevailing = Prevailing::idle(last.at);
        let mut entry = Self {
            baseline: None,
            prevailing,
            causes,
            ..Self::new(last, nothing, owner)
        };
        entry.start_if_idle(ticked);
        entry
    }

    /// Rate in the verdict's direction.
    pub(super) fn rate(&self) -> BytesPerSec {
        match self.verdict.direction {
            Direction::Send => self.send,
            Direction::Receive => self.receive,
        }
    }

    /// The next interval starts with what was last seen, unless one has started.
    pub(super) fn start_if_idle(&mut self, ticked: Instant) {
        if self.baseline.is_none() {
            let mut baseline = Baseline::of(&self.last);
            baseline.advance_idle(ticked);
            self.causes.add_idle(ticked.since(self.last.at));
            self.baseline = Some(Box::new(baseline));
        }
    }

    /// What is known beside the interval: of the host, and whose the connection is.
    pub(super) fn context(&self, host: &Context) -> Context {
        let name = self
            .owner
            .as_ref()
            .and_then(|owner| owner.process.as_ref())
            .map(|process| process.name.as_str());
        Context {
            around: Surroundings {
                program: name.and_then(Program::of),
                local_port: Some(self.last.endpoints.local.port()),
                peer_port: Some(self.last.endpoints.peer.port()),
                ..host.around
            },
            ..*host
        }
    }

    /// An interval in which nothing happened.
    pub(super) fn rest(&mut self, nothing: &Arc<Verdict>) {
        self.baseline = None;
        self.verdict = Arc::clone(nothing);
        self.send = BytesPerSec(0.0);
        self.receive = BytesPerSec(0.0);
        self.budget = None;
        self.history = History::default();
        self.prevailing.rest(self.last.at);
    }
}
