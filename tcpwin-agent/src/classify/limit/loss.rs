//! `loss`: random loss keeps cwnd below what the path would carry; no queue, and about the rate Mathis' formula gives.

use tcpwin_common::BUDGET_CWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::{Evidence, Losses};
use crate::classify::{Ceiling, Limit, Side, Verdict, ledger};
use crate::units::{bits_text, rtt_text};

/// Below one segment in this many, loss does not explain a cwnd.
const LEAST_LOSS: f64 = 0.0003;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let loss = evidence.loss_ratio();
    let rtt = evidence.srtt?;
    // Where nothing gets through there is no rate to explain.
    let is_dead = evidence.interval.acked.is_some_and(|acked| acked.0 == 0);
    if loss < LEAST_LOSS || evidence.is_queueing() || is_dead {
        return None;
    }
    if evidence.losses() == Losses::Few {
        let reason = format!(
            "{:.2} % of segments were lost without a queue, too few times yet to tell random loss from a policer",
            loss * 100.0
        );
        return Some(Verdict::unknown(evidence.direction, reason));
    }
    let mathis = ledger::mathis(evidence.mss, rtt, loss)?;
    let share = evidence.share(BUDGET_CWND);
    let retransmits = evidence.interval.retransmits.unwrap_or(0);
    let proof = format!(
        "{:.2} % of segments were lost ({retransmits} in this interval) without a queue (srtt {} is {:.2} × min_rtt), and cwnd was full \
         {:.0} % of the time: at this loss Reno makes {}, the connection {}.",
        loss * 100.0,
        rtt_text(rtt),
        evidence.inflation(),
        share * 100.0,
        bits_text(mathis.bits()),
        bits_text(evidence.rate.bits()),
    );
    let formula = format!("{} B ÷ {} × 1.22 ÷ √{loss:.4}", evidence.mss, rtt_text(rtt));
    let ceiling = Ceiling {
        limit: Limit::Loss,
        rate: mathis,
        formula,
    };
    Some(verdict(
        Limit::Loss,
        Side::Path,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
