//! `small_writes`: writes smaller than a segment. Nagle's rule holds the rest of an answer back until the peer's delayed ACK comes,
//! or each of very many writes costs a system call.

use super::verdict;
use crate::classify::advice::Ask;
use crate::classify::evidence::Evidence;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::units::{Bytes, BytesPerSec, bits_text, bytes_text, rtt_text};

/// Share of time under Nagle's rule from which it is the cause.
const MUCH: f64 = 0.25;
/// Writes a second from which their number is the cost: at about 2 µs each.
const MANY: f64 = 20_000.0;
/// A write that large carries its own cost.
const SMALL: u64 = 16 * 1024;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    nagle(evidence).or_else(|| calls(evidence))
}

/// Less than a segment waits for the ACK of what went before.
fn nagle(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.interval.nagle?;
    let calls = evidence.interval.calls?;
    let rtt = evidence.srtt?;
    if share < MUCH || calls.sends == 0 {
        return None;
    }
    let size = calls.sent_bytes / calls.sends;
    if size >= u64::from(evidence.mss) {
        return None;
    }
    let waits = u64::from(calls.resumes.max(1));
    let wait_ms = share * evidence.interval.span.seconds() * 1e3 / waits as f64;
    let proof = format!(
        "Writes of {} on average: {:.0} % of the time less than a segment waited for the ACK of the one before (Nagle), {wait_ms:.0} ms \
         each at a round trip of {}; a peer that delays its ACKs adds 40 ms.",
        bytes_text(size),
        share * 100.0,
        rtt_text(rtt),
    );
    let ask = Ask {
        nagle: true,
        ..Ask::of(evidence)
    };
    // Without the wait, the same turns in the rest of the time.
    let rate = BytesPerSec(evidence.rate.0 / (1.0 - share.min(0.95)));
    let mut told = verdict(
        Limit::SmallWrites,
        Side::LocalApp,
        evidence.confidence(0.5 + share / 2.0),
        None,
        proof,
        Some(ask),
    );
    told.next = rate.0.is_finite().then(|| Ceiling {
        limit: Limit::Turns,
        rate,
        formula: format!("the same turns without the {wait_ms:.0} ms of waiting"),
    });
    Some(told)
}

/// Very many writes of one small size.
fn calls(evidence: &Evidence<'_>) -> Option<Verdict> {
    let calls = evidence.interval.calls?;
    let per_second = calls.sends as f64 / evidence.interval.span.seconds();
    let size = calls.sent_bytes.checked_div(calls.sends)?;
    let is_fixed = u64::from(calls.send_max) * 100 <= size * 102;
    if per_second < MANY || size >= SMALL || !is_fixed {
        return None;
    }
    let per_mb = Bytes(1_000_000).0.checked_div(size.max(1))?;
    let proof = format!(
        "{per_second:.0} writes a second of {size} B each ({per_mb} per MB), and no window full: the program's system calls make {}.",
        bits_text(evidence.rate.bits()),
    );
    let ask = Ask {
        nagle: false,
        ..Ask::of(evidence)
    };
    Some(verdict(
        Limit::SmallWrites,
        Side::LocalApp,
        evidence.confidence(evidence.free()),
        None,
        proof,
        Some(ask),
    ))
}
