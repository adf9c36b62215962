//! The order in which the rules are asked, and what comes next once a limit is lifted.

use crate::classify::{Bound, Ceiling, Direction, Limit, Verdict};
use crate::explain::figures::Figures;
use crate::explain::rule::{
    contradiction, heavy_loss, host, idle, path, persist, receive, rwnd, sndbuf, stalled, state, steady,
};
use crate::units::{Bytes, BytesPerSec, bytes_text, rtt_text};

/// What limits the socket. Total: whatever was pasted gives a verdict, if only `unknown` with its reason.
#[must_use]
pub fn decide(figures: &Figures<'_>) -> Verdict {
    if let Some(verdict) = state::tell(figures) {
        return verdict;
    }
    if let Some(reason) = contradiction::found(figures) {
        let proof = format!("The figures contradict each other: {reason}. Nothing is explained by them.");
        return Verdict {
            inconsistent: Some(reason),
            ..Verdict::unknown(figures.direction, proof)
        };
    }
    let mut verdict = rules(figures);
    settle(figures, &mut verdict);
    verdict
}

fn rules(figures: &Figures<'_>) -> Verdict {
    stalled::tell(figures)
        .or_else(|| persist::tell(figures))
        .or_else(|| receive::tell(figures))
        .or_else(|| idle::nothing_queued(figures))
        .or_else(|| heavy_loss::tell(figures))
        .or_else(|| all_sent(figures))
        .or_else(|| waiting(figures))
        .unwrap_or_else(|| Verdict::unknown(figures.direction, unexplained(figures)))
}

/// Everything written is on its way.
fn all_sent(figures: &Figures<'_>) -> Option<Verdict> {
    let told = idle::all_sent(figures)?;
    if figures.direction == Direction::Receive {
        return Some(told);
    }
    Some(
        sndbuf::tell(figures)
            .or_else(|| steady::tell(figures))
            .unwrap_or(told),
    )
}

/// Data waits to be sent.
fn waiting(figures: &Figures<'_>) -> Option<Verdict> {
    if !figures.is_waiting() {
        return None;
    }
    host::tell(figures)
        .or_else(|| rwnd::tell(figures))
        .or_else(|| path::full_cwnd(figures))
        .or_else(|| sndbuf::equal_queues(figures))
        .or_else(|| path::recovering(figures))
        .or_else(|| idle::trickle(figures))
        .or_else(|| path::queue(figures, 0.55))
        .or_else(|| path::bbr(figures))
        .or_else(|| sndbuf::tell(figures))
}

/// Why nothing was told.
fn unexplained(figures: &Figures<'_>) -> String {
    let tcp = figures.tcp();
    if !figures.now.ss.has_info {
        return "Only the queues were pasted: without the figures of `-i` nothing can be told.".to_owned();
    }
    let mut missing = Vec::new();
    if figures.now.ss.send_q.is_none() {
        missing.push("Send-Q");
    }
    if tcp.packets_out.is_none() {
        missing.push("unacked");
    }
    if tcp.srtt_us.is_none() {
        missing.push("rtt");
    }
    if !missing.is_empty() {
        return format!("Too much was left out to tell: {}.", missing.join(", "));
    }
    let out = tcp.packets_out.unwrap_or(0);
    let waits = bytes_text(figures.unsent());
    let cwnd = tcp
        .cwnd
        .map_or_else(String::new, |cwnd| format!(" of cwnd {cwnd}"));
    let window = tcp.snd_wnd.map_or_else(String::new, |bytes| {
        format!(", peer's window {}", bytes_text(u64::from(bytes)))
    });
    let paced = if figures.is_bbr() {
        "; bbr paces by its own estimate"
    } else {
        ""
    };
    format!(
        "{waits} wait with {out} segments out{cwnd}{window}: at this moment none of the windows is full{paced}. No single cause."
    )
}

/// Every ceiling that is known, the lowest first, and which comes next.
fn settle(figures: &Figures<'_>, verdict: &mut Verdict) {
    if verdict.limit == Limit::None {
        return;
    }
    let binding = verdict.ceiling.clone();
    let mut ledger = ceilings(figures, verdict.direction);
    if let Some(binding) = &binding {
        ledger.retain(|other| !is_same(other.limit, binding.limit));
        ledger.push(binding.clone());
    }
    ledger.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
    let lifts_to_a_window = verdict.limit.bound() == Bound::Window || verdict.limit == Limit::Pacing;
    let least = binding
        .map(|ceiling| ceiling.rate.0)
        .or(figures.rate.map(|rate| rate.rate.0));
    verdict.next = ledger
        .iter()
        .filter(|_| lifts_to_a_window)
        .find(|other| {
            !is_same(other.limit, verdict.limit) && least.is_some_and(|least| other.rate.0 >= least * 0.98)
        })
        .cloned();
    verdict.ledger = ledger;
}

fn is_same(one: Limit, other: Limit) -> bool {
    let is_rwnd = |limit| matches!(limit, Limit::Rwnd | Limit::RwndScale | Limit::RwndReader);
    one == other || is_rwnd(one) && is_rwnd(other)
}

fn ceilings(figures: &Figures<'_>, direction: Direction) -> Vec<Ceiling> {
    // What holds the peer is not seen at the end that receives.
    if direction == Direction::Receive {
        return Vec::new();
    }
    let tcp = figures.tcp();
    let over_rtt = |limit, bytes: Option<u64>, what: &str| {
        let (bytes, rtt) = (bytes.filter(|bytes| *bytes > 0)?, figures.srtt()?);
        Some(Ceiling {
            limit,
            rate: Bytes(bytes).per_rtt(rtt)?,
            formula: format!("{what} {} ÷ {}", bytes_text(bytes), rtt_text(rtt)),
        })
    };
    let pacing = tcp.max_pacing_rate.map(|rate| Ceiling {
        limit: Limit::Pacing,
        rate: BytesPerSec(rate as f64),
        formula: "SO_MAX_PACING_RATE".to_owned(),
    });
    let loss = figures.loss.filter(|share| *share > 0.0005 && !figures.is_bbr());
    [
        over_rtt(Limit::Rwnd, tcp.snd_wnd.map(u64::from), "peer's window"),
        over_rtt(Limit::CwndStartup, figures.cwnd_bytes(), "cwnd"),
        loss.and_then(|loss| path::mathis(figures, loss)),
        pacing,
    ]
    .into_iter()
    .flatten()
    .collect()
}
