//! `rwnd_reader`: the peer's window closes, since its program reads more slowly than we send.
//!
//! A small buffer keeps the window constant; a slow reader lets it fall to zero, or leaves the connection far below what the
//! largest window ever offered would carry.

use tcpwin_common::BUDGET_RWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.share(BUDGET_RWND);
    let tcp = &evidence.interval.tcp;
    let rtt = evidence.min_rtt.or(evidence.srtt)?;
    let most = Bytes(u64::from(tcp.max_window.or(tcp.snd_wnd)?));
    let full = most.per_rtt(rtt)?;
    let closed = evidence.interval.zero_window.unwrap_or(0.0);
    let is_far_below = evidence.rate.0 < full.0 * 0.5;
    let is_window_down = tcp.snd_wnd.is_some_and(|now| u64::from(now) < most.0 / 2);
    if closed < 0.01 && !(is_far_below && is_window_down) {
        return None;
    }
    let ceiling = Ceiling {
        limit: Limit::RwndReader,
        rate: evidence.rate,
        formula: "the rate at which the peer's program reads".to_owned(),
    };
    let proof = format!(
        "The peer's window was full {:.0} % of the time and below one segment {:.0} %; its largest, {} ÷ {}, would carry {}, but its \
         program reads only {}.",
        share * 100.0,
        closed * 100.0,
        bytes_text(most.0),
        rtt_text(rtt),
        bits_text(full.bits()),
        bits_text(evidence.rate.bits()),
    );
    Some(verdict(
        Limit::RwndReader,
        Side::PeerApp,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
