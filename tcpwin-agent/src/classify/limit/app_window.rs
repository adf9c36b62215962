//! `app_window`: a window of the protocol above TCP (HTTP/2, SSH, a fixed number of requests under way) is what is full.
//!
//! The program sends as soon as the peer's word comes, always up to the same amount, while part of it is still on the way. Where
//! nothing is on the way any more it is a request and its answer: `turns`.

use super::verdict;
use crate::classify::advice::{self, Ask};
use crate::classify::evidence::{Bursts, Evidence};
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, Micros, bits_text, bytes_text, rtt_text};

/// Bursts from which a window can be told.
const FEWEST: u32 = 3;
/// Most that the peaks of the bursts may vary (standard deviation ÷ mean) for their mean to be the window.
const STEADY: f64 = 0.05;
/// Bytes of a word that grants and asks for nothing: a WINDOW_UPDATE frame or a channel's window adjustment in its record.
const GRANT: f64 = 64.0;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let bursts = evidence.bursts()?;
    let rtt = evidence.srtt?;
    if bursts.count < FEWEST || bursts.prompted_share < 0.7 || !is_granted(&bursts) {
        return None;
    }
    let rate = evidence.steady_rate();
    // Where grants overtake each other, a burst is a part of the window: what a round trip carries is all of it.
    let window = if bursts.peak_cv < STEADY && bursts.in_flight_share >= 0.5 {
        Bytes(bursts.peak as u64)
    } else {
        rate.bdp(rtt)
    };
    // A window takes the round trip of its last byte to come back. Much more or less: the program has a pace of its own.
    let round = Micros((window.0 as f64 / rate.0.max(1.0) * 1e6) as u32);
    if !(0.8..=1.4).contains(&(round.seconds() / rtt.seconds())) {
        return None;
    }
    let ceiling = ledger::window(Limit::AppWindow, window, round, "protocol window")?;
    let ask = Ask {
        burst: Some(window),
        ..Ask::of(evidence)
    };
    let known = advice::name_of_window(window.0).map_or_else(String::new, |name| format!(" ({name})"));
    let proof = format!(
        "The program had up to {}{known} on the way and went on each time its peer's word came ({:.0} B), with {} still unanswered: a \
         window of the protocol above TCP. ÷ {}, in which its last byte is answered, it allows {}.",
        exact(window),
        bursts.word_size,
        bytes_text(bursts.at_prompt as u64),
        rtt_text(round),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::AppWindow,
        Side::PeerApp,
        evidence.confidence(evidence.free()),
        Some(ceiling),
        proof,
        Some(ask),
    ))
}

/// A request finds everything answered; a grant finds the rest of the window on the way, or comes in several small words.
fn is_granted(bursts: &Bursts) -> bool {
    bursts.in_flight_share >= 0.5
        || (bursts.word_size <= GRANT && (bursts.in_flight_share > 0.1 || bursts.words >= 1.5))
}

/// A window to be recognised is shown to the byte.
fn exact(window: Bytes) -> String {
    if window.0 < 1 << 20 {
        format!("{} B", window.0)
    } else {
        bytes_text(window.0)
    }
}
