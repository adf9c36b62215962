//! Flows that fill a path or an interface between them.

use std::collections::HashMap;
use std::net::IpAddr;

use super::{Flow, LATELY};
use crate::classify::advice::Ask;
use crate::classify::{Ceiling, Direction, Limit, PathOrigin, Side, Verdict};
use crate::observation::Prefix;
use crate::units::{BytesPerSec, bits_text};

/// Part of a known capacity from which on it is full: headers and acknowledgements of other data take the rest.
const FULL: f64 = 0.9;

/// Part beyond which it is disproved.
const OVERFULL: f64 = 1.1;

/// The largest of the last sums over the smallest, for a total that is steady.
const STEADY: f64 = 1.1;

/// Part of the flows that has to be known for as long.
const MOSTLY: f64 = 0.9;

/// What flows may fill together. Each address behind a prefix may have a path of its own: of what was seen, and of queues, only
/// the flows to one address are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope<'a> {
    Link(&'a str),
    Configured(u32, Prefix),
    Peer(u32, IpAddr),
}

/// Flows of one scope in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    flows: u32,
    rate: f64,
    /// Of those whose last rates are known.
    lately: [f64; LATELY],
    windowed: u32,
    /// Of these.
    queueing: u32,
    /// Of these.
    standing: u32,
    capacity: Option<BytesPerSec>,
}

impl Together {
    fn add(&mut self, flow: &Flow, capacity: Option<BytesPerSec>) {
        self.flows += 1;
        self.rate += flow.rate.0;
        for (sum, rate) in self.lately.iter_mut().zip(flow.lately.unwrap_or_default()) {
            *sum += rate;
        }
        if flow.is_windowed() {
            self.windowed += 1;
            self.queueing += u32::from(flow.is_queueing);
            // A protocol's window is sent in bursts.
            self.standing += u32::from(flow.queue_stands && flow.limit != Limit::AppWindow);
        }
        self.capacity = capacity;
    }

    /// Too much of it has begun just now to say if it is steady.
    fn is_young(&self) -> bool {
        self.lately[0] < self.rate * MOSTLY
    }

    fn is_steady(&self) -> bool {
        let least = self.lately.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.lately.iter().copied().fold(0.0, f64::max);
        !self.is_young() && least > 0.0 && most <= least * STEADY
    }

    fn all_queue(&self) -> bool {
        self.windowed >= 2 && self.queueing == self.windowed
    }

    fn all_queues_stand(&self) -> bool {
        self.windowed >= 2 && self.standing == self.windowed
    }

    /// Why the flows are held together; `None` if they are not, or nobody can tell.
    fn full(&self, scope: Scope<'_>) -> Option<Full> {
        if self.flows < 2 {
            return None;
        }
        let fill = |capacity: BytesPerSec| self.rate / capacity.0;
        let fills = self
            .capacity
            .filter(|capacity| capacity.0 > 0.0 && (FULL..=OVERFULL).contains(&fill(*capacity)));
        match (scope, fills) {
            (Scope::Link(_), Some(capacity)) => Some(Full::Known(capacity, PathOrigin::Nic)),
            (Scope::Configured(..), Some(capacity)) => Some(Full::Known(capacity, PathOrigin::Configured)),
            // What was seen may have been less than there is, if others had a part in the path: the queue has to agree.
            (Scope::Peer(..), Some(capacity)) if self.all_queue() => {
                Some(Full::Known(capacity, PathOrigin::Seen))
            }
            (Scope::Peer(..), _) if self.all_queues_stand() && self.is_steady() => Some(Full::Queueing),
            (Scope::Peer(..), _) if self.all_queues_stand() && self.is_young() => Some(Full::Young),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Full {
    Known(BytesPerSec, PathOrigin),
    Queueing,
    /// Perhaps: it shows in an interval or two.
    Young,
}

/// The flows whose verdict is another one when those beside them are known, by their place in `flows`: those that a path or an
/// interface holds together, and those to which the others leave less than a path can carry. `verdict` gives the one it has alone.
pub fn together<'a>(flows: &[Flow], verdict: impl Fn(&Flow) -> Option<&'a Verdict>) -> Vec<(usize, Verdict)> {
    let matters = |flow: &Flow| flow.is_windowed() || scopes(flow).any(|(_, capacity)| capacity.is_some());
    if flows.len() < 2 || !flows.iter().any(matters) {
        return Vec::new();
    }
    let mut sums = Sums::new();
    for flow in flows {
        for (scope, capacity) in scopes(flow) {
            sums.entry((scope, flow.direction))
                .or_default()
                .add(flow, capacity);
        }
    }
    let judged = |(at, flow): (usize, &Flow)| {
        let alone = verdict(flow)?;
        let joint = held(flow, &sums).map(|held| joint(flow, held, alone));
        Some((at, joint.or_else(|| beside(flow, &sums, alone))?))
    };
    flows.iter().enumerate().filter_map(judged).collect()
}

type Sums<'a> = HashMap<(Scope<'a>, Direction), Together>;

/// What holds a flow with others.
fn held<'a>(flow: &'a Flow, sums: &'a Sums<'a>) -> Option<(Scope<'a>, &'a Together, Full)> {
    if !flow.is_windowed() {
        return None;
    }
    let held = scopes(flow).find_map(|(scope, _)| {
        let sum = sums.get(&(scope, flow.direction))?;
        Some((scope, sum, sum.full(scope)?))
    })?;
    // A window that is still opening fills no queue for long.
    let opens = flow.limit == Limit::CwndStartup && matches!(held.2, Full::Queueing | Full::Young);
    (!opens).then_some(held)
}

/// Its own verdict, with no more promised than the others leave; `None` if that was not promised.
fn beside(flow: &Flow, sums: &Sums<'_>, alone: &Verdict) -> Option<Verdict> {
    let left = |(scope, capacity): (Scope<'_>, Option<BytesPerSec>)| {
        let (sum, capacity) = (sums.get(&(scope, flow.direction))?, capacity?);
        let others = (sum.rate - flow.rate.0).max(0.0);
        // Beyond it the capacity is disproved.
        (sum.flows > 1 && sum.rate <= capacity.0 * OVERFULL)
            .then(|| ((capacity.0 - others).max(flow.rate.0), sum.flows - 1))
    };
    let (left, others) = scopes(flow).filter_map(left).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let promised = |ceiling: &Ceiling| ceiling.rate.0 > left;
    let is_path = |ceiling: &&Ceiling| ceiling.limit == Limit::Bandwidth && promised(ceiling);
    if !alone.next.as_ref().is_some_and(promised) && !alone.ledger.iter().any(|line| is_path(&line)) {
        return None;
    }
    let share = Ceiling {
        limit: Limit::Bandwidth,
        rate: BytesPerSec(left),
        formula: format!("what {others} other connections leave of the path"),
    };
    let mut verdict = alone.clone();
    verdict.ledger.retain(|line| !is_path(&line));
    verdict.ledger.push(share.clone());
    verdict.ledger.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
    if verdict.next.as_ref().is_some_and(promised) {
        verdict.next = Some(share);
    }
    Some(verdict)
}

/// The verdict of a flow that is held together with others.
fn joint(flow: &Flow, (scope, sum, full): (Scope<'_>, &Together, Full), alone: &Verdict) -> Verdict {
    let others = match scope {
        Scope::Link(name) => format!("over {name}"),
        Scope::Configured(_, prefix) => format!("to {prefix}"),
        Scope::Peer(_, peer) => format!("to {peer}"),
    };
    let verb = match flow.direction {
        Direction::Send => "send",
        Direction::Receive => "receive",
    };
    let rate = bits_text(sum.rate * 8.0);
    let (confidence, why) = match full {
        Full::Known(capacity, origin) => {
            let percent = sum.rate / capacity.0 * 100.0;
            let capacity = bits_text(capacity.bits());
            let of = match origin {
                PathOrigin::Configured => format!("the {capacity} that its path has as configured"),
                PathOrigin::Seen => {
                    format!("the {capacity} that this path was seen to deliver, and all queue")
                }
                PathOrigin::Nic => format!("its {capacity}"),
            };
            (0.9, format!("{percent:.0} % of {of}"))
        }
        Full::Queueing => (0.8, "steady, and all queue".to_owned()),
        Full::Young => {
            let reason = format!(
                "{} connections {others} {verb} {rate} together, and all queue: whether their windows hold them ({}) or the path does shows once they have been seen for {LATELY} intervals",
                sum.flows,
                flow.limit.name()
            );
            return Verdict {
                ledger: alone.ledger.clone(),
                ..Verdict::unknown(flow.direction, reason)
            };
        }
    };
    let proof = format!(
        "{} connections {others} {verb} {rate} together, {why}: the path is full. This one's own window is full too ({}), but a larger one would only take from the others.",
        sum.flows,
        flow.limit.name(),
    );
    let share = Ceiling {
        limit: Limit::Bandwidth,
        rate: flow.rate,
        formula: format!("its share of {rate} that {} connections have together", sum.flows),
    };
    Verdict {
        limit: Limit::Bandwidth,
        direction: flow.direction,
        side: Side::Path,
        confidence: alone.confidence.min(confidence),
        ceiling: Some(share),
        next: None,
        ledger: alone.ledger.clone(),
        inconsistent: alone.inconsistent.clone(),
        proof,
        ask: Some(Box::new(Ask {
            is_one_of_many: true,
            ..Ask::default()
        })),
    }
}

fn scopes(flow: &Flow) -> impl Iterator<Item = (Scope<'_>, Option<BytesPerSec>)> {
    let netns = flow.key.netns;
    let link = flow.path.link.as_ref();
    let link = link.map(|link| (Scope::Link(&link.name), Some(link.rate)));
    let configured = flow.path.configured;
    let configured = configured.map(|(prefix, rate)| (Scope::Configured(netns, prefix), Some(rate)));
    let seen = flow.path.seen.filter(|_| flow.direction == Direction::Send);
    let peer = (Scope::Peer(netns, flow.peer), seen);
    link.into_iter().chain(configured).chain([peer])
}
