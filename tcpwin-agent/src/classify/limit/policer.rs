//! `policer`: a token bucket drops what exceeds its rate. No queue, and losses that come at the same cwnd each time: random loss
//! strikes at any.

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::{Evidence, Losses};
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{BytesPerSec, bits_text, rtt_text};

/// Share of segments lost from which bbr's steady rate speaks of a policer rather than of a link.
const BBR_LOSS: f64 = 0.02;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let recent = evidence.interval.recent.as_ref()?;
    let rtt = evidence.srtt?;
    if evidence.is_queueing() {
        return None;
    }
    if evidence.is_bbr() {
        return bbr(evidence);
    }
    if evidence.losses() != Losses::Alike {
        return None;
    }
    let (mean, cv) = recent.fall_spread()?;
    let rate = recent.rate;
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
    Some(verdict_of(evidence, rate, proof))
}

/// bbr keeps its rate under loss; each time it probes for more, a policer drops what exceeds its rate.
fn bbr(evidence: &Evidence<'_>) -> Option<Verdict> {
    let recent = evidence.interval.recent.as_ref()?;
    let loss = evidence.loss_ratio();
    if recent.intervals < 3 || loss < BBR_LOSS || recent.rate_cv > 0.15 {
        return None;
    }
    let proof = format!(
        "bbr has settled at {} while {:.1} % of its segments are dropped and none queues (srtt is {:.2} × min_rtt): a policer lets that \
         pass, or a queue too short to be seen.",
        bits_text(recent.rate.bits()),
        loss * 100.0,
        evidence.inflation(),
    );
    let mut told = verdict_of(evidence, recent.rate, proof);
    // Random loss on a full path would look the same.
    told.confidence = told.confidence.min(0.49);
    Some(told)
}

fn verdict_of(evidence: &Evidence<'_>, rate: BytesPerSec, proof: String) -> Verdict {
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
    verdict(
        Limit::Policer,
        Side::Path,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(ask),
    )
}
