//! A share of what was sent that no window explains: many segments get lost, by chance or since a sender that does not yield overfills a
//! small buffer.

use super::verdict;
use crate::classify::{Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{BytesPerSec, bits_text, bytes_text, rtt_text};

/// From this share on it is told first.
const HEAVY: f64 = 0.05;

/// Loss as heavy as to be told before anything else.
pub fn tell(figures: &Figures<'_>) -> Option<Verdict> {
    let loss = figures.loss.filter(|share| *share >= HEAVY)?;
    let is_sending = figures.now.ss.send_q.is_none_or(|bytes| bytes > 0);
    if !is_sending {
        return None;
    }
    overdriven(figures, loss)
        .or_else(|| steady(figures, loss))
        .or_else(|| Some(lossy(figures, loss)))
}

/// bbr keeps its rate through loss: a full queue and a rate near its estimate say that the path is what it found.
fn overdriven(figures: &Figures<'_>, loss: f64) -> Option<Verdict> {
    let estimate = BytesPerSec(figures.now.ss.bbr_bandwidth.or(figures.tcp().delivery_rate)? as f64);
    let rate = figures.rate.map(|rate| rate.rate.0);
    let is_near = rate.is_none_or(|rate| rate * 3.0 > estimate.0);
    if !figures.is_bbr() || !figures.is_queueing(1.3) || !is_near {
        return None;
    }
    let queue = figures.srtt()?.0 - figures.min_rtt()?.0;
    let buffer = estimate.bdp(crate::units::Micros(queue));
    let proof = format!(
        "bbr finds {} and {:.0} % of what it sends is lost while a queue of {} stands on the path ({} of buffer): the path is full, and its buffer too \
         small for a sender that does not yield.",
        bits_text(estimate.bits()),
        loss * 100.0,
        rtt_text(crate::units::Micros(queue)),
        bytes_text(buffer.0),
    );
    Some(super::path::by_bbr(figures, estimate, proof))
}

/// A steady rate without a queue through that much loss: bbr keeps it whatever drops its segments, others only under a policer.
fn steady(figures: &Figures<'_>, loss: f64) -> Option<Verdict> {
    if figures.has_foreign_min_rtt() || figures.min_rtt().is_none() {
        return None;
    }
    let is_steady = match figures.now.ss.bbr_bandwidth {
        Some(estimate) => figures.is_rate(BytesPerSec(estimate as f64), 0.25),
        None => figures.rate.is_some() && !super::path::explains(figures, loss),
    };
    is_steady.then(|| super::path::policed(figures, loss))
}

fn lossy(figures: &Figures<'_>, loss: f64) -> Verdict {
    let tcp = figures.tcp();
    let mut also = Vec::new();
    if let Some(share) = figures.rwnd.filter(|share| *share > 0.15) {
        also.push(format!(
            "the peer's window was full {:.0} % of the busy time, which this outranks",
            share * 100.0
        ));
    }
    if figures.now.ss.reord_seen.is_some_and(|count| count > 2)
        || figures.now.ss.dsack_dups.is_some_and(|count| count > 2)
    {
        also.push("segments also arrive out of order, so some were sent again for nothing".to_owned());
    }
    if figures.has_foreign_min_rtt() {
        let min = tcp.min_rtt_us.unwrap_or(0);
        also.push(format!(
            "min_rtt of {min} µs is of another path or time, so nothing is built on it"
        ));
    }
    if let Some(bandwidth) = figures.now.ss.bbr_bandwidth
        && let Some(rate) = figures.rate.filter(|rate| rate.rate.0 * 3.0 < bandwidth as f64)
    {
        also.push(format!(
            "bbr believes in {} and makes {}: the rest is waiting for timeouts",
            bits_text(bandwidth as f64 * 8.0),
            bits_text(rate.rate.bits())
        ));
    }
    let also = if also.is_empty() {
        String::new()
    } else {
        format!("; {}", also.join("; "))
    };
    let proof = format!(
        "{:.1} % of what was sent had to be sent again, {} segments in all{also}.",
        loss * 100.0,
        figures
            .now
            .totals
            .retransmits
            .map_or_else(|| "?".to_owned(), |count| count.to_string()),
    );
    let ceiling = super::path::mathis(figures, loss);
    verdict(figures, Limit::Loss, Side::Path, 0.7, ceiling, proof)
}
