//! `stalled`: nothing is acknowledged and the retransmission timer backs off (RFC 6298, section 5.5).

use tcpwin_common::BUDGET_RWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict};
use crate::units::bytes_text;

/// Default of `net.ipv4.tcp_retries2`.
const RETRIES2: u8 = 15;
/// Doublings of 200 ms before 120 s are reached.
const DOUBLINGS: u8 = 9;

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
        "Nothing was acknowledged{}: {timeouts} retransmission timeouts in a row with {} ({outstanding} segments) outstanding. {}.",
        since(evidence),
        bytes_text(u64::from(outstanding) * u64::from(evidence.mss)),
        left(evidence),
    );
    // Without the sizes of the ACKs, a path that swallows full segments alone looks the same.
    let most = if evidence.interval.ack_max.is_some() {
        0.99
    } else {
        0.45
    };
    let confidence = (0.6 + 0.1 * f64::from(timeouts)).min(most);
    Some(verdict(
        Limit::Stalled,
        Side::Path,
        confidence,
        None,
        proof,
        Some(Ask::of(evidence)),
    ))
}

/// For how long nothing has been, where somebody counts.
fn since(evidence: &Evidence<'_>) -> String {
    match unanswered(evidence) {
        Some(seconds) => format!(" for {seconds:.0} s"),
        None => String::new(),
    }
}

fn unanswered(evidence: &Evidence<'_>) -> Option<f64> {
    let recent = evidence.interval.recent.as_ref()?;
    (recent.unanswered.0 > 0).then(|| recent.unanswered.seconds())
}

/// How long until the kernel gives the connection up.
fn left(evidence: &Evidence<'_>) -> String {
    let (retries, whose) = match evidence.context.around.tcp_retries2 {
        Some(retries) => (retries, ""),
        None => (RETRIES2, ", the default"),
    };
    let most = gives_up_after(retries);
    match unanswered(evidence) {
        Some(seconds) if seconds < most => format!(
            "The kernel gives up in about {:.0} s (net.ipv4.tcp_retries2 = {retries}{whose}: {most:.0} s in all)",
            most - seconds
        ),
        _ => format!("The kernel gives up after {most:.0} s (net.ipv4.tcp_retries2 = {retries}{whose})"),
    }
}

/// Seconds from the first timeout on (`retransmits_timed_out`): so long as that many timeouts would take that begin at 200 ms and
/// double up to 120 s, whatever the connection's own are.
fn gives_up_after(retries: u8) -> f64 {
    let doubled = u32::from(retries.min(DOUBLINGS)) + 1;
    let flat = f64::from(retries.saturating_sub(DOUBLINGS));
    0.2 * (f64::from(1u32 << doubled) - 1.0) + 120.0 * flat
}

/// The peer's window holds less than two segments and that is what data waited for: a receiver drops what it has no memory for.
fn has_no_room(evidence: &Evidence<'_>) -> bool {
    let window = evidence.interval.tcp.snd_wnd;
    let is_tiny = window.is_some_and(|bytes| u64::from(bytes) < 2 * u64::from(evidence.mss));
    is_tiny && evidence.share(BUDGET_RWND) > 0.5
}

#[cfg(test)]
mod tests {
    use super::gives_up_after;

    #[test]
    fn the_kernels_documented_time_is_met() {
        // Documentation/networking/ip-sysctl: the default of 15 is a hypothetical timeout of 924.6 seconds.
        assert!((gives_up_after(15) - 924.6).abs() < 1e-9);
        assert!((gives_up_after(8) - 102.2).abs() < 1e-9);
    }
}
