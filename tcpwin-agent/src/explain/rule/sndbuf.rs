//! The send buffer. The kernel's own count of it is often too low and a full buffer is no proof, so little is claimed.

use super::{verdict, window};
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{Micros, bits_text, bytes_text};

/// All that was written is on its way, and the kernel saw the writer wait for the buffer.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let share = figures.sndbuf.filter(|share| *share >= 0.2)?;
    if figures.is_cwnd_full() || figures.is_rwnd_full() {
        return None;
    }
    let tcp = figures.tcp();
    let is_filled = tcp
        .wmem_queued
        .zip(tcp.sndbuf)
        .is_some_and(|(held, size)| u64::from(held) * 10 >= u64::from(size) * 8);
    if figures.is_queueing(1.5) && share < 0.5 {
        return None;
    }
    let confidence = match (share >= 0.5, is_filled) {
        (true, true) => 0.8,
        (true, false) => 0.65,
        (false, true) => 0.6,
        (false, false) => 0.4,
    };
    let out = figures.outstanding().filter(|bytes| *bytes > 0);
    let ceiling = out.and_then(|bytes| window(Limit::Sndbuf, bytes, figures.srtt(), "in flight"));
    let allows = ceiling.as_ref().map_or_else(String::new, |ceiling| {
        format!(": {} = {}", ceiling.formula, bits_text(ceiling.rate.bits()))
    });
    let size = tcp.sndbuf.map_or_else(String::new, |bytes| {
        format!(" of {}", bytes_text(u64::from(bytes)))
    });
    let proof = format!(
        "The writer waited for the send buffer{size} {:.0} % of the busy time, while cwnd and the peer's window have room{allows}.",
        share * 100.0
    );
    Some(verdict(
        figures,
        Limit::Sndbuf,
        Side::LocalKernel,
        confidence,
        ceiling,
        proof,
    ))
}

/// Several sockets of one port hold the same amount: a buffer that SO_SNDBUF fixed.
pub fn equal_queues(figures: &Figures<'_>) -> Option<Verdict> {
    let queued = figures.now.ss.send_q.filter(|bytes| *bytes >= 4_096)?;
    if figures.beside.equal_queues < 3 || figures.is_cwnd_full() || figures.is_rwnd_full() {
        return None;
    }
    let ceiling = window(
        Limit::Sndbuf,
        queued,
        figures.srtt().or(Some(Micros(0))),
        "Send-Q",
    );
    let proof = format!(
        "{} sockets of this port hold the same {} to send, within 5 %, while cwnd and the peer's window have room: the mark of a fixed SO_SNDBUF.",
        figures.beside.equal_queues,
        bytes_text(queued),
    );
    Some(verdict(
        figures,
        Limit::Sndbuf,
        Side::LocalApp,
        0.6,
        ceiling,
        proof,
    ))
}
