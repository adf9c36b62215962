//! One slow connection among equals: same program, same peer, same direction.

use super::finding::{Finding, FindingKind, Member, Siblings, gathered, median};
use super::is_worth_telling;
use crate::classify::Limit;
use crate::units::{BytesPerSec, bits_text};

/// Siblings that make a comparison.
const ENOUGH: usize = 4;

/// Slow is below this part of the median.
const SLOW: f64 = 0.5;

/// How far equals may be apart, as parts of the median.
const EQUAL: std::ops::RangeInclusive<f64> = 0.75..=1.25;

pub(super) fn findings(members: &[Member<'_>]) -> Vec<Finding> {
    let busy = |member: &Member<'_>| member.flow.lately.is_some() && member.verdict.limit != Limit::None;
    let siblings = |member: &Member<'_>| -> Siblings {
        let flow = member.flow;
        (
            flow.key.netns,
            member.process.map(str::to_owned),
            flow.peer,
            flow.direction,
        )
    };
    let known = |member: &Member<'_>| busy(member) && member.process.is_some();
    gathered(members, known, siblings)
        .into_values()
        .filter_map(|group| slow(members, &group))
        .collect()
}

/// The one that was slow in each of its last intervals while the others were equal.
fn slow(members: &[Member<'_>], group: &[usize]) -> Option<Finding> {
    if group.len() < ENOUGH {
        return None;
    }
    let rate = |at: &usize| members[*at].flow.rate.0;
    let usual = median(group.iter().map(rate)).filter(|rate| *rate > 0.0)?;
    let mut odd = group.iter().filter(|at| !EQUAL.contains(&(rate(at) / usual)));
    let (Some(at), None) = (odd.next(), odd.next()) else {
        return None;
    };
    let member = &members[*at];
    let lately = member.flow.lately?;
    let always = lately
        .iter()
        .chain([&member.flow.rate.0])
        .all(|rate| *rate < usual * SLOW);
    // Less to do is no fault.
    if !always || !is_worth_telling(member.verdict.limit) {
        return None;
    }
    let mut finding = Finding::of(FindingKind::SlowSibling, members, vec![*at])?;
    finding.expected = Some(BytesPerSec(usual));
    finding.proof = format!(
        "One of {} connections of {} to {} makes {} where its siblings make {}. {}",
        group.len(),
        member.process.unwrap_or_default(),
        member.flow.peer,
        bits_text(finding.rate.bits()),
        bits_text(usual * 8.0),
        member.verdict.proof,
    );
    Some(finding)
}
