//! `bandwidth`: the path carries no more: what is in flight beyond it queues (srtt above min_rtt), or bbr's estimate is steady.

use tcpwin_common::{BUDGET_CWND, BUDGET_PACING, BUDGET_RWND};

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::{Evidence, Shares};
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{bits_text, bytes_text, rtt_text};

/// Round trips after which bbr has left its start-up.
const BBR_STARTUP_ROUNDS: f64 = 12.0;
/// A share of segments lost from which bbr's steady rate alone says nothing of the path.
const MUCH_LOSS: f64 = 0.05;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    if evidence.is_bbr() {
        bbr(evidence)
    } else {
        queueing(evidence)
    }
}

/// Window ÷ path: a full window of another's making is no more than a symptom when this many BDPs are in flight already.
const SYMPTOM: f64 = 1.5;

/// A full peer's window or send buffer over a path that queues: lifting it would only lengthen the queue.
pub(in crate::classify) fn behind_window(evidence: &Evidence<'_>) -> Option<Verdict> {
    if evidence.inflation() < SYMPTOM {
        return None;
    }
    let full = queueing(evidence)?;
    let is_guessed = evidence.origin == Shares::Guessed;
    if is_guessed && evidence.dominant().0 == BUDGET_RWND {
        let reason = format!(
            "the peer's window was full {:.0} % of the time and srtt stands at {:.1} × min_rtt: a queue on the path, or a peer that reads \
             slowly and answers late; this source cannot see which",
            evidence.share(BUDGET_RWND) * 100.0,
            evidence.inflation(),
        );
        return Some(Verdict::unknown(evidence.direction, reason));
    }
    Some(full)
}

/// More is in flight than the path holds.
fn queueing(evidence: &Evidence<'_>) -> Option<Verdict> {
    if !evidence.is_queueing() || lies_here(evidence) {
        return None;
    }
    let (srtt, min_rtt) = (evidence.srtt?, evidence.min_rtt?);
    let bdp = evidence.rate.bdp(min_rtt);
    let proof = format!(
        "The path delivers {} and its queue fills: srtt {} stands at {:.1} × min_rtt {}, so more than its BDP of {} is in flight already.",
        bits_text(evidence.rate.bits()),
        rtt_text(srtt),
        evidence.inflation(),
        rtt_text(min_rtt),
        bytes_text(bdp.0),
    );
    Some(path_is_full(evidence, proof))
}

fn bbr(evidence: &Evidence<'_>) -> Option<Verdict> {
    let (rtt, pacing) = (evidence.srtt?, evidence.interval.tcp.pacing_rate?);
    let rounds = evidence.interval.age.seconds() / rtt.seconds();
    // bbr paces at its estimate times a gain of 0.75 to 1.25 once out of start-up (2.89 before).
    if rounds < BBR_STARTUP_ROUNDS || pacing as f64 > evidence.rate.0 * 1.6 {
        return None;
    }
    // bbr keeps its rate through much loss: one look cannot tell a path with a small buffer from a lossy one.
    if evidence.origin == Shares::Guessed && evidence.loss_ratio() > MUCH_LOSS {
        return None;
    }
    let proof = format!(
        "bbr paces at {} and {} gets through, steady after {rounds:.0} round trips of {}: that is what the path carries.",
        bits_text(pacing as f64 * 8.0),
        bits_text(evidence.rate.bits()),
        rtt_text(rtt),
    );
    Some(path_is_full(evidence, proof))
}

/// All that is in flight still lies in this host's own queues, though cwnd has room: it has not met the path's. Where the probes
/// keep the time of that, [`super::host`] tells it.
fn lies_here(evidence: &Evidence<'_>) -> bool {
    let tcp = &evidence.interval.tcp;
    let is_all = tcp
        .wmem_alloc
        .zip(tcp.in_flight)
        .is_some_and(|(queued, in_flight)| queued >= in_flight && in_flight > 0);
    let has_room = tcp
        .packets_out
        .zip(tcp.cwnd)
        .is_some_and(|(out, cwnd)| out < cwnd);
    evidence.origin == Shares::Guessed && is_all && has_room
}

fn path_is_full(evidence: &Evidence<'_>, proof: String) -> Verdict {
    let share = evidence
        .held()
        .max(evidence.share(BUDGET_CWND) + evidence.share(BUDGET_PACING));
    let ceiling = Ceiling {
        limit: Limit::Bandwidth,
        rate: evidence.rate,
        formula: "delivered while the path's queue holds".to_owned(),
    };
    verdict(
        Limit::Bandwidth,
        Side::Path,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    )
}
