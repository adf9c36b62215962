//! What else to collect, so that more can be told.

use crate::classify::{Direction, Limit, Verdict};
use crate::explain::figures::Figures;

/// What would tell more, the most telling first.
#[must_use]
pub fn collect(figures: &Figures<'_>, verdict: &Verdict) -> Vec<String> {
    let mut wanted = Vec::new();
    if verdict.limit == Limit::None && verdict.confidence >= 0.6 {
        return wanted;
    }
    let peer = figures
        .now
        .peer
        .as_deref()
        .and_then(|peer| peer.rsplit_once(':'))
        .map_or_else(String::new, |(host, port)| {
            format!(" dst {host} and dport = :{port}")
        });
    let is_uncut = figures.now.ss.has_info && !figures.now.elided && figures.tcp().mss.is_some();
    if !is_uncut || figures.now.ss.send_q.is_none() {
        wanted.push(format!(
            "the whole output of `ss -tinmo{peer}`, with its first line and nothing left out"
        ));
    } else if figures.tcp().sndbuf.is_none()
        && matches!(verdict.limit, Limit::Sndbuf | Limit::Unknown | Limit::Host)
    {
        wanted.push("the same with -m: how full the buffers are".to_owned());
    }
    let is_dead = matches!(verdict.limit, Limit::Stalled | Limit::MtuBlackhole);
    if figures.earlier.is_none() && !is_dead {
        wanted.push(format!(
            "`ss -tinm{peer}` twice, 10 s apart while it is slow: rates and shares of that time instead of averages over its life"
        ));
    } else if figures.earlier.is_some() && figures.span.is_none() {
        wanted.push("the time of each look (`date +%T; ss -tinm …`), so that rates can be told".to_owned());
    }
    if figures.mate.is_none() && !is_dead && verdict.confidence < 0.85 {
        wanted.push(match figures.direction {
            Direction::Send => "the same socket at the receiver: Recv-Q and skmem there tell a slow program from a small buffer".to_owned(),
            Direction::Receive => "the same socket from the sender's side: what holds it is seen there".to_owned(),
        });
    }
    match verdict.limit {
        Limit::MtuBlackhole | Limit::Stalled => {
            let size = figures.tcp().mss.unwrap_or(1448).saturating_add(24).max(524);
            wanted.push(format!(
                "`ping -M do -s {size} PEER` and a smaller one: if only the smaller one is answered, full packets are swallowed"
            ));
        }
        Limit::Loss => wanted.push(
            "`mtr -T -P PORT PEER`, and `nstat` before and after: where, and how much, is lost".to_owned(),
        ),
        Limit::Host => wanted.push(
            "`tc -s qdisc show`, `ethtool -k DEV`, `nstat -az TcpExtTCPSpuriousRtxHostQueues`".to_owned(),
        ),
        Limit::Unknown if verdict.inconsistent.is_some() => {
            wanted.insert(
                0,
                "the output as `ss` printed it: these figures were changed or put together".to_owned(),
            );
        }
        _ => {}
    }
    if matches!(verdict.limit, Limit::Unknown | Limit::App | Limit::Sndbuf) && figures.now.ss.has_info {
        wanted.push("`tcpwin trace` or `tcpwin top` on that host: a blocked writer and a program that waits can only be told live".to_owned());
    }
    wanted
}
