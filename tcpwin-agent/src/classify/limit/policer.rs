//! `policer`: a token bucket drops what exceeds its rate. No queue, and losses that come at the same cwnd each time: random loss
//! strikes at any.

use super::verdict;
use crate::classify::advice::{self, Ask};
use crate::classify::evidence::{Evidence, Losses};
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{BytesPerSec, bits_text, rtt_text};

/// Variance ÷ mean of an interval's retransmits from which they come in clusters.
const CLUSTERED: f64 = 8.0;

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
    Some(verdict_of(evidence, rate, proof))
}

/// bbr keeps its rate under loss; it meets a policer each time it probes for more, and in between loses nothing.
fn bbr(evidence: &Evidence<'_>) -> Option<Verdict> {
    let recent = evidence.interval.recent.as_ref()?;
    let loss = evidence.loss_ratio();
    if recent.intervals < 3 || loss < 0.01 || recent.retransmit_dispersion < CLUSTERED {
        return None;
    }
    let rate = recent.acked.per(recent.span);
    let proof = format!(
        "bbr loses {:.1} % of its segments, in clusters (variance ÷ mean of a second's is {:.0}, where random loss has 1) and without a \
         queue (srtt is {:.2} × min_rtt): a policer lets {} pass.",
        loss * 100.0,
        recent.retransmit_dispersion,
        evidence.inflation(),
        bits_text(rate.bits()),
    );
    Some(verdict_of(evidence, rate, proof))
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
        advice::policer(&ask),
    )
}
