//! `cwnd_startup`: the connection still grows into its path: no loss yet, no queue yet.

use tcpwin_common::BUDGET_CWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::{Evidence, Shares};
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, rtt_text};

/// Part of cwnd ÷ round trip that a growing window carries at least: it doubles while the interval lasts.
const CARRIED: f64 = 0.3;
/// Round trips that slow start does not take.
const MANY_ROUNDS: f64 = 40.0;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let (cwnd, rtt) = (tcp.cwnd?, evidence.srtt?);
    if evidence.interval.life_retransmits? > 0 || evidence.is_queueing() {
        return None;
    }
    let share = evidence.share(BUDGET_CWND);
    let window = Bytes(u64::from(cwnd) * u64::from(evidence.mss));
    let ceiling = ledger::window(Limit::CwndStartup, window, rtt, "cwnd")?;
    let rounds = evidence.interval.age.seconds() / rtt.seconds();
    // A window that is full carries itself each round trip; and slow start is short. What holds longer is a clamp, or not cwnd.
    if evidence.rate.0 < ceiling.rate.0 * CARRIED
        || (evidence.origin == Shares::Guessed && rounds > MANY_ROUNDS)
    {
        return None;
    }
    let proof = format!(
        "cwnd has grown to {cwnd} segments after {rounds:.0} round trips of {} without loss or queue, and was full {:.0} % of the time: \
         for now it allows {}.",
        rtt_text(rtt),
        share * 100.0,
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::CwndStartup,
        Side::Nobody,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
