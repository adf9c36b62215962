//! A program's own window, fitted over its connections: the same bytes per round trip, however long that is.

use super::LATELY;
use super::finding::{Finding, FindingKind, Member, gathered, median};
use crate::classify::Limit;
use crate::units::{bytes_text, rtt_text};

/// How far from the median a connection's bytes per round trip may be.
const WITHIN: f64 = 0.1;

/// The longest round-trip time over the shortest.
const APART: f64 = 2.0;

/// The initial window of HTTP/2 (RFC 9113, section 6.9.2).
const HTTP2: f64 = 65_535.0;

pub(super) fn findings(members: &[Member<'_>]) -> Vec<Finding> {
    let turns = |member: &Member<'_>| {
        let limit = member.verdict.limit;
        matches!(limit, Limit::AppWindow | Limit::Turns)
            && member.process.is_some()
            && window(member).is_some()
    };
    let program = |member: &Member<'_>| {
        (
            member.flow.key.netns,
            member.process.map(str::to_owned),
            member.flow.direction,
        )
    };
    gathered(members, turns, program)
        .into_values()
        .filter_map(|group| fitted(members, &group))
        .collect()
}

/// Bytes per round trip, over the last intervals: one of them alone cuts round trips in two.
fn window(member: &Member<'_>) -> Option<f64> {
    let rate = member.flow.lately?.iter().sum::<f64>() / LATELY as f64;
    let window = rate * member.flow.rtt?.seconds();
    (window > 0.0).then_some(window)
}

fn fitted(members: &[Member<'_>], group: &[usize]) -> Option<Finding> {
    let of = |at: &usize| window(&members[*at]);
    let usual = median(group.iter().filter_map(of))?;
    let fits = |at: &&usize| of(at).is_some_and(|window| (window / usual - 1.0).abs() <= WITHIN);
    let fitting: Vec<usize> = group.iter().filter(fits).copied().collect();
    if fitting.len() < 2 || fitting.len() * 2 <= group.len() {
        return None;
    }
    let rtts = || fitting.iter().filter_map(|at| members[*at].flow.rtt);
    let (shortest, longest) = (rtts().min()?, rtts().max()?);
    if f64::from(longest.0) < f64::from(shortest.0) * APART {
        return None;
    }
    let mut finding = Finding::of(FindingKind::AppWindow, members, fitting)?;
    let is_turns = |at: &usize| members[*at].verdict.limit == Limit::Turns;
    let what = if finding.connections.iter().all(is_turns) {
        finding.limit = Limit::Turns;
        "one turn"
    } else {
        finding.limit = Limit::AppWindow;
        "a window"
    };
    let known = if (usual / HTTP2 - 1.0).abs() <= WITHIN / 2.0 {
        " (HTTP/2's initial window is 65,535 B)"
    } else {
        ""
    };
    finding.proof = format!(
        "{} move {} per round trip, whether that takes {} or {}: {what} of that size{known}.",
        finding.whose(),
        bytes_text(usual as u64),
        rtt_text(shortest),
        rtt_text(longest),
    );
    Some(finding)
}
