//! `rwnd_scale`: the peer's window stands at 65,535 shifted by the scale agreed on (RFC 7323, section 2), and the scale is low or
//! none.

use tcpwin_common::BUDGET_RWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, rtt_text};

/// A shift above which the scale itself is no narrow place: 65,535 << 7 is 8.4 MB.
const LOW_SCALE: u8 = 6;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    tcp.wscale_ok?;
    let scale = tcp.snd_wscale.unwrap_or(0);
    let most = 65_535u64 << scale.min(14);
    let offered = u64::from(tcp.max_window.or(tcp.snd_wnd)?);
    // Offered in full; without scaling a window close to the 16-bit field is meant to be as large as can be said.
    let is_full = offered * 100 >= most * if tcp.wscale_ok == Some(false) { 90 } else { 97 };
    if scale > LOW_SCALE || !is_full {
        return None;
    }
    let share = evidence.share(BUDGET_RWND);
    let rtt = evidence.srtt?;
    let ceiling = ledger::window(
        Limit::RwndScale,
        Bytes(u64::from(tcp.snd_wnd.unwrap_or(0)).max(1)),
        rtt,
        "peer's window",
    )?;
    let agreed = if tcp.wscale_ok == Some(false) {
        "no window scaling was agreed on".to_owned()
    } else {
        format!("the peer's window scale is only {scale}")
    };
    let proof = format!(
        "The peer's window of {} B, all that 16 bits can say ({agreed}), was full {:.0} % of the time: ÷ {} it allows {}.",
        offered,
        share * 100.0,
        rtt_text(rtt),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::RwndScale,
        Side::PeerKernel,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
