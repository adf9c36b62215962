//! The ceilings of a connection, and which comes next once the binding one is lifted.

use tcpwin_common::BUDGET_SNDBUF;

use crate::classify::evidence::Evidence;
use crate::classify::{Bound, Ceiling, Direction, Limit, PathOrigin, Verdict};
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

/// Every ceiling that is known, and what lifting the binding one would give.
pub(super) fn settle(evidence: &Evidence<'_>, verdict: &mut Verdict) {
    // Nobody looks up to a ceiling there, and most connections are of this kind.
    if verdict.limit == Limit::None {
        return;
    }
    let mut ledger = ceilings(evidence);
    if let Some(binding) = &verdict.ceiling {
        ledger.retain(|other| {
            other.limit != binding.limit && !(binding.limit == Limit::RwndScale && other.limit == Limit::Rwnd)
        });
        ledger.push(binding.clone());
    }
    ledger.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
    if verdict.next.is_none() {
        verdict.next = next(evidence, verdict, &ledger);
    }
    verdict.ledger = ledger;
}

/// The lowest ceiling of another cause that lies above what the connection does now.
fn next(evidence: &Evidence<'_>, verdict: &Verdict, ledger: &[Ceiling]) -> Option<Ceiling> {
    let lifts_to_a_window = match verdict.limit {
        Limit::Turns | Limit::SmallWrites | Limit::Pacing => true,
        // What a wider path would carry is not known, whatever this one was said or seen to.
        Limit::Bandwidth => false,
        // And what passed a policer was no more than it lets pass.
        Limit::Policer => evidence
            .context
            .path
            .is_some_and(|path| path.origin != PathOrigin::Seen),
        // Past a loss, a full path or a busy host lies what the path can carry.
        limit => limit.bound() == Bound::Window || evidence.context.path.is_some(),
    };
    if !lifts_to_a_window || matches!(verdict.limit, Limit::None | Limit::Unknown | Limit::App) {
        return None;
    }
    let binding = verdict
        .ceiling
        .as_ref()
        .map_or(evidence.rate, |ceiling| ceiling.rate);
    ledger
        .iter()
        .find(|other| {
            !is_same(verdict.limit, other.limit)
                && other.limit != Limit::CwndStartup
                && other.rate.0 >= binding.0 * 0.98
        })
        .cloned()
}

/// One and the same window by two names: what scaling holds down is the window offered, and whoever opens with a larger buffer
/// gets a larger scale with it.
fn is_same(binding: Limit, other: Limit) -> bool {
    binding == other
        || matches!(
            (binding, other),
            (Limit::RwndScale, Limit::Rwnd) | (Limit::Rwnd, Limit::RwndScale)
        )
}

/// Ceilings that stand, from what the socket shows.
fn ceilings(evidence: &Evidence<'_>) -> Vec<Ceiling> {
    // What stands when nothing queues: a window that is lifted meets the path's own round trip.
    let Some(rtt) = evidence.min_rtt.or(evidence.srtt) else {
        return Vec::new();
    };
    let mut ceilings = Vec::new();
    if evidence.direction == Direction::Send {
        ceilings.extend(send_buffer(evidence, rtt));
        ceilings.extend(peer_window(evidence, rtt));
        ceilings.extend(window_scale(evidence, rtt));
        ceilings.extend(congestion_window(evidence, rtt));
        ceilings.extend(random_loss(evidence, rtt));
    } else if let Some(offered) = evidence.interval.tcp.rcv_wnd.filter(|bytes| *bytes > 0) {
        let offered = Bytes(u64::from(offered));
        ceilings.extend(window(Limit::Rcvbuf, offered, rtt, "our receive window"));
    }
    if let Some(most) = evidence.interval.tcp.max_pacing_rate {
        ceilings.push(Ceiling {
            limit: Limit::Pacing,
            rate: BytesPerSec(most as f64),
            formula: "SO_MAX_PACING_RATE".to_owned(),
        });
    }
    if let Some(path) = evidence.context.path {
        ceilings.push(Ceiling {
            limit: Limit::Bandwidth,
            rate: path.rate,
            formula: path.formula().to_owned(),
        });
    }
    ceilings
}

/// The send buffer as the payload it holds: what was in flight while the writer was blocked, else its size times the payload per
/// byte of it, measured on what it holds now.
fn send_buffer(evidence: &Evidence<'_>, rtt: Micros) -> Option<Ceiling> {
    let tcp = &evidence.interval.tcp;
    if tcp.sndbuf_locked == Some(true) {
        // A moment of it says little of how full it gets.
        if let Some(flight) = evidence
            .flight(BUDGET_SNDBUF)
            .filter(|_| evidence.share(BUDGET_SNDBUF) > 0.1)
        {
            return window(
                Limit::Sndbuf,
                flight,
                rtt,
                "in flight while the writer is blocked",
            );
        }
        let payload = (f64::from(tcp.sndbuf?) * evidence.payload()) as u64;
        return window(Limit::Sndbuf, Bytes(payload), rtt, "payload in SO_SNDBUF");
    }
    let payload = Bytes((evidence.context.tcp_wmem_max? as f64 * evidence.payload()) as u64);
    window(Limit::Sndbuf, payload, rtt, "payload in tcp_wmem[2]")
}

/// The largest window the peer has offered.
fn peer_window(evidence: &Evidence<'_>, rtt: Micros) -> Option<Ceiling> {
    let tcp = &evidence.interval.tcp;
    let offered = tcp.max_window.or(tcp.snd_wnd).filter(|bytes| *bytes > 0)?;
    window(Limit::Rwnd, Bytes(u64::from(offered)), rtt, "peer's window")
}

/// The largest window that the scale agreed on can say (RFC 7323, section 2.2), unless the peer has offered it already.
fn window_scale(evidence: &Evidence<'_>, rtt: Micros) -> Option<Ceiling> {
    let tcp = &evidence.interval.tcp;
    tcp.wscale_ok?;
    let scale = tcp.snd_wscale.unwrap_or(0).min(14);
    let most = 65_535u64 << scale;
    if u64::from(tcp.max_window.or(tcp.snd_wnd)?) >= most {
        return None;
    }
    window(Limit::RwndScale, Bytes(most), rtt, &format!("65535 << {scale} ="))
}

/// A clamp, else cwnd as it is: it grows while nothing is lost, and is never what comes next.
fn congestion_window(evidence: &Evidence<'_>, rtt: Micros) -> Option<Ceiling> {
    let tcp = &evidence.interval.tcp;
    let bytes = |segments: u32| Bytes(u64::from(segments) * u64::from(evidence.mss));
    match tcp.cwnd_clamp {
        Some(clamp) => window(Limit::CwndClamp, bytes(clamp), rtt, "cwnd clamp"),
        None => window(Limit::CwndStartup, bytes(tcp.cwnd?), rtt, "cwnd"),
    }
}

/// What Reno makes of the loss seen.
fn random_loss(evidence: &Evidence<'_>, rtt: Micros) -> Option<Ceiling> {
    let loss = evidence.loss_ratio();
    if loss <= 0.0005 || evidence.is_bbr() {
        return None;
    }
    Some(Ceiling {
        limit: Limit::Loss,
        rate: mathis(evidence.mss, rtt, loss)?,
        formula: format!("{} B ÷ {} × 1.22 ÷ √{loss:.4}", evidence.mss, rtt_text(rtt)),
    })
}
