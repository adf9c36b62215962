//! `rwnd`: data waits because the peer's receive window is full, and the window is constant.

use tcpwin_common::BUDGET_RWND;

use super::{round_up, verdict};
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Remedy, Side, Verdict, ledger};
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
    let target = evidence
        .context
        .path
        .map_or(Bytes(window.0.saturating_mul(10)), |path| path.rate.bdp(rtt));
    let size = round_up(target.0.saturating_mul(2));
    let remedies = vec![
        Remedy::new(
            Side::PeerApp,
            "on the peer: remove its program's setsockopt(SO_RCVBUF), set before connect or listen",
            "a set buffer switches the window's autotuning off",
        ),
        Remedy::new(
            Side::PeerKernel,
            format!("on the peer: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {size}\""),
            format!(
                "a window of {} over {} needs about twice that in buffer",
                bytes_text(target.0),
                rtt_text(rtt)
            ),
        ),
    ];
    Some(verdict(
        Limit::Rwnd,
        Side::PeerKernel,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        remedies,
    ))
}
