//! Data waits because the peer's window is full: a small buffer there, or a program that reads slowly.

use super::{verdict, window};
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{bits_text, bytes_text, rtt_text};

/// The peer's window.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let share = figures.rwnd?;
    let is_full = figures.is_rwnd_full();
    let is_shut = figures.tcp().snd_wnd == Some(0);
    let is_held = share >= 0.6 || share >= 0.3 && (is_full || is_shut);
    if !is_held || figures.is_cwnd_full() && !is_full && share < 0.8 {
        return None;
    }
    // The newest figures speak against the history: room in the window, and data waits for something else.
    let is_open = figures
        .outstanding()
        .zip(figures.tcp().snd_wnd)
        .is_some_and(|(out, window)| window > 0 && out * 2 < u64::from(window));
    if is_open && share < 0.9 {
        return None;
    }
    let unread = figures.mate.and_then(|mate| mate.ss.recv_q);
    if unread.is_none_or(|bytes| bytes == 0)
        && let Some(told) = behind_queue(figures, share)
    {
        return Some(told);
    }
    unread_there(figures, share)
        .or_else(|| shrunk(figures, share))
        .or_else(|| queue_or_reader(figures, share))
        .or_else(|| Some(constant(figures, share)))
}

/// `full 92.8 % of the busy time, 302 KiB of 302 KiB now`.
fn told(figures: &Figures<'_>, share: f64) -> String {
    let now = match figures.outstanding().zip(figures.tcp().snd_wnd) {
        Some((out, window)) => format!(
            " ({} out of {} now)",
            bytes_text(out),
            bytes_text(u64::from(window))
        ),
        None => String::new(),
    };
    format!(
        "The peer's window was full {:.0} % of the busy time{now}",
        share * 100.0
    )
}

/// The other end was pasted too: what is unread there tells.
fn unread_there(figures: &Figures<'_>, share: f64) -> Option<Verdict> {
    let mate = figures.mate?;
    let unread = mate.ss.recv_q?;
    let fill = Figures::rcvbuf_fill(mate);
    if unread > 65_536 && fill.is_none_or(|fill| fill > 0.4) {
        let filled = fill.map_or_else(String::new, |fill| {
            format!(", its buffer {:.0} % full", fill * 100.0)
        });
        let proof = format!(
            "{}, and there {} wait unread{filled}: its program reads too slowly.",
            told(figures, share),
            bytes_text(unread)
        );
        return Some(verdict(
            figures,
            Limit::RwndReader,
            Side::PeerApp,
            0.9,
            None,
            proof,
        ));
    }
    // With a queue on the path it is not the window alone.
    (unread == 0 && !figures.is_queueing(1.35)).then(|| {
        let size = mate
            .tcp
            .rcvbuf
            .map_or_else(String::new, |size| format!(" of {}", bytes_text(u64::from(size))));
        let proof = format!(
            "{}, and there nothing is unread: its program keeps up, its receive buffer{size} is too small.",
            told(figures, share)
        );
        verdict(
            figures,
            Limit::Rwnd,
            Side::PeerKernel,
            0.9,
            ceiling(figures),
            proof,
        )
    })
}

fn ceiling(figures: &Figures<'_>) -> Option<crate::classify::Ceiling> {
    let bytes = figures.window().filter(|bytes| bytes.0 > 0)?;
    window(Limit::Rwnd, bytes.0, figures.srtt(), "peer's window")
}

/// cwnd only grows by what was in flight: it was more than the window of now, so the window was larger.
fn shrunk(figures: &Figures<'_>, share: f64) -> Option<Verdict> {
    let window = u64::from(figures.tcp().snd_wnd?);
    let cwnd = figures
        .cwnd_bytes()
        .filter(|_| figures.tcp().cwnd.is_some_and(|cwnd| cwnd > 20))?;
    // Slow start lets cwnd grow to twice what was in flight (tcp_is_cwnd_limited).
    let was = cwnd / 2;
    // The first window offered may have been wider than what the buffer then allows.
    if was * 10 < window * 22 {
        return None;
    }
    let proof = format!(
        "{}. It was larger: cwnd has grown to {}, and grows only while half of it is in flight; a window that shrinks is a program that reads slowly.",
        told(figures, share),
        bytes_text(cwnd),
    );
    Some(verdict(
        figures,
        Limit::RwndReader,
        Side::PeerApp,
        0.65,
        None,
        proof,
    ))
}

/// Several full windows to one host and a queue on the path: between them they fill it, and each window is a symptom.
fn behind_queue(figures: &Figures<'_>, share: f64) -> Option<Verdict> {
    let count = figures.beside.full_windows;
    // Of a window of a few segments the ACKs are delayed, which looks like a queue.
    let is_wide = figures
        .tcp()
        .snd_wnd
        .zip(figures.tcp().mss)
        .is_none_or(|(window, mss)| window > 6 * mss);
    if count < 2 || !is_wide || !figures.is_queueing(1.2) {
        return None;
    }
    let proof = format!(
        "{}, as those of {count} sockets to this host were, and srtt {} stands at {:.1} × min_rtt: between them they fill the path. A larger window \
         would only lengthen its queue.",
        told(figures, share),
        rtt_text(figures.srtt()?),
        figures.inflation(),
    );
    Some(verdict(figures, Limit::Bandwidth, Side::Path, 0.6, None, proof))
}

/// A slow reader and a full path both make ACKs come late; one end's look cannot tell which.
fn queue_or_reader(figures: &Figures<'_>, share: f64) -> Option<Verdict> {
    if !figures.is_queueing(1.35) {
        return None;
    }
    let proof = format!(
        "{}, and srtt {} stands at {:.1} × min_rtt: a queue on the path behind the window{}.",
        told(figures, share),
        rtt_text(figures.srtt()?),
        figures.inflation(),
        if figures.mate.is_some() {
            ""
        } else {
            ", or a peer that reads slowly and answers late"
        },
    );
    Some(Verdict::unknown(figures.direction, proof))
}

/// Nothing says that it ever was another.
fn constant(figures: &Figures<'_>, share: f64) -> Verdict {
    let ceiling = ceiling(figures);
    let tcp = figures.tcp();
    let allows = ceiling.as_ref().map_or_else(String::new, |ceiling| {
        format!(": {} = {}", ceiling.formula, bits_text(ceiling.rate.bits()))
    });
    let scale = tcp.snd_wscale.filter(|scale| *scale < 7).zip(tcp.snd_wnd);
    let most = scale.map(|(scale, window)| (scale, 65_535u64 << scale, u64::from(window)));
    if let Some((scale, most, _)) = most.filter(|(_, most, window)| window * 100 >= most * 97) {
        let proof = format!(
            "{}{allows}. It is all that 16 bits can say at the scale of {scale} ({most} B): the peer cannot offer more.",
            told(figures, share)
        );
        let ceiling = ceiling.map(|ceiling| crate::classify::Ceiling {
            limit: Limit::RwndScale,
            ..ceiling
        });
        return verdict(figures, Limit::RwndScale, Side::PeerKernel, 0.75, ceiling, proof);
    }
    // Without the window's size a reader that is slow now and then looks the same, and so does one with a little unread.
    let is_unread = figures
        .mate
        .is_some_and(|mate| mate.ss.recv_q.is_some_and(|bytes| bytes > 0));
    let confidence = match (tcp.snd_wnd, share > 0.8) {
        (None | Some(0), _) => 0.45,
        _ if is_unread => 0.45,
        (_, true) => 0.75,
        (_, false) => 0.6,
    };
    let proof = format!("{}{allows}.", told(figures, share));
    verdict(figures, Limit::Rwnd, Side::PeerKernel, confidence, ceiling, proof)
}
