//! `host`: data waits on this host below TCP. The small-queue limit holds the socket (`tcp_small_queue_check`) while cwnd and the
//! peer's window have room: a qdisc, the driver or the device is the slower part.

use tcpwin_common::BUDGET_PACING;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{bits_text, bytes_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let throttled = evidence.interval.throttled?;
    let waiting = evidence.share(BUDGET_PACING);
    if throttled < 0.35 || throttled < waiting * 0.5 {
        return None;
    }
    let queued = evidence.interval.tcp.wmem_alloc.unwrap_or(0);
    let proof = format!(
        "{:.0} % of the time data waited with room in cwnd and the peer's window, since what was sent before still lay in this host's own \
         queues ({} now): they let {} pass.",
        throttled * 100.0,
        bytes_text(u64::from(queued)),
        bits_text(evidence.rate.bits()),
    );
    let ceiling = Ceiling {
        limit: Limit::Host,
        rate: evidence.rate,
        formula: "what this host's queues let pass".to_owned(),
    };
    Some(verdict(
        Limit::Host,
        Side::LocalKernel,
        evidence.confidence(throttled.max(waiting)),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
