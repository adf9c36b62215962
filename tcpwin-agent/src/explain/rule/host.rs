//! Data waits with room in cwnd and in the peer's window, and what was sent still lies in this host's queues; or the program's own cap holds
//! it.

use super::verdict;
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{BytesPerSec, bits_text, bytes_text};

/// What holds data on this host.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    capped(figures).or_else(|| queued_here(figures))
}

/// SO_MAX_PACING_RATE.
fn capped(figures: &Figures<'_>) -> Option<Verdict> {
    let most = BytesPerSec(figures.tcp().max_pacing_rate? as f64);
    let made = BytesPerSec(figures.tcp().delivery_rate.or(figures.tcp().pacing_rate)? as f64);
    let is_at_it = made.0 > most.0 * 0.8 && made.0 < most.0 * 1.15 || figures.is_rate(most, 0.15);
    if !is_at_it || figures.is_rwnd_full() {
        return None;
    }
    let proof = format!(
        "The program's SO_MAX_PACING_RATE allows {} and {} is delivered, with {} waiting.",
        bits_text(most.bits()),
        bits_text(made.bits()),
        bytes_text(figures.unsent()),
    );
    let ceiling = Ceiling {
        limit: Limit::Pacing,
        rate: most,
        formula: "SO_MAX_PACING_RATE".to_owned(),
    };
    Some(verdict(
        figures,
        Limit::Pacing,
        Side::LocalApp,
        0.8,
        Some(ceiling),
        proof,
    ))
}

/// The small-queue limit (`tcp_small_queue_check`).
fn queued_here(figures: &Figures<'_>) -> Option<Verdict> {
    let tcp = figures.tcp();
    let queued = u64::from(tcp.wmem_alloc?);
    let out = figures.outstanding().filter(|bytes| *bytes > 0)?;
    let (packets, cwnd) = tcp.packets_out.zip(tcp.cwnd)?;
    let has_room = u64::from(packets) * 10 < u64::from(cwnd) * 8 && !figures.is_rwnd_full();
    let is_open = figures.rwnd.is_none_or(|share| share < 0.3);
    if queued * 10 < out * 9 || !has_room || !is_open {
        return None;
    }
    let proof = format!(
        "{} wait with room in cwnd ({packets} of {cwnd} segments out) and in the peer's window: all that was sent, {}, still lies in this host's queues \
         ({} with their overhead). Qdisc, driver or device is the slower part (TSO bursts, late transmit completions).",
        bytes_text(figures.unsent()),
        bytes_text(out),
        bytes_text(queued),
    );
    Some(verdict(figures, Limit::Host, Side::LocalKernel, 0.7, None, proof))
}
