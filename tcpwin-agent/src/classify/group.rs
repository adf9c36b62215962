//! Connections taken together: what holds one of them may be the sum of all.
//!
//! Flows that fill a path between them all look held by a window, each by its own. They are summed by path and by network
//! interface before that is said of any of them.

mod finding;
mod fit;
mod sibling;

use std::collections::HashMap;
use std::net::IpAddr;

pub use finding::{Finding, FindingKind, Member, findings};

use crate::classify::evidence::{Context, Evidence};
use crate::classify::{Bound, Ceiling, Direction, Limit, Path, PathOrigin, Remedy, Side, Verdict};
use crate::connection::interval::Interval;
use crate::observation::{Key, Prefix};
use crate::units::{BytesPerSec, Micros, bits_text};

/// Part of a known capacity from which on it is full: headers and acknowledgements of other data take the rest.
const FULL: f64 = 0.9;

/// Part beyond which it is disproved.
const OVERFULL: f64 = 1.1;

/// The largest of the last sums over the smallest, for a total that is steady.
const STEADY: f64 = 1.1;

/// Intervals over which a total has to be steady.
pub const LATELY: usize = 3;

/// A busy connection in the interval that has just ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Which.
    pub key: Key,
    /// This host's address.
    pub local: IpAddr,
    /// The other.
    pub peer: IpAddr,
    /// What holds it when it is looked at alone.
    pub limit: Limit,
    /// Which way the bytes go.
    pub direction: Direction,
    /// How fast.
    pub rate: BytesPerSec,
    /// The lower of what was acknowledged and what was delivered: an acknowledgement may come late for what was delivered before.
    pub delivered: BytesPerSec,
    /// Its rates in the last intervals, the newest first; absent if it has not been busy for as many.
    pub lately: Option<[f64; LATELY]>,
    /// Its round-trip time.
    pub rtt: Option<Micros>,
    /// Its round-trip time stands clearly above the least one seen.
    pub is_queueing: bool,
    /// What is known of its path.
    pub path: Path,
}

impl Flow {
    /// From the interval that has just ended and its verdict.
    #[must_use]
    pub fn new(
        key: Key,
        (local, peer): (IpAddr, IpAddr),
        interval: &Interval,
        verdict: &Verdict,
        lately: Option<[f64; LATELY]>,
        path: Path,
    ) -> Self {
        let rate = match verdict.direction {
            Direction::Send => interval.sending(),
            Direction::Receive => interval.receiving(),
        };
        let tcp = &interval.tcp;
        let delivered = match (interval.delivered, tcp.mss, verdict.direction) {
            (Some(segments), Some(mss), Direction::Send) => {
                let bytes = u64::from(segments) * u64::from(mss);
                BytesPerSec(crate::units::Bytes(bytes).per(interval.span).0.min(rate.0))
            }
            _ => rate,
        };
        let context = Context::default();
        let is_queueing = Evidence::new(interval, &context).is_some_and(|evidence| evidence.is_queueing());
        Self {
            key,
            local,
            peer,
            limit: verdict.limit,
            direction: verdict.direction,
            rate,
            delivered,
            lately,
            rtt: tcp.srtt_us.filter(|us| *us > 0).map(Micros),
            is_queueing,
            path,
        }
    }

    /// A window whose size the sum over a path can explain. A slow reader is slow however many there are.
    const fn is_windowed(&self) -> bool {
        matches!(
            self.limit,
            Limit::Sndbuf
                | Limit::Rwnd
                | Limit::RwndScale
                | Limit::CwndClamp
                | Limit::CwndStartup
                | Limit::AppWindow
                | Limit::Rcvbuf
        )
    }

    /// It shows what its path can carry.
    #[must_use]
    pub const fn fills_path(&self) -> bool {
        matches!(self.limit, Limit::Bandwidth | Limit::Policer)
    }

    fn scopes(&self) -> impl Iterator<Item = (Scope<'_>, Option<BytesPerSec>)> {
        let netns = self.key.netns;
        let link = self.path.link.as_ref();
        let link = link.map(|link| (Scope::Link(&link.name), Some(link.rate)));
        let configured = self.path.configured;
        let configured = configured.map(|(prefix, rate)| (Scope::Configured(netns, prefix), Some(rate)));
        let seen = self.path.seen.filter(|_| self.direction == Direction::Send);
        let peer = (Scope::Peer(netns, self.peer), seen);
        link.into_iter().chain(configured).chain([peer])
    }
}

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
    lately: [f64; LATELY],
    /// Flows whose last rates are not known.
    young: u32,
    windowed: u32,
    /// Of these.
    queueing: u32,
    capacity: Option<BytesPerSec>,
}

impl Together {
    fn add(&mut self, flow: &Flow, capacity: Option<BytesPerSec>) {
        self.flows += 1;
        self.rate += flow.rate.0;
        match flow.lately {
            Some(lately) => self
                .lately
                .iter_mut()
                .zip(lately)
                .for_each(|(sum, rate)| *sum += rate),
            None => self.young += 1,
        }
        if flow.is_windowed() {
            self.windowed += 1;
            self.queueing += u32::from(flow.is_queueing);
        }
        self.capacity = capacity;
    }

    fn is_steady(&self) -> bool {
        let least = self.lately.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.lately.iter().copied().fold(0.0, f64::max);
        self.young == 0 && least > 0.0 && most <= least * STEADY
    }

    fn all_queue(&self) -> bool {
        self.windowed >= 2 && self.queueing == self.windowed
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
            (Scope::Peer(..), _) if self.all_queue() && self.is_steady() => Some(Full::Queueing),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Full {
    Known(BytesPerSec, PathOrigin),
    Queueing,
}

/// The flows that a path or an interface holds together, by their place in `flows`, each with its verdict. `verdict` gives the one
/// it has alone.
pub fn together<'a>(flows: &[Flow], verdict: impl Fn(&Flow) -> Option<&'a Verdict>) -> Vec<(usize, Verdict)> {
    if flows.len() < 2 || !flows.iter().any(Flow::is_windowed) {
        return Vec::new();
    }
    let mut sums = HashMap::<(Scope<'_>, Direction), Together>::new();
    for flow in flows {
        for (scope, capacity) in flow.scopes() {
            sums.entry((scope, flow.direction))
                .or_default()
                .add(flow, capacity);
        }
    }
    let judged = |(at, flow): (usize, &Flow)| {
        let held = flow.scopes().find_map(|(scope, _)| {
            let sum = sums.get(&(scope, flow.direction))?;
            Some((scope, sum, sum.full(scope)?))
        })?;
        // A window that is still opening fills no queue for long.
        if flow.limit == Limit::CwndStartup && matches!(held.2, Full::Queueing) {
            return None;
        }
        Some((at, joint(flow, held, verdict(flow)?)))
    };
    let windowed = flows.iter().enumerate().filter(|(_, flow)| flow.is_windowed());
    windowed.filter_map(judged).collect()
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
        remedies: vec![Remedy::new(
            Side::Path,
            "more bandwidth, or fewer flows on this path; larger windows would not help",
            "the path is full",
        )],
    }
}

/// What the flows to a prefix delivered together in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Network namespace.
    pub netns: u32,
    /// An address, or those around it.
    pub prefix: Prefix,
    /// How much.
    pub rate: BytesPerSec,
    /// One of them was held by the path: of a prefix, flows to two of its addresses, since each may have a path of its own.
    pub is_full: bool,
}

/// What was sent, by address and by prefix.
#[must_use]
pub fn sums(flows: &[Flow]) -> Vec<Sum> {
    let mut hosts = HashMap::<(u32, IpAddr), (f64, bool)>::new();
    for flow in flows.iter().filter(|flow| flow.direction == Direction::Send) {
        let host = hosts.entry((flow.key.netns, flow.peer)).or_default();
        host.0 += flow.delivered.0;
        host.1 |= flow.fills_path();
    }
    let mut prefixes = HashMap::<(u32, Prefix), (f64, u32)>::new();
    for ((netns, peer), (rate, full)) in &hosts {
        let prefix = prefixes.entry((*netns, Prefix::around(*peer))).or_default();
        prefix.0 += rate;
        prefix.1 += u32::from(*full);
    }
    let sum = |netns, prefix, rate, is_full| Sum {
        netns,
        prefix,
        rate: BytesPerSec(rate),
        is_full,
    };
    let hosts = hosts
        .into_iter()
        .map(|((netns, peer), (rate, full))| sum(netns, Prefix::host(peer), rate, full));
    let prefixes = prefixes
        .into_iter()
        .map(|((netns, prefix), (rate, full))| sum(netns, prefix, rate, full >= 2));
    hosts.chain(prefixes).collect()
}

/// If somebody could act on it: nobody need look at what is idle, still opening, or has no more to send.
fn is_worth_telling(limit: Limit) -> bool {
    match limit.bound() {
        Bound::Window => limit != Limit::CwndStartup,
        Bound::Loss | Bound::Bandwidth | Bound::Host => true,
        Bound::App => limit != Limit::App,
        Bound::None | Bound::Unknown => false,
    }
}

#[cfg(test)]
mod tests;
