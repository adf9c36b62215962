//! `app` and `none`: the program offers less than any window would carry; or so little that nobody need look.

use tcpwin_common::{BUDGET_APP, BUDGET_IDLE};

use super::verdict;
use crate::classify::evidence::{Evidence, Shares};
use crate::classify::{Limit, Side, Verdict};
use crate::units::bits_text;

/// Segments an interval may carry and still count as next to nothing.
const FEW_SEGMENTS: u64 = 4;
/// Segments of loopback and jumbo frames are not so little.
const LARGE_SEGMENT: u32 = 1460;

/// Idle, or carrying next to nothing.
pub(in crate::classify) fn nothing(evidence: &Evidence<'_>) -> Option<Verdict> {
    let moved = evidence
        .interval
        .acked
        .unwrap_or_default()
        .0
        .saturating_add(evidence.interval.received.unwrap_or_default().0);
    // What waits under Nagle's rule is held as well, however little it is.
    let is_nagled = evidence.interval.nagle.is_some_and(|share| share > 0.25);
    if evidence.held() > 0.5 || is_nagled {
        return None;
    }
    if moved == 0 {
        return Some(Verdict::none(evidence.direction, "idle".to_owned()));
    }
    if moved <= FEW_SEGMENTS * u64::from(evidence.mss.min(LARGE_SEGMENT)) {
        let proof = format!("{moved} B in the interval: nothing limits so little");
        return Some(Verdict::none(evidence.direction, proof));
    }
    None
}

/// The program is the slower part.
pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Verdict {
    let free = evidence.share(BUDGET_APP) + evidence.share(BUDGET_IDLE);
    if evidence.origin == Shares::Guessed && evidence.share(BUDGET_IDLE) < 0.5 {
        let reason = "something was outstanding most of the time and nothing unsent: a blocked writer, a program that waits for its peer, \
                      or one that has no more; this source cannot see which"
            .to_owned();
        return Verdict::unknown(evidence.direction, reason);
    }
    let proof = format!(
        "The program gave nothing to send {:.0} % of the time ({:.0} % with everything acknowledged), the writer not blocked: {} is what \
         it offers.",
        free * 100.0,
        evidence.share(BUDGET_IDLE) * 100.0,
        bits_text(evidence.rate.bits()),
    );
    verdict(
        Limit::App,
        Side::LocalApp,
        evidence.confidence(free),
        None,
        proof,
        None,
    )
}
