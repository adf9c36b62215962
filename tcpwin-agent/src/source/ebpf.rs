//! The probes: kernel programs keep a slot for every socket, this source reads the slots that changed.
//!
//! The kernel counts the changes of each slot in memory shared with us: an idle socket costs a poll one load, one that changed
//! the reading of its slot. What happens once (opening, closing, a retransmit somebody asked for) comes through a ring buffer.

pub mod btf;
mod decode;
mod field;
mod hook;
mod load;
mod miss;
mod slots;
mod walk;

use std::collections::{HashMap, HashSet};

use aya::{
    Ebpf,
    maps::{Array, MapData, PerCpuArray, RingBuf},
};
use tcpwin_common::{
    BUDGET_IDLE, Event, HostCount, LOSS_COUNT, Loss, Slot, WANT_CWND_FALL, WANT_OPEN, WANT_RETRANSMIT,
};

pub use load::{LoadError, LoadOptions};

use crate::observation::{Key, Sample, TcpState};
use crate::source::{HookState, HostCounts, LossCount, ProbeCost, Source, SourceError, Update};
use crate::units::{Instant, Nanos};

/// No closing record is longer on its way than this, even if what puts it in the ring is interrupted, or one before it.
const CLOSING_TAKES: Nanos = Nanos(1_000_000_000);

/// A settling pass may take this fraction of the time, at most: it walks every socket of a namespace.
const SETTLE_SHARE: u64 = 500;

/// What the last reading of a slot saw.
#[derive(Clone, Copy, Default)]
struct Seen {
    cookie: u64,
    /// Changes with every event.
    stamp: u64,
    netns: u32,
    /// The kernel's count of changes before the reading.
    changes: u32,
    /// To be read again though nothing changes.
    again: bool,
    /// Something happened since the gauges were last known to be final.
    unsettled: bool,
    /// In the list of quiet slots.
    listed: bool,
}

impl Seen {
    const fn key(&self) -> Key {
        Key {
            cookie: self.cookie,
            netns: self.netns,
        }
    }
}

/// The source `ebpf`.
pub struct EbpfSource {
    /// Holds programs and links: dropped, everything detaches. Killed, the kernel does the same.
    ebpf: Ebpf,
    slots: slots::Slots,
    events: RingBuf<MapData>,
    counts: PerCpuArray<MapData, u64>,
    high_water: PerCpuArray<MapData, u32>,
    wanted: Array<MapData, u32>,
    logger: Option<aya_log::EbpfLogger<&'static dyn log::Log>>,
    hooks: Vec<HookState>,
    walker: walk::Walker,
    seen: Vec<Seen>,
    /// Slots of sockets that went quiet with figures that may not be final.
    quiet: Vec<u32>,
    /// Sockets whose slots were given back, and when that was seen: their closing records are on their way, or were lost.
    gone: HashMap<Key, Instant>,
    undecoded: u64,
    /// Sockets whose events are sampled, with their slots.
    watched: HashMap<Key, u32>,
    /// Of them, since the last drain.
    samples: Vec<(Key, Sample)>,
    misses: miss::Misses,
    /// By namespace, when it may be walked again.
    settle_after: HashMap<u32, Instant>,
}

impl EbpfSource {
    /// Loads and attaches the probes, and seeds the sockets that exist in every network namespace.
    ///
    /// # Errors
    /// When no hook that sees connections open can be attached; the text names the step and what the kernel said.
    pub fn open(options: &LoadOptions) -> Result<Self, LoadError> {
        let mut source = load::open(options)?;
        source.walker.walk(&mut source.ebpf, None);
        Ok(source)
    }

    /// Walks the namespaces in which sockets went quiet, each after a pause of its own: one with many sockets is no reason to make
    /// the others wait. Together they stay within [`SETTLE_SHARE`].
    fn settle(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) {
        let waiting: HashSet<u32> = self
            .quiet
            .iter()
            .map(|index| self.seen[*index as usize].netns)
            .collect();
        let is_due = |netns: &u32| self.settle_after.get(netns).is_none_or(|after| now >= *after);
        let due: HashSet<u32> = waiting.iter().copied().filter(is_due).collect();
        for netns in &due {
            let cost = self.walker.walk(&mut self.ebpf, Some(&HashSet::from([*netns])));
            let pause = cost.0 * SETTLE_SHARE * waiting.len() as u64;
            self.settle_after.insert(*netns, Instant(now.0 + pause));
        }
        self.settle_after
            .retain(|netns, after| now < *after || waiting.contains(netns));
        if !due.is_empty() {
            self.read_settled(now, &due, sink);
        }
    }

    /// How far slots have ever been used; brings them into view.
    fn high_water(&mut self) -> usize {
        let high = match self.high_water.get(&0, 0) {
            Ok(by_cpu) => by_cpu.iter().copied().max().unwrap_or(0) as usize,
            Err(_) => self.slots.len(),
        };
        if let Err(error) = self.slots.extend(high) {
            tracing::warn!(
                "cannot map more slots, connections beyond {} are not read: {error}",
                self.slots.len()
            );
        }
        high.min(self.slots.len())
    }

    fn count(&self, index: u32) -> u64 {
        self.counts.get(&index, 0).map_or(0, |by_cpu| by_cpu.iter().sum())
    }

    /// Hands over the slots that changed, and those in which time counts for something though no event comes.
    fn read_slots(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) {
        let high = self.high_water();
        if self.seen.len() < high {
            self.seen.resize(high, Seen::default());
        }
        let mut due = Vec::new();
        for (index, seen) in self.seen[..high].iter_mut().enumerate() {
            let changes = self.slots.changes(index);
            if changes != seen.changes || seen.again {
                // An event may be under way: what it leaves is read at the next poll.
                seen.again = changes != seen.changes;
                seen.changes = changes;
                due.push(index as u32);
            }
        }
        let Self {
            slots,
            seen,
            quiet,
            undecoded,
            gone,
            ..
        } = self;
        slots.copy_each(&due, &mut |index, slot| {
            let seen = &mut seen[index as usize];
            let before = *seen;
            let Some(slot) = slot else {
                if before.cookie != 0 {
                    gone.insert(before.key(), now);
                    *seen = Seen {
                        changes: before.changes,
                        again: before.again,
                        listed: before.listed,
                        ..Seen::default()
                    };
                }
                return;
            };
            let stamp = stamp(&slot);
            let is_running = slot.budget_state != BUDGET_IDLE as u32;
            if slot.cookie == before.cookie && stamp == before.stamp {
                if before.unsettled && !before.listed {
                    seen.listed = true;
                    quiet.push(index);
                }
                if !is_running {
                    return;
                }
            }
            let unsettled = is_unsettled(&slot);
            *seen = Seen {
                cookie: slot.cookie,
                stamp,
                netns: slot.identity.netns,
                changes: before.changes,
                again: before.again || unsettled || is_running,
                unsettled,
                listed: seen.listed,
            };
            if before.cookie != 0 && before.cookie != slot.cookie {
                gone.insert(before.key(), now);
            }
            match decode::observation(&slot, now) {
                Some(observation) => sink(Update::Observed(observation)),
                None => *undecoded += 1,
            }
        });
    }

    /// After a settling pass: hands over what it changed.
    fn read_settled(&mut self, now: Instant, walked: &HashSet<u32>, sink: &mut dyn FnMut(Update)) {
        let is_walked = |index: &u32| walked.contains(&self.seen[*index as usize].netns);
        let (mut quiet, waiting) = std::mem::take(&mut self.quiet)
            .into_iter()
            .partition::<Vec<u32>, _>(is_walked);
        self.quiet = waiting;
        quiet.sort_unstable();
        let Self { slots, seen, .. } = self;
        slots.copy_each(&quiet, &mut |index, slot| {
            let seen = &mut seen[index as usize];
            seen.listed = false;
            let Some(slot) = slot.filter(|slot| slot.cookie == seen.cookie && seen.unsettled) else {
                return;
            };
            // It may have moved on since the walk: then it is read at the next poll as well.
            seen.unsettled = is_unsettled(&slot);
            seen.again |= seen.unsettled;
            seen.stamp = stamp(&slot);
            if let Some(observation) = decode::observation(&slot, now) {
                sink(Update::Observed(observation));
            }
        });
    }
}

/// Changes with whatever happens to the socket.
fn stamp(slot: &Slot) -> u64 {
    slot.last_ns
        .wrapping_add(slot.gauges_ns)
        .wrapping_add(slot.counters.recvs)
}

/// If the socket has moved on since its fields were copied, or does so unseen: no event tells what becomes of the data of a
/// half-closed one. The walk does not meet one whose connection has ended.
fn is_unsettled(slot: &Slot) -> bool {
    let state = TcpState::from_kernel(slot.identity.state);
    let unseen = state != Some(TcpState::Established) && slot.budget_state != BUDGET_IDLE as u32;
    state != Some(TcpState::Close) && (slot.last_ns > slot.gauges_ns || unseen)
}

impl Source for EbpfSource {
    fn name(&self) -> &'static str {
        "ebpf"
    }

    fn poll(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        self.drain(now, sink)?;
        self.misses.look(&self.ebpf);
        self.gone.retain(|key, seen| {
            let lost = now.since(*seen) >= CLOSING_TAKES;
            if lost {
                sink(Update::Vanished { key: *key, at: now });
            }
            !lost
        });
        self.read_slots(now, sink);
        let new = self.walker.discover(now);
        if !new.is_empty() {
            // Seeds them. It is done once, and no reason to make quiet sockets wait.
            self.walker.walk(&mut self.ebpf, Some(&new));
        }
        // A walk passes by every bucket of the kernel's table: only where a socket waits for it.
        if !self.quiet.is_empty() {
            self.settle(now, sink);
        }
        Ok(())
    }

    fn drain(&mut self, now: Instant, sink: &mut dyn FnMut(Update)) -> Result<(), SourceError> {
        while let Some(record) = self.events.next() {
            let bytes: &[u8] = &record;
            if bytes.len() >= size_of::<Slot>() {
                let Some(slot) = decode::slot(bytes) else {
                    self.undecoded += 1;
                    continue;
                };
                if let Some(seen) = self.seen.get_mut(slot.index as usize)
                    && seen.cookie == slot.cookie
                {
                    seen.cookie = 0;
                    seen.unsettled = false;
                }
                match decode::observation(&slot, Instant(slot.last_ns)) {
                    Some(observation) => {
                        self.gone.remove(&observation.key);
                        self.watched.remove(&observation.key);
                        sink(Update::Closed(observation));
                    }
                    None => self.undecoded += 1,
                }
                continue;
            }
            if let Some((key, sample)) = decode::sample(bytes) {
                if self.watched.contains_key(&key) {
                    self.samples.push((key, sample));
                }
                continue;
            }
            match decode::event(bytes) {
                Some(
                    event @ Event {
                        record: tcpwin_common::RECORD_OPEN,
                        ..
                    },
                ) => {
                    // The slot may have closed and be another's by now: then its closing record tells of it.
                    let slot = self
                        .slots
                        .copy(event.index)
                        .filter(|slot| slot.cookie == event.cookie);
                    if let Some(observation) = slot.and_then(|slot| decode::observation(&slot, now)) {
                        sink(Update::Observed(observation));
                    }
                }
                Some(event) => match decode::update(&event) {
                    Some(update) => sink(update),
                    None => self.undecoded += 1,
                },
                None => self.undecoded += 1,
            }
        }
        if let Some(logger) = &mut self.logger {
            logger.flush();
        }
        Ok(())
    }

    fn want_events(&mut self, wanted: bool) {
        let bits = if wanted {
            WANT_OPEN | WANT_RETRANSMIT | WANT_CWND_FALL
        } else {
            0
        };
        if let Err(error) = self.wanted.set(0, bits, 0) {
            tracing::warn!("cannot switch single events: {error}");
        }
    }

    fn watch(&mut self, socket: Key, on: bool) {
        let known = self.watched.remove(&socket);
        let find = || self.seen.iter().position(|seen| seen.key() == socket);
        let Some(index) = known.or_else(|| find().map(|at| at as u32)) else {
            return;
        };
        if let Err(error) = self.slots.watch(index, on) {
            tracing::warn!("cannot watch a connection closely: {error}");
            return;
        }
        if on {
            self.watched.insert(socket, index);
        }
    }

    fn take_samples(&mut self, sink: &mut dyn FnMut(Key, Sample)) {
        for (socket, sample) in self.samples.drain(..) {
            sink(socket, sample);
        }
    }

    fn missed_events(&self) -> u64 {
        self.misses.sum()
    }

    fn losses(&self) -> Vec<LossCount> {
        let mut losses: Vec<LossCount> = Loss::ALL
            .into_iter()
            .take(LOSS_COUNT)
            .map(|loss| LossCount {
                cause: loss.name(),
                count: self.count(loss as u32),
            })
            .collect();
        for loss in &mut losses {
            if loss.cause == Loss::Undecoded.name() {
                loss.count += self.undecoded;
            }
        }
        losses.push(LossCount {
            cause: "program_interrupted_itself",
            count: self.misses.sum(),
        });
        losses.push(LossCount {
            cause: "namespace_unreadable",
            count: self.walker.failures(),
        });
        losses
    }

    fn host_counts(&self) -> HostCounts {
        HostCounts {
            syn_retransmits: self.count(HostCount::SynRetransmits as u32),
            resets_sent: self.count(HostCount::ResetsSent as u32),
            resets_received: self.count(HostCount::ResetsReceived as u32),
        }
    }

    fn hooks(&self) -> Vec<HookState> {
        self.hooks.clone()
    }

    fn probe_cost(&self) -> Option<ProbeCost> {
        let mut cost = ProbeCost::default();
        for (_, program) in self.ebpf.programs() {
            if let Ok(info) = program.info() {
                cost.runs += info.run_count();
                cost.run_ns += info.run_time().as_nanos() as u64;
            }
        }
        (cost.runs > 0).then_some(cost)
    }
}

/// Cost of a walk in CPU time of this thread.
fn thread_cpu() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
