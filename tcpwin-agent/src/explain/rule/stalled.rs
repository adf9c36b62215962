//! Nothing is acknowledged and the retransmission timer backs off: a dead path, one that swallows full segments, or a peer without room.

use super::{ms_text, verdict};
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::bytes_text;

/// An IPv4 header, a TCP header and the timestamps.
const HEADERS: u32 = 52;

/// A timer that backs off.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let timeouts = figures.timeouts();
    if timeouts < 2 || !figures.has_outstanding() || figures.has_progress() {
        return None;
    }
    // A lossy path has two or three timeouts in a row now and then.
    if timeouts < 4 && figures.loss.is_some_and(|share| share > 0.03) {
        return None;
    }
    silly_window(figures)
        .or_else(|| hole(figures))
        .or_else(|| shrunk_mss(figures))
        .or_else(|| mtu_blackhole(figures))
        .or_else(|| Some(dead(figures)))
}

fn timeouts_text(figures: &Figures<'_>) -> String {
    let next = figures.now.ss.rto_us.map_or_else(String::new, |rto| {
        format!(", the timer at {}", ms_text(rto / 1000))
    });
    format!("{} timeouts in a row{next}", figures.timeouts())
}

/// The window offered holds less than two segments: the receiver drops what it has no memory for.
fn silly_window(figures: &Figures<'_>) -> Option<Verdict> {
    let (window, mss) = figures.tcp().snd_wnd.zip(figures.tcp().mss)?;
    let share = figures.rwnd?;
    if window == 0 || window >= 2 * mss || share < 0.5 {
        return None;
    }
    let granule = figures
        .tcp()
        .snd_wscale
        .map(|scale| 1u32 << scale.min(14))
        .filter(|granule| *granule == window);
    let why = granule.map_or_else(String::new, |granule| {
        format!(", one unit of its scale ({granule} B), which it can neither shrink nor fill")
    });
    let proof = format!(
        "The peer offers {window} B{why}, less than two segments of {mss} B, and its window was full {:.1} % of the busy time: what is sent \
         into it is dropped there ({}). It is no loss on the path.",
        share * 100.0,
        timeouts_text(figures),
    );
    Some(verdict(figures, Limit::Rwnd, Side::PeerKernel, 0.7, None, proof))
}

/// All but a hole arrived, the peer answers, and still the hole is not filled: it has no room for what is missing.
fn hole(figures: &Figures<'_>) -> Option<Verdict> {
    let tcp = figures.tcp();
    let (out, sacked) = tcp.packets_out.zip(tcp.sacked)?;
    let missing = out.checked_sub(sacked)?;
    let answers = figures
        .silence_ms()
        .zip(figures.now.ss.rto_us)
        .is_some_and(|(silence, rto)| silence * 2_000 < rto);
    if sacked == 0 || missing == 0 || missing > tcp.lost?.max(1) || !answers {
        return None;
    }
    let full = figures
        .mate
        .and_then(Figures::rcvbuf_fill)
        .filter(|fill| *fill > 0.8);
    let (confidence, told) = match (full, tcp.snd_wnd) {
        (Some(fill), _) => (
            0.85,
            format!("the peer's receive buffer is {:.0} % full", fill * 100.0),
        ),
        (None, Some(0)) => (0.7, "its window is shut".to_owned()),
        _ => (0.4, "it drops what would fill the hole".to_owned()),
    };
    let proof = format!(
        "{sacked} of {out} segments arrived beyond a hole of {missing}, the peer answers ({} ago), and the hole is not filled after {}: {told}. \
         The kernel's rwnd_limited does not count this, since the sender is in recovery.",
        ms_text(figures.silence_ms().unwrap_or(0)),
        timeouts_text(figures),
    );
    Some(verdict(
        figures,
        Limit::Rwnd,
        Side::PeerKernel,
        confidence,
        None,
        proof,
    ))
}

/// MTU probing took losses for a small MTU.
fn shrunk_mss(figures: &Figures<'_>) -> Option<Verdict> {
    let (mss, pmtu) = figures.tcp().mss.zip(figures.now.ss.pmtu)?;
    if mss * 2 + HEADERS > pmtu || mss > 536 {
        return None;
    }
    let was = figures
        .rwnd
        .filter(|share| *share > 0.5)
        .map_or_else(String::new, |share| {
            format!(
                " Before, the peer's window was full {:.1} % of the busy time.",
                share * 100.0
            )
        });
    let proof = format!(
        "MSS {mss} under a path MTU of {pmtu}: MTU probing took losses for a black hole and shrank it; now {} with data outstanding. The \
         connection is as good as dead.{was}",
        timeouts_text(figures),
    );
    let mut told = verdict(figures, Limit::Stalled, Side::LocalKernel, 0.8, None, proof);
    if let Some(ask) = &mut told.ask {
        ask.shrunk_below = Some(pmtu);
    }
    Some(told)
}

/// What is sent again is of full size, and small segments passed before.
fn mtu_blackhole(figures: &Figures<'_>) -> Option<Verdict> {
    let ss = &figures.now.ss;
    let retransmits = figures.now.totals.retransmits.filter(|count| *count >= 4)?;
    let size = ss.bytes_retrans? / u64::from(retransmits);
    let out = figures.tcp().packets_out.filter(|out| *out >= 4)?;
    let full = u64::from(figures.tcp().mss.unwrap_or(1_000));
    let acked = figures.now.totals.bytes_acked;
    // Where full segments were delivered before, the path was whole for them.
    let mean = acked
        .zip(figures.now.totals.delivered.filter(|count| *count > 0))
        .map(|(bytes, count)| bytes / u64::from(count));
    let small_passed =
        ss.lastrcv_ms.is_some() || figures.now.totals.bytes_received.is_some_and(|bytes| bytes > 0);
    let is_much = figures.loss.is_some_and(|share| share > 0.3);
    if size * 10 < full * 9 || mean.is_some_and(|mean| mean * 2 > full) || !small_passed || !is_much {
        return None;
    }
    let proof = format!(
        "{} with {out} segments outstanding; what is sent again has {size} B a segment and makes {:.0} % of all bytes sent, while small data \
         passed before: full-size packets do not get through, or the path is dead.",
        timeouts_text(figures),
        figures.loss.unwrap_or(0.0) * 100.0,
    );
    Some(verdict(
        figures,
        Limit::MtuBlackhole,
        Side::Path,
        0.6,
        None,
        proof,
    ))
}

fn dead(figures: &Figures<'_>) -> Verdict {
    let silence = figures
        .silence_ms()
        .map_or_else(String::new, |ms| format!(" for {}", ms_text(ms)));
    let outstanding = figures.outstanding().filter(|bytes| *bytes > 0);
    let what = outstanding.map_or_else(|| "data".to_owned(), bytes_text);
    let waiting = match figures.unsent() {
        0 => String::new(),
        bytes => format!(" and {} more waiting", bytes_text(bytes)),
    };
    let growing = figures.earlier.is_some_and(|earlier| {
        earlier
            .tcp
            .unsent
            .is_some_and(|before| u64::from(before) < figures.unsent())
    });
    let unaware = if growing {
        " The program goes on writing: it has not noticed."
    } else {
        ""
    };
    let proof = format!(
        "Nothing was acknowledged{silence}: {} with {what} outstanding{waiting}. The path is dead or the peer is gone; the connection is not \
         slow.{unaware}",
        timeouts_text(figures),
    );
    let confidence = match figures.timeouts() {
        2 => 0.6,
        3 => 0.75,
        _ => 0.9,
    };
    verdict(figures, Limit::Stalled, Side::Path, confidence, None, proof)
}
