//! The ceilings of a connection, and which comes next once the binding one is lifted.

use tcpwin_common::BUDGET_SNDBUF;

use crate::classify::evidence::Evidence;
use crate::classify::{Bound, Ceiling, Limit, Verdict};
use crate::units::{Bytes, BytesPerSec, Micros, bytes_text, rtt_text};

/// Window ÷ RTT, with the arithmetic in words.
pub(super) fn window(limit: Limit, window: Bytes, rtt: Micros, what: &str) -> Option<Ceiling> {
    let rate = window.per_rtt(rtt)?;
    Some(Ceiling {
        limit,
        rate,
        formula: format!("{what} {} ÷ {}", bytes_text(window.0), rtt_text(rtt)),
    })
}

/// Throughput of Reno under random loss (Mathis et al. 1997): MSS ÷ RTT × √(3/2) ÷ √p.
pub(super) fn mathis(mss: u32, rtt: Micros, loss: f64) -> Option<BytesPerSec> {
    let rate = f64::from(mss) / rtt.seconds() * 1.5f64.sqrt() / loss.sqrt();
    (loss > 0.0 && rate.is_finite()).then_some(BytesPerSec(rate))
}

/// Ceilings that stand whatever the congestion control does, from what the socket shows.
fn ceilings(evidence: &Evidence<'_>) -> Vec<Ceiling> {
    let tcp = &evidence.interval.tcp;
    // What stands when nothing queues: a window that is lifted meets the path's own round trip.
    let Some(rtt) = evidence.min_rtt.or(evidence.srtt) else {
        return Vec::new();
    };
    let mut ceilings = Vec::new();
    if tcp.sndbuf_locked == Some(true) {
        if let Some(flight) = evidence.flight(BUDGET_SNDBUF) {
            ceilings.extend(window(
                Limit::Sndbuf,
                flight,
                rtt,
                "in flight while the writer is blocked",
            ));
        } else if let Some(sndbuf) = tcp.sndbuf {
            ceilings.extend(window(Limit::Sndbuf, Bytes(u64::from(sndbuf)), rtt, "SO_SNDBUF"));
        }
    } else if let Some(most) = evidence.context.tcp_wmem_max {
        ceilings.extend(window(Limit::Sndbuf, Bytes(most), rtt, "tcp_wmem[2]"));
    }
    if let Some(offered) = tcp.max_window.or(tcp.snd_wnd).filter(|bytes| *bytes > 0) {
        ceilings.extend(window(
            Limit::Rwnd,
            Bytes(u64::from(offered)),
            rtt,
            "peer's window",
        ));
    }
    if tcp.wscale_ok.is_some() {
        let scale = tcp.snd_wscale.unwrap_or(0).min(14);
        ceilings.extend(window(
            Limit::RwndScale,
            Bytes(65_535 << scale),
            rtt,
            &format!("65535 << {scale} ="),
        ));
    }
    if let (Some(clamp), mss) = (tcp.cwnd_clamp, evidence.mss) {
        ceilings.extend(window(
            Limit::CwndClamp,
            Bytes(u64::from(clamp) * u64::from(mss)),
            rtt,
            "cwnd clamp",
        ));
    }
    if let Some(most) = tcp.max_pacing_rate {
        let formula = "SO_MAX_PACING_RATE".to_owned();
        ceilings.push(Ceiling {
            limit: Limit::Pacing,
            rate: BytesPerSec(most as f64),
            formula,
        });
    }
    if let Some(path) = evidence.context.path {
        ceilings.push(Ceiling {
            limit: Limit::Bandwidth,
            rate: path.rate,
            formula: path.formula().to_owned(),
        });
    }
    let loss = evidence.loss_ratio();
    if loss > 0.0005
        && !evidence.is_bbr()
        && let Some(rate) = mathis(evidence.mss, rtt, loss)
    {
        let formula = format!("{} B ÷ {} × 1.22 ÷ √{loss:.4}", evidence.mss, rtt_text(rtt));
        ceilings.push(Ceiling {
            limit: Limit::Loss,
            rate,
            formula,
        });
    }
    ceilings
}

/// The lowest ceiling of another cause that lies above what the connection does now.
pub(super) fn next(evidence: &Evidence<'_>, verdict: &Verdict) -> Option<Ceiling> {
    // Past a loss or a full path lies what the path can carry, which is not known: the next window would promise too much.
    if verdict.limit.bound() != Bound::Window && verdict.limit != Limit::Pacing {
        return None;
    }
    let binding = verdict
        .ceiling
        .as_ref()
        .map_or(evidence.rate, |ceiling| ceiling.rate);
    let is_peer_window = |limit: Limit| matches!(limit, Limit::Rwnd | Limit::RwndReader | Limit::RwndScale);
    ceilings(evidence)
        .into_iter()
        .filter(|other| other.limit != verdict.limit && other.rate.0 >= binding.0 * 0.98)
        // A window that scaling holds down is one and the same with the window offered.
        .filter(|other| !(is_peer_window(verdict.limit) && other.limit == Limit::Rwnd))
        .filter(|other| !(verdict.limit == Limit::RwndReader && other.limit == Limit::RwndScale))
        .min_by(|a, b| a.rate.0.total_cmp(&b.rate.0))
}
