//! Nothing is on its way, data waits, and probes go unanswered: the peer's window is shut, or what is sent never leaves.

use super::verdict;
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::observation::pasted::TimerKind;
use crate::units::bytes_text;

/// Unread bytes from which a program does not read.
const UNREAD: u64 = 65_536;

/// Data that waits behind probes.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let is_timer = figures
        .now
        .ss
        .timer
        .as_ref()
        .is_some_and(|timer| timer.kind == TimerKind::Persist);
    let timeouts = figures.timeouts();
    let is_probing = is_timer || timeouts >= 2;
    if figures.has_outstanding() || figures.unsent() == 0 || !is_probing || figures.has_progress() {
        return None;
    }
    let share = figures.rwnd?;
    if share > 0.5 {
        return Some(shut(figures, share));
    }
    let busy = figures.now.ss.busy_us?;
    let is_room = figures.mate.is_some_and(|mate| {
        mate.ss.recv_q == Some(0) && Figures::rcvbuf_fill(mate).is_none_or(|fill| fill < 0.2)
    });
    let is_clear = share < 0.05 && busy > 10_000_000 && timeouts >= 3;
    if figures.tcp().snd_wnd == Some(0) || !(is_clear || is_room && timeouts >= 3) {
        return None;
    }
    let mate = if is_room {
        ", and the other end has nothing unread"
    } else {
        ""
    };
    let proof = format!(
        "{} wait and {timeouts} probes in a row were not answered, yet the peer's window was full only {:.1} % of the busy time{mate}: no window \
         is shut, the segments do not arrive. Look below TCP: qdisc, netfilter, route, driver.",
        bytes_text(figures.unsent()),
        share * 100.0,
    );
    Some(verdict(figures, Limit::Host, Side::LocalKernel, 0.6, None, proof))
}

fn shut(figures: &Figures<'_>, share: f64) -> Verdict {
    let ours = figures.now.ss.recv_q.unwrap_or(0);
    let theirs = figures.mate.and_then(|mate| mate.ss.recv_q);
    let waits = bytes_text(figures.unsent());
    let share = share * 100.0;
    if ours >= UNREAD && theirs.is_none_or(|bytes| bytes >= UNREAD) {
        let never = if figures.now.totals.bytes_received == Some(ours) {
            ", not one byte of which was ever read,"
        } else {
            ""
        };
        let proof = format!(
            "Deadlock: the peer's window is shut ({share:.0} % of the busy time) with {waits} waiting for it, while this program has {} unread{never} \
             and so shuts its own. Both write and neither reads; no setting of TCP helps.",
            bytes_text(ours),
        );
        return verdict(figures, Limit::RwndReader, Side::PeerApp, 0.85, None, proof);
    }
    if theirs == Some(0)
        && figures
            .mate
            .and_then(Figures::rcvbuf_fill)
            .is_some_and(|fill| fill > 0.8)
    {
        let proof = format!(
            "The peer's window is shut ({share:.0} % of the busy time) with {waits} waiting; nothing is unread there, its buffer is full of what came \
             out of order."
        );
        return verdict(figures, Limit::Rwnd, Side::PeerKernel, 0.75, None, proof);
    }
    let unread = theirs
        .filter(|bytes| *bytes > 0)
        .map_or_else(String::new, |bytes| {
            format!(": {} are unread there", bytes_text(bytes))
        });
    let proof = format!(
        "The peer's window is shut ({share:.0} % of the busy time) with {waits} waiting for it{unread}; its program does not read."
    );
    let confidence = if theirs.is_some_and(|bytes| bytes > 0) {
        0.9
    } else {
        0.7
    };
    verdict(figures, Limit::RwndReader, Side::PeerApp, confidence, None, proof)
}
