//! Nothing waits: idle, healthy, or the program's own pace. One look cannot tell a program that waits for its peer from one that is done.

use super::{ms_text, verdict};
use crate::classify::advice::name_of_window;
use crate::classify::{Direction, Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{bits_text, bytes_text};

/// Bytes over a life that are too few to look at.
const LITTLE: u64 = 100_000;
/// Since when nothing has moved on an idle connection, ms.
const STILL_MS: u64 = 1_000;
/// Most that a stream at its own pace has waiting.
const TRICKLE: u64 = 16_384;

/// Nothing is queued in either direction.
pub fn nothing_queued(figures: &Figures<'_>) -> Option<Verdict> {
    let ss = &figures.now.ss;
    if ss.send_q != Some(0) || ss.recv_q.is_some_and(|bytes| bytes > 65_536) {
        return None;
    }
    let is_still = |ms: Option<u64>| ms.is_some_and(|ms| ms >= STILL_MS);
    if !ss.has_info {
        let proof = "Nothing is queued in either direction; without `-i` no more can be seen.".to_owned();
        return Some(none(figures, 0.5, proof));
    }
    if let Some(ms) = ss
        .lastsnd_ms
        .zip(ss.lastrcv_ms)
        .map(|(sent, received)| sent.min(received))
        && ms >= STILL_MS
    {
        if let Some(waits) = figures
            .mate
            .and_then(|mate| mate.ss.send_q)
            .filter(|bytes| *bytes > 0)
        {
            let proof = format!(
                "Nothing has moved here for {}, while the other end has {} to send: what holds them is told there.",
                ms_text(ms),
                bytes_text(waits)
            );
            return Some(Verdict::unknown(Direction::Receive, proof));
        }
        let proof = format!(
            "Idle: all is acknowledged, nothing is unread, and no data has moved for {}.{}",
            ms_text(ms),
            if figures.direction == Direction::Receive {
                " Should the peer be sending, what holds it is seen at its end."
            } else {
                ""
            }
        );
        return Some(none(figures, 0.9, proof));
    }
    let totals = &figures.now.totals;
    let sent = totals.bytes_acked.unwrap_or(0);
    let received = totals.bytes_received.unwrap_or(0);
    if figures.direction == Direction::Receive && received >= LITTLE && !is_still(ss.lastrcv_ms) {
        return Some(receiving(figures));
    }
    if figures.direction == Direction::Send && sent >= LITTLE && ss.lastsnd_ms.is_some_and(|ms| ms < STILL_MS)
    {
        let proof = format!(
            "All {} are acknowledged and nothing waits at this moment: no window holds the connection, the program offers no more. Whether it waits for \
             its peer's word each time, one look cannot tell.",
            bytes_text(sent)
        );
        return Some(verdict(figures, Limit::App, Side::LocalApp, 0.4, None, proof));
    }
    // Where data moved a moment ago a pause between turns looks the same.
    let is_active = [ss.lastsnd_ms, ss.lastrcv_ms]
        .into_iter()
        .flatten()
        .any(|ms| ms < STILL_MS);
    let proof = "All is acknowledged and nothing is unread: healthy, with little to carry.".to_owned();
    Some(none(figures, if is_active { 0.45 } else { 0.7 }, proof))
}

/// This end takes what comes.
fn receiving(figures: &Figures<'_>) -> Verdict {
    let reads = if figures.now.ss.recv_q == Some(0) {
        "nothing is unread, so the program keeps up"
    } else {
        "little is unread"
    };
    let proof = format!(
        "This end receives{} and {reads}: what holds the sender, if anything does, is seen at its end.",
        figures
            .rate
            .map_or_else(String::new, |rate| format!(" {}", bits_text(rate.rate.bits()))),
    );
    Verdict::unknown(Direction::Receive, proof)
}

fn none(figures: &Figures<'_>, confidence: f64, proof: String) -> Verdict {
    Verdict {
        confidence,
        ..Verdict::none(figures.direction, proof)
    }
}

/// All that was written is on its way.
pub fn all_sent(figures: &Figures<'_>) -> Option<Verdict> {
    let out = figures.outstanding()?;
    let segments = figures.tcp().packets_out?;
    if figures.is_waiting() || segments == 0 {
        return None;
    }
    if figures.direction == Direction::Receive && figures.now.totals.bytes_received.unwrap_or(0) >= LITTLE {
        return Some(receiving(figures));
    }
    let is_clean = figures.tcp().lost.unwrap_or(0) == 0 && figures.tcp().retrans_out.unwrap_or(0) == 0;
    if segments <= 2 && is_clean && figures.timeouts() < 2 {
        let text = bytes_text(out);
        let acked = figures.now.totals.bytes_acked.unwrap_or(0);
        if acked < LITTLE && figures.busy_rounds().is_none_or(|rounds| rounds < 30.0) {
            let proof = format!("{text} are on their way and nothing waits: too little for any limit.");
            return Some(none(figures, 0.6, proof));
        }
        let proof = format!(
            "{text} are on their way and nothing waits: no window holds the connection, the program offers so little at a time. Whether it waits for its \
             peer, or writes less than a segment at once, one look cannot tell."
        );
        return Some(verdict(figures, Limit::App, Side::LocalApp, 0.4, None, proof));
    }
    let named = name_of_window(out).map_or_else(String::new, |name| format!(" {out} B is {name}."));
    let proof = format!(
        "Everything written is on its way ({}) and nothing waits: the program offers no more, waits for its peer's word, or is blocked on the send \
         buffer; one look cannot tell which.{named}",
        bytes_text(out),
    );
    Some(Verdict::unknown(figures.direction, proof))
}

/// What waits is gone within a moment at the connection's own long-run rate: a stream that is as fast as its program.
pub fn trickle(figures: &Figures<'_>) -> Option<Verdict> {
    let backlog = figures.backlog()?;
    let busy = figures.now.ss.busy_us?;
    let is_clean = figures.loss.is_none_or(|share| share < 0.01) && figures.timeouts() < 2;
    let is_small = figures.unsent() <= TRICKLE && backlog < 0.2;
    let is_slow = figures.rate.is_some_and(|rate| rate.rate.bits() < 10e6);
    let answers = figures.now.ss.lastack_ms.is_some_and(|ms| ms < STILL_MS);
    if !is_clean || !is_small || !is_slow || !answers || busy < 30_000_000 || figures.rwnd? >= 0.6 {
        return None;
    }
    let share = figures.rwnd.unwrap_or(0.0);
    let window = if share > 0.1 {
        format!(
            " The peer's window is full {:.0} % of the time, as back-pressure of a reader that takes what comes.",
            share * 100.0
        )
    } else {
        String::new()
    };
    let proof = format!(
        "A steady stream of {}: what waits, {}, is gone within {:.0} ms at that rate, and the peer answers. It carries what the program produces.{window}",
        figures.rate_text(),
        bytes_text(figures.unsent()),
        backlog * 1e3,
    );
    Some(none(figures, 0.6, proof))
}
