//! `turns`: request and response in turn, one answer per round trip: nothing is in flight when the next one starts.

use tcpwin_common::{BUDGET_APP, BUDGET_IDLE};

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{Bytes, bytes_text, rtt_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let calls = evidence.interval.calls?;
    let rtt = evidence.srtt?;
    let span = evidence.interval.span;
    // The peer's word prompts (nearly) every burst.
    if calls.turns < 2 || f64::from(calls.turns) < 0.7 * f64::from(calls.resumes) {
        return None;
    }
    // And what passes between bursts is the round trip, not the program's thinking.
    let waiting =
        (evidence.share(BUDGET_APP) + evidence.share(BUDGET_IDLE)) * span.seconds() / f64::from(calls.turns);
    let rounds = waiting / rtt.seconds();
    if !(0.5..=1.8).contains(&rounds) {
        return None;
    }
    let moved = evidence
        .interval
        .acked
        .unwrap_or_default()
        .0
        .max(evidence.interval.received.unwrap_or_default().0);
    let per_turn = Bytes(moved / u64::from(calls.turns));
    let per_second = f64::from(calls.turns) / span.seconds();
    let proof = format!(
        "{per_second:.1} turns per second of {} each, with nothing in flight between them: every turn waits {:.1} round trips of {}.",
        bytes_text(per_turn.0),
        rounds,
        rtt_text(rtt),
    );
    // Bytes a turn as this interval has them: the peer's answers count too.
    let ask = Ask {
        burst: Some(per_turn),
        ..Ask::of(evidence)
    };
    let ceiling = per_turn.per_rtt(rtt).map(|rate| Ceiling {
        limit: Limit::Turns,
        rate,
        formula: format!("{} a turn ÷ {}", bytes_text(per_turn.0), rtt_text(rtt)),
    });
    let confidence = evidence.confidence(f64::from(calls.turns) / f64::from(calls.resumes.max(1)));
    let mut verdict = verdict(
        Limit::Turns,
        Side::LocalApp,
        confidence,
        ceiling,
        proof,
        Some(ask),
    );
    verdict.direction = evidence.direction;
    Some(verdict)
}
