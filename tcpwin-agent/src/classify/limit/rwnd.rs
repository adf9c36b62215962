//! `rwnd`: data waits because the peer's receive window is full, and the window is constant.

use tcpwin_common::BUDGET_RWND;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.share(BUDGET_RWND);
    let rtt = evidence.srtt?;
    let window = Bytes(u64::from(
        evidence.interval.tcp.snd_wnd.filter(|bytes| *bytes > 0)?,
    ));
    let ceiling = ledger::window(Limit::Rwnd, window, rtt, "peer's window")?;
    let proof = format!(
        "The peer's receive window of {} was full {:.0} % of the time: ÷ {} it allows {}.",
        bytes_text(window.0),
        share * 100.0,
        rtt_text(rtt),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::Rwnd,
        Side::PeerKernel,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
