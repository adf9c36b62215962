//! `app_window`: a window of the protocol above TCP (HTTP/2, SSH, a fixed number of requests under way) is what is full.
//!
//! The program sends as soon as the peer's word comes, always up to the same amount, while part of it is still on the way. Where
//! nothing is on the way any more it is a request and its answer: `turns`.

use super::verdict;
use crate::classify::advice::{self, Ask};
use crate::classify::evidence::Evidence;
use crate::classify::{Limit, Side, Verdict, ledger};
use crate::units::{Bytes, Micros, bits_text, bytes_text, rtt_text};

/// Bursts from which a window can be told.
const FEWEST: u32 = 3;
/// Most that the peaks of the bursts may vary (standard deviation ÷ mean). A program at its own pace shows about 0.5.
const STEADY: f64 = 0.15;

pub(in crate::classify) fn tell(evidence: &Evidence<'_>) -> Option<Verdict> {
    let bursts = evidence.bursts()?;
    let rtt = evidence.srtt?;
    if bursts.count < FEWEST
        || bursts.in_flight_share < 0.5
        || bursts.peak_cv > STEADY
        || bursts.prompted_share < 0.7
    {
        return None;
    }
    let window = Bytes(bursts.peak as u64);
    // A window takes the round trip of its last byte to come back. Much more or less: the program has a pace of its own.
    let round = Micros((bursts.peak / evidence.rate.0.max(1.0) * 1e6) as u32);
    if !(0.75..=1.4).contains(&(round.seconds() / rtt.seconds())) {
        return None;
    }
    let ceiling = ledger::window(Limit::AppWindow, window, round, "protocol window")?;
    let known = advice::name_of_window(window.0).map_or_else(String::new, |name| format!(" ({name})"));
    let proof = format!(
        "The program sent up to {}{known} at a time and went on when its peer's word came, with {} still on the way: a window of the protocol \
         above TCP, the same in {} bursts (± {:.0} %). ÷ {}, in which its last byte is answered, it allows {}.",
        exact(window),
        bytes_text(bursts.at_prompt as u64),
        bursts.count,
        bursts.peak_cv * 100.0,
        rtt_text(round),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        Limit::AppWindow,
        Side::PeerApp,
        evidence.confidence(evidence.free()),
        Some(ceiling),
        proof,
        advice::app_window(&Ask::of(evidence)),
    ))
}

/// A window to be recognised is shown to the byte.
fn exact(window: Bytes) -> String {
    if window.0 < 1 << 20 {
        format!("{} B", window.0)
    } else {
        bytes_text(window.0)
    }
}
