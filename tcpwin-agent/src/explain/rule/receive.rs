//! This end receives: what of it holds the sender back.

use super::{ms_text, verdict, window};
use crate::classify::{Direction, Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{Micros, bytes_text};

/// Unread bytes that are more than what came just now.
const UNREAD: u64 = 65_536;
/// MSS of jumbo frames; a larger one is loopback's.
const JUMBO: u32 = 9_216;

/// What of this end holds the sender.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    reader(figures)
        .or_else(|| out_of_order(figures))
        .or_else(|| small_window(figures))
}

/// The program reads more slowly than data comes.
fn reader(figures: &Figures<'_>) -> Option<Verdict> {
    let ss = &figures.now.ss;
    let unread = ss.recv_q.filter(|bytes| *bytes > 0)?;
    let fill = Figures::rcvbuf_fill(figures.now);
    let is_full = fill.is_some_and(|fill| fill > 0.75) && unread > u64::from(figures.tcp().rcvbuf?) / 4;
    let window = figures
        .tcp()
        .rcv_wnd
        .zip(ss.advmss)
        .filter(|(window, mss)| window < mss);
    let left_ms = ss.lastrcv_ms.filter(|ms| *ms >= 1_000 && unread >= UNREAD / 2);
    let (confidence, told) = if is_full {
        (
            0.85,
            format!("the receive buffer is {:.0} % full", fill.unwrap_or(0.0) * 100.0),
        )
    } else if let Some((window, mss)) = window.filter(|_| unread >= UNREAD / 2) {
        (
            0.8,
            format!("the window we offer is down to {window} B, below a segment of {mss} B"),
        )
    } else if let Some(ms) = left_ms {
        (0.6, format!("the newest of them came {} ago", ms_text(ms)))
    } else {
        return None;
    };
    let never = if figures.now.totals.bytes_received == Some(unread) {
        "; it has never read a byte"
    } else {
        ""
    };
    let proof = format!(
        "The program on this host has {} unread and {told}{never}: it reads more slowly than the peer sends. A larger buffer would only hold more.",
        bytes_text(unread),
    );
    Some(verdict(
        figures,
        Limit::Reader,
        Side::LocalApp,
        confidence,
        None,
        proof,
    ))
}

/// Nothing is unread and the buffer is full all the same: segments behind a hole, and what their memory costs.
fn out_of_order(figures: &Figures<'_>) -> Option<Verdict> {
    let ss = &figures.now.ss;
    let fill = Figures::rcvbuf_fill(figures.now).filter(|fill| *fill > 0.75)?;
    if ss.recv_q != Some(0) {
        return None;
    }
    let drops = ss
        .drops
        .filter(|count| *count > 0)
        .map_or_else(String::new, |count| {
            format!(", and {count} segments were dropped for want of room")
        });
    let proof = format!(
        "The receive buffer is {:.0} % full ({} of {}) with nothing for the program to read: it holds segments behind a hole{drops}. The program is \
         not slow; the missing segment finds no room.",
        fill * 100.0,
        bytes_text(u64::from(ss.rmem_alloc?)),
        bytes_text(u64::from(figures.tcp().rcvbuf?)),
    );
    Some(verdict(
        figures,
        Limit::Rcvbuf,
        Side::LocalKernel,
        0.8,
        None,
        proof,
    ))
}

/// What we can offer is no more than a segment or two, and the program keeps up.
fn small_window(figures: &Figures<'_>) -> Option<Verdict> {
    let ss = &figures.now.ss;
    let tcp = figures.tcp();
    let received = figures.now.totals.bytes_received?;
    let mss = ss.advmss.filter(|mss| *mss <= JUMBO)?;
    let is_kept_up = ss.recv_q.is_none_or(|bytes| bytes <= u64::from(mss));
    if figures.direction != Direction::Receive || !is_kept_up {
        return None;
    }
    let offered = tcp.rcv_wnd.filter(|window| *window < mss);
    // Before the first data it stands at a few segments; here much has come through it.
    let allowed = ss
        .rcv_ssthresh
        .filter(|most| *most <= if mss > 1_460 { mss } else { 2 * mss })
        .filter(|most| *most > 0 && received > 20 * u64::from(*most));
    let (bytes, what) = match (offered, allowed) {
        (Some(window), _) => (window, "window offered"),
        (None, Some(most)) => (most, "most we would offer"),
        (None, None) => return None,
    };
    let rtt = tcp.rcv_rtt_us.map(Micros).or_else(|| figures.srtt());
    let shrunk = tcp
        .rcvbuf
        .filter(|size| *size < 4 * mss)
        .map_or_else(String::new, |size| {
            format!(" The receive buffer is {} in all.", bytes_text(u64::from(size)))
        });
    let timer = match (tcp.rcv_rtt_us, figures.min_rtt()) {
        (Some(rcv), Some(min)) if rcv >= 190_000 && min.0 < 20_000 => {
            " Each waits for the peer's timer of 200 ms, since it would not send so little at once."
        }
        _ => "",
    };
    let proof = format!(
        "The {what} is {bytes} B, no more than a segment or two of {mss} B, with nothing unread: our receive buffer holds the peer, not our \
         program.{timer}{shrunk}"
    );
    let ceiling = window(Limit::Rcvbuf, u64::from(bytes), rtt, what);
    Some(verdict(
        figures,
        Limit::Rcvbuf,
        Side::LocalKernel,
        0.8,
        ceiling,
        proof,
    ))
}
