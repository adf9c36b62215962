//! The order in which the limits are asked.

use tcpwin_common::{BUDGET_APP, BUDGET_CWND, BUDGET_IDLE, BUDGET_PACING, BUDGET_RWND, BUDGET_SNDBUF};

use crate::classify::evidence::{Context, Evidence, Shares};
use crate::classify::{Direction, Verdict, floor, ledger, limit};
use crate::connection::interval::Interval;
use crate::observation::TcpState;

/// Share of events unseen from which an interval tells nothing.
const MISSED: f64 = 0.02;

/// What limited the connection in this interval.
///
/// Total: any counters give a verdict, if only `unknown` with its reason. Never a negative or non-finite rate.
#[must_use]
pub fn classify(interval: &Interval, context: &Context) -> Verdict {
    if matches!(
        interval.state,
        TcpState::SynSent | TcpState::SynRecv | TcpState::NewSynRecv
    ) {
        return Verdict::none(Direction::Send, "the handshake is under way".to_owned());
    }
    if interval.span.0 == 0 {
        return Verdict::unknown(Direction::Send, "seen once, no interval yet".to_owned());
    }
    let Some(evidence) = Evidence::new(interval, context) else {
        let reason =
            "the source tells neither a time budget nor enough of the kernel's chronos and what is unsent"
                .to_owned();
        return Verdict::unknown(Direction::Send, reason);
    };
    if let Some(reason) = floor::inconsistent(interval) {
        let unexplained = format!("the figures contradict each other: {reason}");
        return Verdict {
            inconsistent: Some(reason),
            ..Verdict::unknown(evidence.direction, unexplained)
        };
    }
    if context.missed > MISSED {
        let reason = format!(
            "the probes missed {:.0} % of what happened on this host: the kernel skips a program while it is preempted",
            context.missed * 100.0
        );
        return Verdict::unknown(evidence.direction, reason);
    }
    let mut verdict = decide(&evidence);
    verdict.confidence = verdict.confidence.clamp(0.0, 1.0);
    ledger::settle(&evidence, &mut verdict);
    verdict
}

fn decide(evidence: &Evidence<'_>) -> Verdict {
    if let Some(verdict) = limit::mtu_blackhole::tell(evidence).or_else(|| limit::stalled::tell(evidence)) {
        return verdict;
    }
    if let Some(verdict) = limit::app::nothing(evidence) {
        return verdict;
    }
    if evidence.direction == Direction::Receive {
        return receiving(evidence).unwrap_or_else(|| {
            let reason = format!(
                "this host receives {}: what holds the sender is seen at its end",
                crate::units::bits_text(evidence.rate.bits())
            );
            Verdict::unknown(Direction::Receive, reason)
        });
    }
    if evidence.free() >= evidence.held() {
        return program(evidence);
    }
    let (state, share) = evidence.dominant();
    let verdict = match state {
        BUDGET_SNDBUF => limit::bandwidth::behind_window(evidence).or_else(|| limit::sndbuf::tell(evidence)),
        BUDGET_RWND => limit::rwnd_reader::tell(evidence)
            .or_else(|| limit::bandwidth::behind_window(evidence))
            .or_else(|| limit::rwnd_scale::tell(evidence))
            .or_else(|| limit::rwnd::tell(evidence)),
        BUDGET_PACING => limit::pacing::tell(evidence)
            .or_else(|| limit::host::tell(evidence))
            .or_else(|| path(evidence)),
        BUDGET_CWND => limit::pacing::tell(evidence).or_else(|| path(evidence)),
        _ => None,
    };
    verdict
        .filter(|_| share > 0.35)
        .unwrap_or_else(|| mixed(evidence))
}

/// The program gives no more: since it waits for its peer, since its writes are small, or since it has no more.
fn program(evidence: &Evidence<'_>) -> Verdict {
    limit::small_writes::tell(evidence)
        .or_else(|| limit::app_window::tell(evidence))
        .or_else(|| limit::turns::tell(evidence))
        .unwrap_or_else(|| limit::app::tell(evidence))
}

/// This host receives: what of it holds the sender.
fn receiving(evidence: &Evidence<'_>) -> Option<Verdict> {
    limit::rcvbuf::tell(evidence).or_else(|| limit::turns::tell(evidence))
}

/// cwnd (or the congestion control's own pacing) holds the data: the path, or what is thought of it.
fn path(evidence: &Evidence<'_>) -> Option<Verdict> {
    limit::cwnd_clamp::tell(evidence)
        .or_else(|| limit::policer::tell(evidence))
        .or_else(|| limit::bandwidth::tell(evidence))
        .or_else(|| limit::loss::tell(evidence))
        .or_else(|| limit::cwnd_startup::tell(evidence))
}

/// Several causes, none of them clear.
fn mixed(evidence: &Evidence<'_>) -> Verdict {
    let percent = |state| evidence.share(state) * 100.0;
    let mut reason = format!(
        "no single cause: {:.0} % send buffer, {:.0} % peer's window, {:.0} % cwnd, {:.0} % pacing, {:.0} % program",
        percent(BUDGET_SNDBUF),
        percent(BUDGET_RWND),
        percent(BUDGET_CWND),
        percent(BUDGET_PACING),
        percent(BUDGET_APP) + percent(BUDGET_IDLE),
    );
    if evidence.origin == Shares::Guessed {
        reason.push_str(" (guessed: this source cannot see a blocked writer)");
    }
    Verdict::unknown(evidence.direction, reason)
}
