//! `policer`: a token bucket drops what exceeds its rate. No queue, and losses that come at the same cwnd each time: random loss
//! strikes at any.

use super::verdict;
use crate::classify::advice::{self, Ask};
use crate::classify::evidence::{Evidence, Losses};
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{bits_text, rtt_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let recent = evidence.interval.recent.as_ref()?;
    let rtt = evidence.srtt?;
    if evidence.is_queueing() || evidence.losses() != Losses::Alike {
        return None;
    }
    let (mean, cv) = recent.fall_spread()?;
    let rate = recent.acked.per(recent.span);
    let proof = format!(
        "{} losses in {:.0} s, each when cwnd had come to {mean:.0} segments (± {:.0} %), without a queue (srtt {} is {:.2} × min_rtt): \
         a policer lets {} pass.",
        recent.falls_counted,
        recent.span.seconds(),
        cv * 100.0,
        rtt_text(rtt),
        evidence.inflation(),
        bits_text(rate.bits()),
    );
    let ask = Ask {
        rate,
        ..Ask::of(evidence)
    };
    let ceiling = Ceiling {
        limit: Limit::Policer,
        rate,
        formula: "what passed while segments were dropped".to_owned(),
    };
    let share = evidence.held();
    Some(verdict(
        Limit::Policer,
        Side::Path,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        advice::policer(&ask),
    ))
}
