//! What is worth telling of many connections at once, ranked by what it would give.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Flow, fit, is_worth_telling, sibling};
use crate::classify::{Direction, Limit, Remedy, Verdict};
use crate::observation::Prefix;
use crate::units::{BytesPerSec, bits_text};

/// Findings told at once.
const MOST: usize = 100;

/// From this factor on a gain is one.
const WORTH: f64 = 1.05;

/// What kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Connections of one program to one prefix are held by the same limit.
    SharedLimit,
    /// One connection is slow among equals.
    SlowSibling,
    /// A program's bytes per round trip are the same over different round-trip times: it has a window of its own.
    AppWindow,
}

/// A connection with its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// It.
    pub flow: &'a Flow,
    /// What holds it.
    pub verdict: &'a Verdict,
    /// The name of its process, if known.
    pub process: Option<&'a str>,
}

/// Something that is true of several connections, or of one among several.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// What holds the connections.
    pub limit: Limit,
    /// Network namespace.
    pub netns: u32,
    /// The program, if known.
    pub process: Option<String>,
    /// Where the peers are; absent if they are in several places.
    pub peer: Option<Prefix>,
    /// The connections by their places among the members, the fastest first.
    pub connections: Vec<usize>,
    /// Their rates together.
    pub rate: BytesPerSec,
    /// What they would make together once the limit is lifted, where that is known and worth the while.
    pub expected: Option<BytesPerSec>,
    /// One sentence or two with the numbers.
    pub proof: String,
    /// What to change.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// Factor by which the rate would rise.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        let expected = self.expected?;
        (self.rate.0 > 0.0).then(|| expected.0 / self.rate.0)
    }

    /// Of the members at these places, the fastest first.
    pub(super) fn of(kind: FindingKind, members: &[Member<'_>], mut connections: Vec<usize>) -> Option<Self> {
        connections.sort_by(|a, b| members[*b].flow.rate.0.total_cmp(&members[*a].flow.rate.0));
        let first = members.get(*connections.first()?)?;
        let rate = connections.iter().map(|at| members[*at].flow.rate.0).sum();
        let prefix = Prefix::around(first.flow.peer);
        let is_one_place = connections
            .iter()
            .all(|at| prefix.contains(members[*at].flow.peer));
        Some(Self {
            kind,
            limit: first.verdict.limit,
            netns: first.flow.key.netns,
            process: first.process.map(str::to_owned),
            peer: is_one_place.then_some(prefix),
            rate: BytesPerSec(rate),
            expected: expected(members, &connections),
            connections,
            proof: String::new(),
            remedies: first.verdict.remedies(),
        })
    }

    /// `37 connections of nginx to 203.0.113.0/24`.
    pub(super) fn whose(&self) -> String {
        let plural = if self.connections.len() == 1 { "" } else { "s" };
        let process = self
            .process
            .as_ref()
            .map_or(String::new(), |name| format!(" of {name}"));
        let peer = self.peer.map_or(String::new(), |peer| format!(" to {peer}"));
        format!("{} connection{plural}{process}{peer}", self.connections.len())
    }
}

/// What they would make together: each its next ceiling, and never more than the path that all of them have in common.
fn expected(members: &[Member<'_>], connections: &[usize]) -> Option<BytesPerSec> {
    let of = |at: &usize| &members[*at];
    let now: f64 = connections.iter().map(|at| of(at).flow.rate.0).sum();
    let next = |member: &Member<'_>| {
        let next = member.verdict.next.as_ref().map_or(0.0, |next| next.rate.0);
        next.max(member.flow.rate.0)
    };
    let mut then: f64 = connections.iter().map(|at| next(of(at))).sum();
    let capacity = |at: &usize| of(at).flow.path.capacity(of(at).flow.direction, of(at).flow.rate);
    if let Some(path) = capacity(connections.first()?)
        && connections.iter().all(|at| capacity(at) == Some(path))
    {
        then = then.min(path.rate.0);
    }
    (now > 0.0 && then > now * WORTH && then.is_finite()).then_some(BytesPerSec(then))
}

/// All that is worth telling, what gives most first.
#[must_use]
pub fn findings(members: &[Member<'_>]) -> Vec<Finding> {
    let mut found = shared(members);
    found.extend(sibling::findings(members));
    found.extend(fit::findings(members));
    let gives = |finding: &Finding| {
        finding
            .expected
            .map_or(0.0, |expected| expected.0 - finding.rate.0)
    };
    found.sort_by(|a, b| {
        let by_gain = gives(b).total_cmp(&gives(a));
        let by_count = || b.connections.len().cmp(&a.connections.len());
        by_gain
            .then_with(by_count)
            .then_with(|| b.rate.0.total_cmp(&a.rate.0))
            .then_with(|| {
                (a.kind, a.limit, a.netns, &a.process, a.peer)
                    .cmp(&(b.kind, b.limit, b.netns, &b.process, b.peer))
            })
    });
    found.truncate(MOST);
    found
}

/// Connections of one program to one prefix, under one limit.
fn shared(members: &[Member<'_>]) -> Vec<Finding> {
    let held = |member: &Member<'_>| is_worth_telling(member.verdict.limit);
    let key = |member: &Member<'_>| {
        let flow = member.flow;
        let prefix = Prefix::around(flow.peer);
        (
            flow.key.netns,
            member.process.map(str::to_owned),
            prefix,
            member.verdict.limit,
            flow.direction,
        )
    };
    gathered(members, held, key)
        .into_values()
        .filter_map(|connections| {
            let mut finding = Finding::of(FindingKind::SharedLimit, members, connections)?;
            let first = members[finding.connections[0]].verdict;
            finding.proof = if finding.connections.len() == 1 {
                first.proof.clone()
            } else {
                let formula = first
                    .ceiling
                    .as_ref()
                    .map_or(String::new(), |ceiling| format!(", {}", ceiling.formula));
                format!(
                    "{}: {}{formula}; {} together. The fastest: {}",
                    finding.whose(),
                    finding.limit.name(),
                    bits_text(finding.rate.bits()),
                    first.proof
                )
            };
            Some(finding)
        })
        .collect()
}

/// The program's connections to one address, in one direction.
pub(super) type Siblings = (u32, Option<String>, IpAddr, Direction);

/// The places of the members that count, by what they have in common.
pub(super) fn gathered<K: Ord>(
    members: &[Member<'_>],
    counts: impl Fn(&Member<'_>) -> bool,
    key: impl Fn(&Member<'_>) -> K,
) -> BTreeMap<K, Vec<usize>> {
    let mut groups = BTreeMap::<K, Vec<usize>>::new();
    for (at, member) in members.iter().enumerate() {
        if counts(member) {
            groups.entry(key(member)).or_default().push(at);
        }
    }
    groups
}

/// The one in the middle; `None` of none.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
