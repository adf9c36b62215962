//! `stalled`: nothing is acknowledged and the retransmission timer backs off (RFC 6298, section 5.5).

use tcpwin_common::BUDGET_RWND;

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
    if has_no_room(evidence) {
        let reason = format!(
            "{timeouts} retransmission timeouts in a row behind a window of {} B: the peer has no room for a segment, or is gone",
            tcp.snd_wnd.unwrap_or(0)
        );
        return Some(Verdict::unknown(evidence.direction, reason));
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

/// The peer's window holds less than two segments and that is what data waited for: a receiver drops what it has no memory for.
fn has_no_room(evidence: &Evidence<'_>) -> bool {
    let window = evidence.interval.tcp.snd_wnd;
    let is_tiny = window.is_some_and(|bytes| u64::from(bytes) < 2 * u64::from(evidence.mss));
    is_tiny && evidence.share(BUDGET_RWND) > 0.5
}
