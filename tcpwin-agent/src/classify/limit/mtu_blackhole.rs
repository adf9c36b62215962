//! `mtu_blackhole`: small segments pass, full-size ones never (RFC 2923, section 2.1): some hop drops them and no ICMP says so.

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict};
use crate::units::bytes_text;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let ack_max = evidence.interval.ack_max?;
    let timeouts = tcp.timeouts?.max(tcp.backoff.unwrap_or(0));
    let outstanding = u64::from(tcp.packets_out?) * u64::from(evidence.mss);
    let received = evidence.interval.life_received.unwrap_or_default().0;
    // The path is whole for what is small: data came, or small segments were acknowledged.
    let small_passes = ack_max > 1 || received > 0;
    if timeouts < 2 || tcp.packets_out? == 0 || ack_max >= evidence.mss || !small_passes {
        return None;
    }
    let proof = format!(
        "{timeouts} timeouts in a row with {} outstanding: segments of {} B never arrive, while smaller ones do (the largest ACK was of \
         {ack_max} B, {} came in).",
        bytes_text(outstanding),
        evidence.mss,
        bytes_text(received),
    );
    let confidence = (0.5 + 0.15 * f64::from(timeouts - 1)).min(0.9);
    Some(verdict(
        Limit::MtuBlackhole,
        Side::Path,
        confidence,
        None,
        proof,
        Some(Ask::of(evidence)),
    ))
}
