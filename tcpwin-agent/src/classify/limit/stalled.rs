//! `stalled`: nothing is acknowledged and the retransmission timer backs off (RFC 6298, section 5.5).

use super::verdict;
use crate::classify::advice::{self, Ask};
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict};
use crate::units::bytes_text;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let timeouts = tcp.timeouts.unwrap_or(0).max(tcp.backoff.unwrap_or(0));
    let outstanding = tcp.packets_out.unwrap_or(0);
    let is_probing = tcp.probes.unwrap_or(0) > 0 && outstanding == 0;
    if timeouts < 2
        || outstanding == 0
        || is_probing
        || evidence.interval.acked.is_some_and(|acked| acked.0 > 0)
    {
        return None;
    }
    let proof = format!(
        "Nothing was acknowledged: {timeouts} retransmission timeouts in a row with {} ({outstanding} segments) outstanding.",
        bytes_text(u64::from(outstanding) * u64::from(evidence.mss)),
    );
    let confidence = (0.6 + 0.1 * f64::from(timeouts)).min(0.99);
    Some(verdict(
        Limit::Stalled,
        Side::Path,
        confidence,
        None,
        proof,
        advice::stalled(&Ask::of(evidence)),
    ))
}
