//! What is looked at beside the connections: listeners of every network namespace, and the host's own counters.
//!
//! Read every few seconds for the metrics, and at once when somebody asks for a full snapshot; in no case so often that it
//! takes a noticeable share of the time.

use crate::host::{CpuTimes, Nic};
use crate::snapshot::{AcceptQueues, HostFacts, Listener};
use crate::source::kernel_clock;
use crate::source::netns::{self, Discovery, Doors};
use crate::source::sock_diag::{Listening, listening};
use crate::units::{Instant, Nanos};

use self::holders::Holders;

mod facts;
mod holders;
mod listeners;

/// Between two looks that nobody asked for.
const EVERY: Nanos = Nanos(5_000_000_000);
/// What was read so long ago is still good enough for who asks.
const FRESH: Nanos = Nanos(900_000_000);
/// Looks that nobody asked for take at most one part in this many of the time, asked-for ones a tenth of these.
const PATIENCE: u64 = 400;
/// CPU times are counted in ticks of 10 ms: over less than this a share of them says nothing.
const CPU_SPAN: Nanos = Nanos(500_000_000);

/// The last look and what it found.
#[derive(Debug, Default)]
pub struct Survey {
    discovery: Discovery,
    doors: Doors,
    nics: Vec<Nic>,
    listeners: Vec<Listening>,
    holders: Holders,
    cpus: Option<(Instant, CpuTimes)>,
    facts: HostFacts,
    /// When the last look was, and how long it took.
    looked: Option<(Instant, Nanos)>,
}

impl Survey {
    /// A tick passed: a step of the search for the listeners' processes, and a look if it is time for one.
    pub fn tick(&mut self, now: Instant) {
        self.holders.step(now);
        self.look_if_older(now, EVERY, PATIENCE);
    }

    /// Somebody asks.
    pub fn freshen(&mut self, now: Instant) {
        self.look_if_older(now, FRESH, PATIENCE / 10);
    }

    /// The interfaces of the agent's own namespace that have a speed.
    pub fn set_links(&mut self, nics: Vec<Nic>) {
        self.nics = nics;
    }

    /// Of the host, as of the last look.
    #[must_use]
    pub fn facts(&self) -> &HostFacts {
        &self.facts
    }

    /// Listeners as of the last look; their connections are yet to be counted.
    #[must_use]
    pub fn listeners(&self) -> Vec<Listener> {
        listeners::shown(&self.listeners, &self.holders)
    }

    fn look_if_older(&mut self, now: Instant, age: Nanos, patience: u64) {
        if let Some((looked, took)) = self.looked
            && now.since(looked).0 < age.0.max(took.0 * patience)
        {
            return;
        }
        let began = kernel_clock();
        self.listen(now);
        self.holders.meet(now, &self.listeners);
        self.facts = HostFacts {
            softirq_busiest: self.softirq(now).or(self.facts.softirq_busiest),
            accept_queues: Some(queues(&self.listeners)),
            ..facts::read(&self.nics)
        };
        self.looked = Some((now, kernel_clock().since(began)));
    }

    /// Asks every namespace that can be entered for its listeners.
    fn listen(&mut self, now: Instant) {
        if let Ok(Some(doors)) = self.discovery.when_due(now) {
            self.doors = doors;
        }
        self.listeners.clear();
        let own = netns::own().unwrap_or(0);
        self.listeners.extend(listening(own).unwrap_or_default());
        for (&inum, door) in self.doors.iter().filter(|(inum, _)| **inum != own) {
            match netns::inside(inum, door, || listening(inum)) {
                Ok(found) => self.listeners.extend(found.unwrap_or_default()),
                // Without CAP_SYS_ADMIN the next door is shut as well.
                Err(refused) if refused.is_denied() => break,
                // Its process has ended; the next look at /proc finds another way, or none.
                Err(_) => {}
            }
        }
        self.listeners.sort_by_key(|listener| {
            let local = listener.local;
            (local.port(), local.ip(), listener.key)
        });
    }

    fn softirq(&mut self, now: Instant) -> Option<f64> {
        if let Some((then, _)) = &self.cpus
            && now.since(*then) < CPU_SPAN
        {
            return None;
        }
        let times = CpuTimes::read();
        let share = self
            .cpus
            .as_ref()
            .and_then(|(_, before)| times.softirq_busiest(before));
        self.cpus = Some((now, times));
        share
    }
}

fn queues(listeners: &[Listening]) -> AcceptQueues {
    let waiting = |listener: &Listening| u64::from(listener.accept_queue);
    let fill = listeners
        .iter()
        .filter(|listener| listener.backlog > 0)
        .map(|listener| f64::from(listener.accept_queue) / f64::from(listener.backlog));
    AcceptQueues {
        listeners: listeners.len() as u64,
        waiting: listeners.iter().map(waiting).sum(),
        full: listeners
            .iter()
            .filter(|listener| listener.accept_queue > listener.backlog)
            .count() as u64,
        fullest: fill.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests;
