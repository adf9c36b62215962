//! What a look or two can tell: one file a family of limits, each rule with its proof sentence. Pure.
//!
//! The daemon's classifier judges intervals that were watched; these judge what `ss` printed at one moment. So they ask for more signs at
//! once, and say less: where two causes look alike the answer is `unknown`, with what would tell them apart.

pub mod contradiction;
pub mod heavy_loss;
pub mod host;
pub mod idle;
pub mod path;
pub mod persist;
pub mod receive;
pub mod rwnd;
pub mod sndbuf;
pub mod stalled;
pub mod state;
pub mod steady;

use crate::classify::{Ceiling, Direction, Limit, Side, Verdict, advice};
use crate::explain::figures::Figures;
use crate::units::{Bytes, Micros, bytes_text, rtt_text};

/// A verdict with its remedies; what comes next is added later.
fn verdict(
    figures: &Figures<'_>,
    limit: Limit,
    side: Side,
    confidence: f64,
    ceiling: Option<Ceiling>,
    proof: String,
) -> Verdict {
    let direction = match limit {
        Limit::Rcvbuf | Limit::Reader => Direction::Receive,
        Limit::None | Limit::Unknown => figures.direction,
        _ => Direction::Send,
    };
    Verdict {
        limit,
        direction,
        side,
        confidence,
        ceiling,
        next: None,
        ledger: Vec::new(),
        inconsistent: None,
        proof,
        ask: Some(Box::new(advice::Ask {
            direction,
            ..figures.ask()
        })),
    }
}

/// Window ÷ RTT in words and figures.
fn window(limit: Limit, bytes: u64, rtt: Option<Micros>, what: &str) -> Option<Ceiling> {
    let rtt = rtt?;
    Some(Ceiling {
        limit,
        rate: Bytes(bytes).per_rtt(rtt)?,
        formula: format!("{what} {} ÷ {}", bytes_text(bytes), rtt_text(rtt)),
    })
}

/// Milliseconds as people say them.
fn ms_text(ms: u64) -> String {
    match ms {
        0..=9_999 => format!("{ms} ms"),
        10_000..=599_999 => format!("{} s", ms / 1000),
        600_000..=7_199_999 => format!("{} min", ms / 60_000),
        _ => format!("{:.1} h", ms as f64 / 3_600_000.0),
    }
}
