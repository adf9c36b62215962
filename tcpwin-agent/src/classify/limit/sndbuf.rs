//! `sndbuf`: the writer is blocked on buffer space while cwnd and the peer's window have room.
//!
//! Told by the blocked writer (SOCK_NOSPACE), not by the fill of the buffer: a program that waits for the peer's word looks the
//! same otherwise, and the kernel's own `sndbuf_limited` reads 0–4 % where this is 100 % true.

use tcpwin_common::BUDGET_SNDBUF;

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::{Evidence, Shares};
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{bits_text, bytes_text, rtt_text};

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
    let side = if locked { Side::LocalApp } else { Side::LocalKernel };
    Some(verdict(
        Limit::Sndbuf,
        side,
        evidence.confidence(share),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
