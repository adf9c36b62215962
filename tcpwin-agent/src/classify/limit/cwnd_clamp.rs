//! `cwnd_clamp`: cwnd stands at `snd_cwnd_clamp`, or a route's locked cwnd.

use tcpwin_common::BUDGET_CWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, rtt_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let (clamp, cwnd, rtt) = (tcp.cwnd_clamp?, tcp.cwnd?, evidence.srtt?);
    if cwnd < clamp {
        return None;
    }
    let share = evidence.share(BUDGET_CWND);
    let window = Bytes(u64::from(cwnd) * u64::from(evidence.mss));
    let ceiling = ledger::window(Limit::CwndClamp, window, rtt, "clamped cwnd")?;
    let proof = format!(
        "cwnd stands at its clamp of {clamp} segments and was full {:.0} % of the time: {clamp} × {} B ÷ {} allows {}.",
        share * 100.0,
        evidence.mss,
        rtt_text(rtt),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::CwndClamp,
        Side::LocalKernel,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
