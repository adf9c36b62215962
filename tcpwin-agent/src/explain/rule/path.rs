//! cwnd holds the data, or the path's queue shows that it carries no more.

use super::{verdict, window};
use crate::classify::{Ceiling, Limit, Side, Verdict};
use crate::explain::figures::Figures;
use crate::units::{BytesPerSec, bits_text, bytes_text, rtt_text};

/// cwnd is full.
pub fn full_cwnd(figures: &Figures<'_>) -> Option<Verdict> {
    if !figures.is_cwnd_full() {
        return None;
    }
    queue(figures, 0.7)
        .or_else(|| loss(figures))
        .or_else(|| startup(figures))
}

/// srtt stands above the path's own round trip: more is in flight than it holds.
pub fn queue(figures: &Figures<'_>, confidence: f64) -> Option<Verdict> {
    if !figures.is_queueing(1.5) {
        return None;
    }
    let delivered = figures
        .rate
        .map(|rate| rate.rate)
        .filter(|rate| rate.0 > 0.0)
        .or_else(|| figures.tcp().delivery_rate.map(|rate| BytesPerSec(rate as f64)))?;
    let behind = figures
        .rwnd
        .filter(|share| *share > 0.2)
        .map_or_else(String::new, |share| {
            format!(
                " The peer's window was full {:.0} % of the busy time, but only trails the queue.",
                share * 100.0
            )
        });
    let proof = format!(
        "srtt {} stands at {:.1} × min_rtt {}: a queue fills on the path, which delivers {}.{behind} Any larger window only makes it longer.",
        rtt_text(figures.srtt()?),
        figures.inflation(),
        rtt_text(figures.min_rtt()?),
        bits_text(delivered.bits()),
    );
    let ceiling = Ceiling {
        limit: Limit::Bandwidth,
        rate: delivered,
        formula: "delivered while the path's queue holds".to_owned(),
    };
    Some(verdict(
        figures,
        Limit::Bandwidth,
        Side::Path,
        confidence,
        Some(ceiling),
        proof,
    ))
}

/// Throughput of Reno under random loss (Mathis et al. 1997).
pub fn mathis(figures: &Figures<'_>, loss: f64) -> Option<Ceiling> {
    let (mss, rtt) = (figures.tcp().mss?, figures.srtt()?);
    let rate = f64::from(mss) / rtt.seconds() * 1.5f64.sqrt() / loss.sqrt();
    (loss > 0.0 && rate.is_finite()).then(|| Ceiling {
        limit: Limit::Loss,
        rate: BytesPerSec(rate),
        formula: format!("{mss} B ÷ {} × 1.22 ÷ √{loss:.5}", rtt_text(rtt)),
    })
}

/// A full cwnd that losses have brought down, and no queue.
fn loss(figures: &Figures<'_>) -> Option<Verdict> {
    let tcp = figures.tcp();
    let ssthresh = tcp.ssthresh?;
    let loss = figures.loss.filter(|share| *share > 0.0)?;
    let retransmits = figures.now.totals.retransmits;
    if retransmits.is_none_or(|count| count < 3) && loss < 0.001 {
        return None;
    }
    let mathis = mathis(figures, loss);
    // A full cwnd is what is made now; the average over the life may be of another time.
    let made = figures
        .srtt()
        .zip(figures.cwnd_bytes())
        .map(|(rtt, bytes)| bytes as f64 / rtt.seconds());
    // Within a factor of three of what the loss explains; beyond it something else does.
    let is_explained = mathis
        .as_ref()
        .zip(made)
        .is_none_or(|(mathis, made)| (0.33..=3.0).contains(&(made / mathis.rate.0)));
    if !is_explained && !figures.is_bbr() {
        return None;
    }
    let recovery = tcp.cwnd.zip(figures.srtt()).filter(|(cwnd, _)| *cwnd > ssthresh).map_or_else(String::new, |(cwnd, rtt)| {
        format!(
            " Since the last one cwnd has grown from {ssthresh} to {cwnd}, a segment a round trip: {:.1} s.",
            f64::from(cwnd - ssthresh) * rtt.seconds()
        )
    });
    let reno = mathis.as_ref().map_or_else(String::new, |mathis| {
        format!(" At this loss Reno makes {}.", bits_text(mathis.rate.bits()))
    });
    let proof = format!(
        "cwnd is full ({} segments) and {} wait; {:.3} % of what was sent was lost without a queue (srtt is {:.2} × min_rtt).{reno}{recovery} A \
         policer at a steady rate looks the same.",
        tcp.cwnd.unwrap_or(0),
        bytes_text(figures.unsent()),
        loss * 100.0,
        figures.inflation(),
    );
    Some(verdict(figures, Limit::Loss, Side::Path, 0.65, mathis, proof))
}

/// Slow start: nothing was lost yet and the connection is young.
fn startup(figures: &Figures<'_>) -> Option<Verdict> {
    let busy = figures.now.ss.busy_us?;
    let rtt = figures.srtt()?;
    let rounds = busy as f64 / 1e6 / rtt.seconds();
    if figures.tcp().ssthresh.is_some() || rounds > 20.0 {
        return None;
    }
    let ceiling = window(Limit::CwndStartup, figures.cwnd_bytes()?, Some(rtt), "cwnd")?;
    let proof = format!(
        "cwnd is full ({} segments), nothing was lost yet and only {rounds:.0} round trips of {} have been busy: slow start, which doubles it with each. \
         Now it allows {}.",
        figures.tcp().cwnd?,
        rtt_text(rtt),
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        figures,
        Limit::CwndStartup,
        Side::Nobody,
        0.6,
        Some(ceiling),
        proof,
    ))
}

/// In recovery with losses that count, cwnd full or not.
pub fn recovering(figures: &Figures<'_>) -> Option<Verdict> {
    let tcp = figures.tcp();
    let loss = figures.loss.filter(|share| *share >= 0.002)?;
    if tcp.lost.unwrap_or(0) == 0 && tcp.retrans_out.unwrap_or(0) == 0 || figures.is_queueing(1.5) {
        return None;
    }
    let proof = format!(
        "{} segments are being recovered now, {:.2} % of what was sent was lost, and there is no queue (srtt is {:.2} × min_rtt).",
        tcp.lost.unwrap_or(0).max(tcp.retrans_out.unwrap_or(0)),
        loss * 100.0,
        figures.inflation(),
    );
    Some(verdict(
        figures,
        Limit::Loss,
        Side::Path,
        0.55,
        mathis(figures, loss),
        proof,
    ))
}
