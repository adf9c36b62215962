//! The end of an interval: each connection is judged alone, then those that share a path together, then all is counted.

use std::collections::HashMap;
use std::sync::Arc;

use super::Table;
use crate::classify::group::{self, Flow};
use crate::classify::{Context, Direction, Path, classify};
use crate::connection::causes::not_moved;
use crate::connection::entry::{Ended, Entry};
use crate::connection::interval::Interval;
use crate::connection::quiet::Quiet;
use crate::connection::row;
use crate::connection::tallies;
use crate::snapshot::{Spent, TraceEvent};
use crate::units::{BytesPerSec, Instant, Nanos};

impl Table {
    /// Ends the interval of every connection that changed, and counts the time of those that did not.
    pub fn tick(&mut self, now: Instant, events: &mut Vec<TraceEvent>) {
        let span = now.since(if self.ticked.0 == 0 { now } else { self.ticked });
        self.journal.tick();
        self.find_owners(now);
        self.account.idled(self.quiet.len(), span);
        self.judge_each(span);
        self.judge_together(now);
        self.settle_each(now, events);
        self.ticked = now;
        self.account.tick(span);
    }

    fn judge_each(&mut self, tick: Nanos) {
        self.count_busy();
        let mut active = std::mem::take(&mut self.active);
        self.flows.clear();
        for (key, entry) in &mut active {
            if !entry.touched {
                entry.rest(&self.nothing);
                continue;
            }
            let Some((interval, path)) = self.judge(entry) else {
                continue;
            };
            // The rate of one that has just begun stands for a moment only, and is no part of a sum.
            let is_part = interval.span.0 >= tick.0 / 2;
            if is_part && entry.rate().0 > 0.0 {
                let ends = entry.last.endpoints;
                let lately = entry.history.rates(entry.verdict.direction);
                let ends = (ends.local.ip(), ends.peer.ip());
                self.flows
                    .push(Flow::new(*key, ends, &interval, &entry.verdict, lately, path));
            }
        }
        self.active = active;
        // Rates are summed in this order: a replay has to come to the same last bit.
        self.flows.sort_unstable_by_key(|flow| flow.key);
    }

    /// Busy connections by namespace: those that a change of its settings would reach.
    fn count_busy(&mut self) {
        let mut busy: HashMap<u32, u32> = HashMap::new();
        for (key, entry) in &self.active {
            *busy.entry(key.netns).or_default() += u32::from(entry.touched);
        }
        self.settings.retain(|netns, _| busy.contains_key(netns));
        for (netns, count) in busy {
            if let Some(context) = self.settings.entry(netns).or_default() {
                context.around.connections = Some(count);
            }
        }
    }

    fn settings_of(&self, netns: u32) -> Context {
        self.settings.get(&netns).copied().flatten().unwrap_or_default()
    }

    /// Ends the entry's interval and classifies it.
    pub(super) fn judge(&mut self, entry: &mut Entry) -> Option<(Interval, Path)> {
        let baseline = entry.baseline.take()?;
        let mut interval = baseline.interval(&entry.last);
        interval.recent = Some(entry.history.fold(&interval));
        entry.send = interval.sending();
        entry.receive = interval.receiving();
        entry.budget = interval.budget;
        let (key, ends) = (entry.last.key, entry.last.endpoints);
        let path = self
            .paths
            .of(key.netns, ends.local.ip(), ends.peer.ip(), self.ticked);
        let mut knows_path = false;
        if interval.span.0 > 0 {
            let (direction, rate) = if entry.send >= entry.receive {
                (Direction::Send, entry.send)
            } else {
                (Direction::Receive, entry.receive)
            };
            let capacity = path.capacity(direction, rate);
            knows_path = capacity.is_some();
            let context = Context {
                missed: self.blind.share(),
                path: capacity,
                ..entry.context(&self.settings_of(key.netns))
            };
            entry.verdict = Arc::new(classify(&interval, &context));
        }
        let (acked, received) = (interval.acked, interval.received);
        entry.ended = Some(Ended {
            start: baseline.start(),
            span: interval.span,
            bytes: acked.unwrap_or_default().0 + received.unwrap_or_default().0,
            knows_path,
        });
        self.account.moved(&interval);
        Some((interval, path))
    }

    /// What fills its path together is not held by its windows; and a full path shows what it carries.
    fn judge_together(&mut self, now: Instant) {
        let alone = |flow: &Flow| self.active.get(&flow.key).map(|entry| &*entry.verdict);
        for (at, verdict) in group::together(&self.flows, alone) {
            let flow = &mut self.flows[at];
            flow.limit = verdict.limit;
            if let Some(entry) = self.active.get_mut(&flow.key) {
                entry.verdict = Arc::new(verdict);
            }
        }
        let any_full = self.flows.iter().any(Flow::fills_path);
        if any_full || !self.paths.has_seen_none() {
            for sum in group::sums(&self.flows) {
                self.paths.note(sum, self.ticked, now);
            }
        }
    }

    fn settle_each(&mut self, now: Instant, events: &mut Vec<TraceEvent>) {
        let mut active = std::mem::take(&mut self.active);
        let mut turned = Vec::new();
        active.retain(|key, entry| {
            let before = entry.counted;
            self.settle(entry);
            self.journal.note(*key);
            if self.telling && before.0 != entry.counted.0 {
                turned.push((*key, row::verdict(entry, now, before.0)));
            }
            if std::mem::take(&mut entry.touched) {
                return true;
            }
            match Quiet::pack(&entry.last, &entry.causes, entry.owner.clone(), &mut self.room) {
                Some(quiet) => self.quiet.insert(*key, quiet).is_some(),
                None => true,
            }
        });
        self.active = active;
        // A map's order is that of one process; what is told must not depend on it.
        turned.sort_unstable_by_key(|(key, _)| *key);
        events.extend(turned.into_iter().map(|(_, event)| event));
    }

    /// Counts what was judged: to the connection's own causes, and to the summary.
    pub(super) fn settle(&mut self, entry: &mut Entry) {
        let limit = entry.verdict.limit;
        if let Some(ended) = entry.ended.take() {
            let Ended {
                start, span, bytes, ..
            } = ended;
            let next = entry.verdict.next.as_ref().map(|next| next.rate);
            let more = not_moved(entry.rate(), next, span);
            entry.causes.add(limit, span, bytes, more);
            self.account.spent(limit, span, bytes, more);
            if let Some(spent) = &mut self.spent {
                spent.add(entry, span, bytes, more);
            }
            let next = self.next_in_metrics(entry, ended);
            let spent = Spent {
                seconds: span.seconds(),
                bytes,
                not_moved: not_moved(entry.rate(), next, span).unwrap_or(0),
            };
            self.account.tallies.spent(entry, spent, next);
            if span.0 > 0 {
                entry.prevailing.fold(limit, start);
            }
        }
        let held = tallies::held(&entry.verdict);
        self.account.turned(entry.counted, held);
        entry.counted = held;
    }

    /// The rate that lifting the limit gives, as metrics sum it up. A window over a round trip of microseconds is a rate that no
    /// host moves: where the path's capacity is not known, what this one was ever seen to move bounds it.
    fn next_in_metrics(&self, entry: &Entry, ended: Ended) -> Option<BytesPerSec> {
        let next = entry.verdict.next.as_ref()?.rate;
        if ended.knows_path {
            return Some(next);
        }
        let fastest = self.account.fastest(entry.verdict.direction);
        Some(BytesPerSec(next.0.min(fastest.0)))
    }
}
