//! One file a limit: its evidence, its proof sentence, who acts, and what to change.

pub(super) mod app;
pub(super) mod app_window;
pub(super) mod bandwidth;
pub(super) mod cwnd_clamp;
pub(super) mod cwnd_startup;
pub(super) mod host;
pub(super) mod loss;
pub(super) mod mtu_blackhole;
pub(super) mod pacing;
pub(super) mod policer;
pub(super) mod rcvbuf;
pub(super) mod rwnd;
pub(super) mod rwnd_reader;
pub(super) mod rwnd_scale;
pub(super) mod small_writes;
pub(super) mod sndbuf;
pub(super) mod stalled;
pub(super) mod turns;

use crate::classify::advice::Ask;
use crate::classify::{Ceiling, Direction, Limit, Side, Verdict};

/// A verdict of the sending direction; [`crate::classify::ledger`] adds what comes next.
fn verdict(
    limit: Limit,
    side: Side,
    confidence: f64,
    ceiling: Option<Ceiling>,
    proof: String,
    ask: Option<Ask>,
) -> Verdict {
    Verdict {
        limit,
        direction: Direction::Send,
        side,
        confidence,
        ceiling,
        next: None,
        ledger: Vec::new(),
        inconsistent: None,
        proof,
        ask: ask.map(Box::new),
    }
}

/// A verdict of the receiving direction.
fn receiving(
    limit: Limit,
    side: Side,
    confidence: f64,
    ceiling: Option<Ceiling>,
    proof: String,
    ask: Option<Ask>,
) -> Verdict {
    Verdict {
        direction: Direction::Receive,
        ..verdict(limit, side, confidence, ceiling, proof, ask)
    }
}
