//! `pacing`: SO_MAX_PACING_RATE holds the connection. It counts payload bytes, with or without fq.

use tcpwin_common::{BUDGET_CWND, BUDGET_PACING};

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{BytesPerSec, bits_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let most = BytesPerSec(tcp.max_pacing_rate.filter(|rate| *rate > 0)? as f64);
    // The kernel paces at the cap, and that is what gets through.
    let paces_at_cap = tcp.pacing_rate.is_some_and(|now| now as f64 >= most.0 * 0.97);
    if !paces_at_cap || evidence.rate.0 < most.0 * 0.8 || evidence.rate.0 > most.0 * 1.2 {
        return None;
    }
    let share = evidence.share(BUDGET_PACING) + evidence.share(BUDGET_CWND);
    let proof = format!(
        "Data waited for the pacing timer {:.0} % of the time: SO_MAX_PACING_RATE of {} is what gets through ({}).",
        share * 100.0,
        bits_text(most.bits()),
        bits_text(evidence.rate.bits()),
    );
    let ceiling = Ceiling {
        limit: Limit::Pacing,
        rate: most,
        formula: "SO_MAX_PACING_RATE".to_owned(),
    };
    Some(verdict(
        Limit::Pacing,
        Side::LocalApp,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
