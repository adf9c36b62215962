//! Everything written is on its way, and it has been like that: what is in flight now is what the average rate over the busy time keeps in
//! flight (Little's law). Then the totals of a life tell what one look cannot, by what came in meanwhile.
//!
//! Nothing came in, and the send buffer is full: it holds the writer, since there was no word to wait for. One segment came in for each
//! round trip: a request each, answered and waited for. Several came in for each: credits of a window above TCP.

use super::{verdict, window};
use crate::classify::advice::name_of_window;
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{bits_text, bytes_text};

/// What a steady life looks like.
struct Steady {
    /// In flight now, bytes.
    out: f64,
    /// The average rate keeps about that in flight.
    is_kept: bool,
    /// Inbound segments with data.
    words: f64,
    /// Acknowledged bytes for each.
    per_word: f64,
    /// Busy round trips for each.
    rounds_per_word: f64,
}

/// What the totals tell.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let steady = steady(figures)?;
    full_buffer(figures, &steady)
        .or_else(|| turns(figures, &steady))
        .or_else(|| credits(figures, &steady))
}

fn steady(figures: &Figures<'_>) -> Option<Steady> {
    let tcp = figures.tcp();
    let out = figures
        .outstanding()
        .filter(|bytes| *bytes >= 2 * u64::from(tcp.mss.unwrap_or(1448)))? as f64;
    let acked = figures.now.totals.bytes_acked? as f64;
    let rounds = figures.busy_rounds().filter(|rounds| *rounds >= 20.0)?;
    let has_room = figures.cwnd_bytes().is_some_and(|cwnd| cwnd as f64 > out * 1.2)
        && tcp.snd_wnd.is_none_or(|window| f64::from(window) > out * 1.2);
    let is_clean = figures.loss.is_none_or(|share| share < 0.001) && tcp.ssthresh.is_none();
    let is_direct = !figures.is_queueing(1.3) && figures.rwnd.is_none_or(|share| share < 0.1);
    if !has_room || !is_clean || !is_direct {
        return None;
    }
    let words = f64::from(figures.now.ss.data_segs_in?);
    let kept = acked / rounds;
    Some(Steady {
        out,
        words,
        is_kept: kept > out * 0.8 && kept < out * 1.1,
        per_word: acked / words.max(1.0),
        rounds_per_word: rounds / words.max(1.0),
    })
}

/// A blocked writer looks like one that waits for its peer's word, but there was no word.
fn full_buffer(figures: &Figures<'_>, steady: &Steady) -> Option<Verdict> {
    let tcp = figures.tcp();
    let (held, size) = tcp.wmem_queued.zip(tcp.sndbuf)?;
    if !steady.is_kept || steady.words > 2.0 || u64::from(held) * 100 < u64::from(size) * 95 {
        return None;
    }
    let ceiling = window(Limit::Sndbuf, steady.out as u64, figures.srtt(), "in flight");
    let allows = ceiling.as_ref().map_or_else(String::new, |ceiling| {
        format!("{} = {}", ceiling.formula, bits_text(ceiling.rate.bits()))
    });
    let proof = format!(
        "The send buffer of {} is full ({} with its records), nothing is unsent, cwnd and the peer's window have room, and no data comes in that the \
         program could wait for: the buffer holds the writer. {allows}, as the average of its busy time. The kernel's sndbuf_limited does not see \
         this.",
        bytes_text(u64::from(size)),
        bytes_text(u64::from(held)),
    );
    Some(verdict(
        figures,
        Limit::Sndbuf,
        Side::LocalKernel,
        0.65,
        ceiling,
        proof,
    ))
}

/// One inbound segment a round trip, and no more on its way than what each is answered with.
fn turns(figures: &Figures<'_>, steady: &Steady) -> Option<Verdict> {
    let is_one_each = (0.75..=1.4).contains(&steady.rounds_per_word) && steady.words >= 20.0;
    if !is_one_each || steady.out > steady.per_word * 1.1 || !is_prompted(figures) {
        return None;
    }
    let ceiling = window(
        Limit::Turns,
        steady.per_word as u64,
        figures.srtt(),
        "an answer of",
    );
    let proof = format!(
        "{:.0} segments came in during {:.0} busy round trips, each answered with {} on average, and no more than one answer is on its way: one \
         answer a round trip. No window is full.",
        steady.words,
        steady.words * steady.rounds_per_word,
        bytes_text(steady.per_word as u64),
    );
    Some(verdict(
        figures,
        Limit::Turns,
        Side::LocalApp,
        0.6,
        ceiling,
        proof,
    ))
}

/// Several inbound segments a round trip while a constant amount is in flight: the amount is a window's that somebody knows by name, or a
/// small multiple of what each segment lets go.
fn credits(figures: &Figures<'_>, steady: &Steady) -> Option<Verdict> {
    if !steady.is_kept || steady.words < 30.0 || steady.rounds_per_word > 0.7 || !is_prompted(figures) {
        return None;
    }
    let name = name_of_window(steady.out as u64);
    let multiple = steady.out / steady.per_word;
    let is_multiple = multiple < 4.5 && (multiple / multiple.round() - 1.0).abs() < 0.01;
    if name.is_none() && !is_multiple {
        return None;
    }
    let named = name.map_or_else(String::new, |name| format!(", {name}"));
    let ceiling = window(Limit::AppWindow, steady.out as u64, figures.srtt(), "in flight");
    let proof = format!(
        "{} are in flight{named}, as on average over the busy time, with room in cwnd and the peer's window and nothing unsent, while {:.0} small \
         segments came in, one for each {}: a window of the protocol above TCP that the peer's word opens.",
        bytes_text(steady.out as u64),
        steady.words,
        bytes_text(steady.per_word as u64),
    );
    Some(verdict(
        figures,
        Limit::AppWindow,
        Side::PeerApp,
        0.6,
        ceiling,
        proof,
    ))
}

/// Data came in lately, and in small segments.
fn is_prompted(figures: &Figures<'_>) -> bool {
    let ss = &figures.now.ss;
    let lately = figures.srtt().map_or(200, |rtt| u64::from(rtt.0) / 500).max(200);
    let size = figures
        .now
        .totals
        .bytes_received
        .zip(ss.data_segs_in)
        .map(|(bytes, count)| bytes / u64::from(count.max(1)));
    ss.lastrcv_ms.unwrap_or(0) <= lately && size.is_some_and(|size| size < 1_000)
}
