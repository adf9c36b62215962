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
        .or_else(|| clamped(figures))
}

/// bbr out of its start-up makes what it estimates, and data waits.
pub fn bbr(figures: &Figures<'_>) -> Option<Verdict> {
    let estimate = BytesPerSec(figures.now.ss.bbr_bandwidth? as f64);
    let rounds = figures.busy_rounds().filter(|rounds| *rounds > 30.0)?;
    let is_open =
        figures.rwnd.is_none_or(|share| share < 0.2) && figures.sndbuf.is_none_or(|share| share < 0.2);
    // The estimate follows what the program offers while it offers less.
    let is_fed = figures.tcp().app_limited == Some(false);
    if !figures.is_rate(estimate, 0.25) || !is_open || !is_fed {
        return None;
    }
    let proof = format!(
        "bbr estimates {} and {} gets through, steady over {rounds:.0} busy round trips, while {} wait: that is what the path carries.",
        bits_text(estimate.bits()),
        figures.rate_text(),
        bytes_text(figures.unsent()),
    );
    Some(by_bbr(figures, estimate, proof))
}

/// What bbr finds the path to carry.
pub(super) fn by_bbr(figures: &Figures<'_>, estimate: BytesPerSec, proof: String) -> Verdict {
    let ceiling = Ceiling {
        limit: Limit::Bandwidth,
        rate: estimate,
        formula: "bbr's estimate".to_owned(),
    };
    verdict(figures, Limit::Bandwidth, Side::Path, 0.6, Some(ceiling), proof)
}

/// cwnd is full and has been what it is for most of the life, with nothing lost: it is not let grow.
fn clamped(figures: &Figures<'_>) -> Option<Verdict> {
    let rtt = figures.srtt()?;
    let ceiling = window(Limit::CwndClamp, figures.cwnd_bytes()?, Some(rtt), "cwnd")?;
    let is_lossless = figures.tcp().ssthresh.is_none() && figures.now.totals.retransmits == Some(0);
    // A program that sends in bursts has a cwnd from when it last sent long enough.
    let rounds = figures.busy_rounds().filter(|rounds| *rounds > 100.0)?;
    if !is_lossless || !figures.is_rate(ceiling.rate, 0.2) || figures.is_bbr() {
        return None;
    }
    let proof = format!(
        "cwnd is full ({} segments), nothing was ever lost, and the average over {rounds:.0} busy round trips is what this cwnd allows ({} = {}): slow \
         start would have doubled it with each. A clamp holds it (`ip route … cwnd lock`, TCP_WINDOW_CLAMP).",
        figures.tcp().cwnd?,
        ceiling.formula,
        bits_text(ceiling.rate.bits()),
    );
    Some(verdict(
        figures,
        Limit::CwndClamp,
        Side::LocalKernel,
        0.6,
        Some(ceiling),
        proof,
    ))
}

/// srtt stands above the path's own round trip: more is in flight than it holds.
pub fn queue(figures: &Figures<'_>, confidence: f64) -> Option<Verdict> {
    if !figures.is_queueing(1.3) {
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
    if !explains(figures, loss) {
        return Some(policed(figures, loss));
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

/// The loss explains the rate: in the lab random loss lets cubic make 1.06 to 1.4 times what Reno would, and a policer 1.8 to 5.8 times.
pub fn explains(figures: &Figures<'_>, loss: f64) -> bool {
    let Some(mathis) = mathis(figures, loss) else {
        return true;
    };
    let is_near = |rate: f64| rate <= mathis.rate.0 * 1.5;
    let now = figures
        .srtt()
        .zip(figures.cwnd_bytes())
        .map(|(rtt, bytes)| bytes as f64 / rtt.seconds());
    match figures.rate {
        Some(rate) if is_near(rate.rate.0) => true,
        // Of rare losses the average over the life may be of a time before them.
        Some(_) if loss > 0.000_5 => false,
        _ => now.is_none_or(is_near),
    }
}

/// Far more gets through than random loss would let, and no queue stands on the path: what exceeds a rate is dropped, or the losses came in
/// one burst.
pub fn policed(figures: &Figures<'_>, loss: f64) -> Verdict {
    let made = figures.rate_text();
    let reno = mathis(figures, loss).map_or_else(String::new, |mathis| bits_text(mathis.rate.bits()));
    let proof = format!(
        "{:.1} % of what was sent was lost without a queue (srtt is {:.2} × min_rtt), yet it makes {made} where random loss as heavy would let Reno \
         make {reno}: a policer drops what exceeds its rate, or the losses came all at once.",
        loss * 100.0,
        figures.inflation(),
    );
    let far = figures
        .rate
        .zip(mathis(figures, loss))
        .is_some_and(|(rate, mathis)| rate.rate.0 > mathis.rate.0 * 3.0);
    if far && loss > 0.02 && !figures.is_bbr() && figures.inflation() < 1.15 {
        return verdict(figures, Limit::Policer, Side::Path, 0.55, None, proof);
    }
    Verdict::unknown(figures.direction, proof)
}

/// Slow start: nothing was lost yet and the connection is young.
fn startup(figures: &Figures<'_>) -> Option<Verdict> {
    let rtt = figures.srtt()?;
    let rounds = figures.busy_rounds()?;
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
