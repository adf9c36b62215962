//! `sndbuf`: the writer is blocked on buffer space while cwnd and the peer's window have room.
//!
//! Told by the blocked writer (SOCK_NOSPACE), not by the fill of the buffer: a program that waits for the peer's word looks the
//! same otherwise, and the kernel's own `sndbuf_limited` reads 0–4 % where this is 100 % true.

use tcpwin_common::BUDGET_SNDBUF;

use super::{round_up, verdict};
use crate::classify::evidence::{Evidence, Shares};
use crate::classify::{Limit, Remedy, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

/// The buffer an engineer asks for when nobody says how fast the path is: ten times what it holds now.
const GROWTH: u64 = 10;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.share(BUDGET_SNDBUF);
    let rtt = evidence.byte_rtt()?;
    let flight = evidence.flight(BUDGET_SNDBUF)?;
    let tcp = &evidence.interval.tcp;
    if evidence.origin == Shares::Guessed && tcp.sndbuf_locked != Some(true) && share < 0.5 {
        return None;
    }
    let ceiling = ledger::window(
        Limit::Sndbuf,
        flight,
        rtt,
        "in flight while the writer is blocked",
    )?;
    let locked = tcp.sndbuf_locked == Some(true);
    let at_max = evidence
        .context
        .tcp_wmem_max
        .zip(tcp.sndbuf)
        .is_some_and(|(most, now)| u64::from(now) >= most);
    let sndbuf = tcp
        .sndbuf
        .map_or_else(|| "unknown size".to_owned(), |bytes| bytes_text(u64::from(bytes)));
    let why_small = if locked {
        "set by SO_SNDBUF, so autotuning is off"
    } else if at_max {
        "at tcp_wmem[2]"
    } else {
        "held down by the kernel"
    };
    let proof = format!(
        "The writer was blocked on buffer space {:.0} % of the time with {} in flight, while cwnd ({} segments) and the peer's window \
         ({}) had room: the send buffer of {sndbuf} ({why_small}) ÷ {} allows {}.",
        share * 100.0,
        bytes_text(flight.0),
        tcp.cwnd.unwrap_or(0),
        bytes_text(u64::from(tcp.snd_wnd.unwrap_or(0))),
        rtt_text(rtt),
        bits_text(ceiling.rate.bits()),
    );
    let target = evidence
        .context
        .path
        .map_or(Bytes(flight.0.saturating_mul(GROWTH)), |path| path.rate.bdp(rtt));
    // Twice the payload: the kernel charges the buffer for its own records too.
    let size = round_up(target.0.saturating_mul(2));
    let why = format!(
        "{} in flight over {} need a buffer of twice that",
        bytes_text(target.0),
        rtt_text(rtt)
    );
    let (side, remedies) = if locked {
        let drop = Remedy::new(
            Side::LocalApp,
            "remove the program's setsockopt(SO_SNDBUF)",
            "autotuning then grows the buffer with cwnd, up to tcp_wmem[2]",
        );
        let raise = Remedy::new(
            Side::LocalApp,
            format!("setsockopt(SO_SNDBUF, {})", size / 2),
            why,
        );
        (Side::LocalApp, vec![drop, raise])
    } else {
        let change = format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {size}\"");
        (
            Side::LocalKernel,
            vec![Remedy::new(Side::LocalKernel, change, why)],
        )
    };
    Some(verdict(
        Limit::Sndbuf,
        side,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        remedies,
    ))
}
