//! `rcvbuf` and `reader`: this host receives, and the window it offers is what holds the peer.
//!
//! A window ÷ round trip that is what comes in, with the program reading all at once: the buffer is small. Most of the buffer taken
//! by what the program has not read: the program is slow.

use super::receiving;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict, ledger};
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

/// Share of the buffer that waits for the program from which the program is the cause.
const UNREAD: f64 = 0.5;
/// Intervals in a row at the same rate from which a window that tunes itself has stopped growing.
const STEADY: u32 = 4;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    reader(evidence).or_else(|| rcvbuf(evidence))
}

fn reader(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let unread = unread(evidence)?;
    let offered = u64::from(tcp.rcv_wnd?);
    let share = unread.0 as f64 / (unread.0 + offered).max(1) as f64;
    if share < UNREAD {
        return None;
    }
    let ceiling = Ceiling {
        limit: Limit::Reader,
        rate: evidence.rate,
        formula: "the rate at which this program reads".to_owned(),
    };
    let proof = format!(
        "{} had come that the program had not read, {:.0} % of what the receive buffer holds: it reads {}, and the window of {} that is \
         left holds the peer.",
        bytes_text(unread.0),
        share * 100.0,
        bits_text(evidence.rate.bits()),
        bytes_text(offered),
    );
    Some(receiving(
        Limit::Reader,
        Side::LocalApp,
        evidence.confidence(0.5 + share / 2.0),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}

/// On average when data came; where nobody keeps that, now.
fn unread(evidence: &Evidence<'_>) -> Option<Bytes> {
    let now = || evidence.interval.tcp.unread.map(|bytes| Bytes(u64::from(bytes)));
    evidence.interval.unread.or_else(now)
}

fn rcvbuf(evidence: &Evidence<'_>) -> Option<Verdict> {
    let tcp = &evidence.interval.tcp;
    let window = Bytes(u64::from(tcp.rcv_wnd.filter(|bytes| *bytes > 0)?));
    let rtt = evidence.receiver_rtt()?;
    let ceiling = ledger::window(Limit::Rcvbuf, window, rtt, "our receive window")?;
    // What a slow program leaves unread holds the window down as well. One look sees but a moment of it.
    if evidence.interval.unread.is_none() && unread(evidence).is_some_and(|unread| unread.0 * 4 > window.0) {
        return None;
    }
    let full = evidence.steady_rate().0 / ceiling.rate.0;
    if !(0.8..=1.25).contains(&full) {
        return None;
    }
    let locked = tcp.rcvbuf_locked == Some(true);
    let unscaled = tcp.wscale_ok == Some(false) && window.0 > 60_000;
    let steady = evidence
        .interval
        .recent
        .as_ref()
        .is_some_and(|recent| recent.intervals >= STEADY && recent.receive_cv < 0.15);
    let at_most = evidence.context.around.tcp_rmem.zip(tcp.rcvbuf);
    let at_most = at_most.is_some_and(|(sizes, now)| u64::from(now) >= sizes.max);
    if !locked && !unscaled && !at_most && !steady {
        return None;
    }
    let why = if locked {
        "set by SO_RCVBUF, so autotuning is off"
    } else if unscaled {
        "no window scaling was agreed on"
    } else if at_most {
        "at tcp_rmem[2]"
    } else {
        "which grows no more"
    };
    let proof = format!(
        "What comes in, {}, is our receive window of {} ({why}) ÷ {}, and the program reads all of it at once: the window holds the peer.",
        bits_text(evidence.rate.bits()),
        bytes_text(window.0),
        rtt_text(rtt),
    );
    let side = if locked { Side::LocalApp } else { Side::LocalKernel };
    Some(receiving(
        Limit::Rcvbuf,
        side,
        evidence.confidence(0.9 - (full - 1.0).abs()),
        Some(ceiling),
        proof,
        Some(Ask::of(evidence)),
    ))
}
