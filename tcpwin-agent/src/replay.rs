//! A recording, played: its inputs go into a table as they did when it was made, and out come the same snapshots and events.
//!
//! Time is the recording's: nothing here knows what time it is, but for the screen's playback, which is told.

mod answers;
mod chain;
mod playback;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

pub use self::chain::ReplayError;
pub use self::playback::Player;

use self::answers::Answers;
use self::chain::Chain;
use crate::connection::{Paths, Table, TableConfig};
use crate::observation::HookState;
use crate::recording::{Header, Input, Laid};
use crate::snapshot::feed::{Events, Told};
use crate::snapshot::{Health, HostFacts, Snapshot, TraceEvent};
use crate::units::Instant;

/// Events on their way to a reader.
const AHEAD: usize = 1_024;

/// A recording that is being played.
pub struct Replay {
    chain: Chain,
    next: Option<Input>,
    table: Table,
    answers: Answers,
    shown: Shown,
    now: Instant,
}

/// What snapshots show beside the table.
#[derive(Debug, Default)]
struct Shown {
    hooks: Vec<HookState>,
    losses: BTreeMap<String, u64>,
    facts: HostFacts,
    laid: Laid,
}

impl Replay {
    /// A recording and the segments before it.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let chain = Chain::open(path)?;
        Ok(Self::of(chain))
    }

    fn of(chain: Chain) -> Self {
        let (table, answers) = empty(chain.header());
        Self {
            chain,
            next: None,
            table,
            answers,
            shown: Shown::default(),
            now: Instant(0),
        }
    }

    /// Where and how it was recorded, at this place.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.chain.header()
    }

    /// First and last moment.
    #[must_use]
    pub fn span(&self) -> (Instant, Instant) {
        self.chain.span()
    }

    /// The moment that is played now.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// What could not be read so far, a sentence each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        self.chain.faults()
    }

    /// Plays until the next snapshot is laid; `None` at the end.
    pub fn step(&mut self, events: &mut Vec<TraceEvent>) -> Option<Instant> {
        while let Some(input) = self.take() {
            if self.fold(input, events) {
                return Some(self.now);
            }
        }
        None
    }

    /// Goes back to a moment, or a little before it, as far as the segments allow; verdicts depend on what was before.
    pub fn rewind(&mut self, to: Instant) {
        self.chain.rewind(to);
        self.next = None;
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        (self.table, self.answers) = empty(self.chain.header());
        self.shown = Shown::default();
        self.now = self.chain.header().began;
    }

    fn take(&mut self) -> Option<Input> {
        let input = match self.next.take() {
            Some(input) => Some(input),
            None => self.chain.next(),
        };
        if self.chain.take_break() {
            // What is kept before a break stays as it was; what comes after it stands for itself.
            self.begin_anew();
        }
        input
    }

    /// Folds an input and the answers that belong to it in; says if a snapshot was laid.
    fn fold(&mut self, input: Input, events: &mut Vec<TraceEvent>) -> bool {
        if matches!(input, Input::Update(_) | Input::Tick { .. }) {
            self.take_answers();
        }
        match input {
            Input::Update(update) => self.table.apply(*update, events),
            Input::Tick { now, missed } => {
                self.now = now;
                self.table.set_missed(missed);
                self.table.tick(now, events);
            }
            // Belongs to an input that was not understood as one that asks.
            Input::Owner { .. } => {}
            Input::Links { own, nics } => self.table.set_links(own, &nics),
            Input::Settings { netns, sysctl } => self.table.set_settings(netns, sysctl.as_deref()),
            Input::Hooks(hooks) => {
                let state = |(hook, missing)| HookState { hook, missing };
                self.shown.hooks = hooks.into_iter().map(state).collect();
            }
            Input::Losses(losses) => self.shown.losses = losses.into_iter().collect(),
            // Facts that this version does not know are absent.
            Input::Facts(json) => self.shown.facts = serde_json::from_str(&json).unwrap_or_default(),
            Input::Laid(laid) => {
                self.shown.laid = laid;
                return true;
            }
            Input::Resume(ticked) => {
                self.now = ticked;
                self.table.resume(ticked);
            }
            Input::Kept(kept) => self.table.restore(*kept),
        }
        false
    }

    /// The answers that were given while the input before them was folded in.
    fn take_answers(&mut self) {
        self.answers.clear();
        loop {
            self.next = self.chain.next();
            let Some(Input::Owner { key, owner }) =
                self.next.take_if(|next| matches!(next, Input::Owner { .. }))
            else {
                return;
            };
            self.answers.give(key, Arc::new(*owner));
        }
    }

    /// The snapshot of this moment, with every connection.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Shown {
            hooks,
            losses,
            facts,
            laid,
        } = &self.shown;
        let about = &self.chain.header().about;
        Snapshot {
            at_ns: self.now.0,
            interval_us: laid.interval_us,
            tick: laid.tick,
            health: Health {
                source: about.source.clone(),
                source_reason: about.source_reason.clone(),
                hooks: hooks.clone(),
                losses: losses.clone(),
                table_used: self.table.len() as u64,
                table_capacity: about.capacity,
                evictions: self.table.evictions(),
                probe_runs: laid.probe_cost.map(|cost| cost.runs),
                probe_run_ns: laid.probe_cost.map(|cost| cost.run_ns),
                tick_cpu_us: laid.tick_cpu_us,
                cpu_us: laid.cpu_us,
                rss_bytes: laid.rss_bytes,
                host: about.host.clone(),
                kernel: about.kernel.clone(),
                version: about.version.clone(),
            },
            summary: self.table.summary_with(laid.host_counts),
            findings: self.table.findings(),
            facts: facts.clone(),
            connections: self.table.connections(self.now),
            ..Snapshot::default()
        }
    }

    /// All its events, as fast as they are read. What could not be read comes last, a sentence each.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn events(mut self) -> std::io::Result<Events> {
        let (tell, told) = mpsc::channel(AHEAD);
        std::thread::Builder::new()
            .name("tcpwin-replay".to_owned())
            .spawn(move || {
                let mut events = Vec::new();
                loop {
                    let more = self.step(&mut events).is_some();
                    for event in events.drain(..) {
                        if tell.blocking_send(Told::Event(Arc::new(event))).is_err() {
                            return;
                        }
                    }
                    if !more {
                        break;
                    }
                }
                for fault in self.faults() {
                    // Nobody is left to hear it if this fails.
                    let _ = tell.blocking_send(Told::Broken(fault.clone()));
                }
            })?;
        Ok(Events::from_channel(told))
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Replay({:?} at {:?})", self.chain, self.now)
    }
}

/// The table as it was before the first input.
fn empty(header: &Header) -> (Table, Answers) {
    let answers = Answers::default();
    let about = &header.about;
    let capacity = usize::try_from(about.capacity).unwrap_or(usize::MAX);
    let table = Table::new(TableConfig { capacity })
        .with_paths(Paths::new(about.path_bandwidths()))
        .with_owners(Box::new(answers.clone()));
    (table, answers)
}
