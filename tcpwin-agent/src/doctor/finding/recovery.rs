//! How losses, silence and full-size segments are dealt with, and what a socket may hand down at once.

use super::super::place::{Place, is_held_by};
use super::rule::{self, Rule, is, is_below};
use super::{Finding, Kind, Severity, kind};
use crate::classify::{Direction, Limit};
use crate::snapshot::Connection;

const PROBE: Kind = kind(
    "tail-loss-probe-off",
    "losses at the end of a flight wait for a timeout",
);
const RACK: Kind = kind("rack-off", "losses are not found by time");
const RETRIES: Kind = kind("retries2-low", "connections are given up soon");
const IDLE: Kind = kind(
    "slow-start-after-idle",
    "cwnd is cut while connections are silent",
);
const PROBING: Kind = kind(
    "mtu-probing-off",
    "full-size segments vanish, and nothing looks for a size that passes",
);
const OUTPUT: Kind = kind(
    "limit-output-low",
    "a socket may have next to nothing in the queues below TCP",
);

pub(super) const KINDS: &[Kind] = &[PROBE, RACK, RETRIES, IDLE, PROBING, OUTPUT];

const RULES: &[Rule] = &[
    Rule {
        kind: PROBE,
        name: "net.ipv4.tcp_early_retrans",
        good: "3",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_early_retrans", 0),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Loss]),
        why: "the last segments of an answer have none behind them whose acknowledgements would show their loss: without a probe after two \
              round trips they wait for the retransmission timeout, 200 ms at least (RFC 8985, section 7)",
        reached: "live connections too, from their next flight on",
        risk: "one segment sent twice now and then",
    },
    Rule {
        kind: RACK,
        name: "net.ipv4.tcp_recovery",
        good: "1",
        is_wrong: |settings| {
            settings
                .number::<i64>("net.ipv4.tcp_recovery")
                .is_some_and(|bits| bits & 1 == 0)
        },
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Loss]),
        why: "without RACK a lost retransmit is found by a timeout only, and reordering is taken for loss (RFC 8985)",
        reached: "live connections too",
        risk: "none: it has been the kernel's way since 4.18",
    },
    Rule {
        kind: RETRIES,
        name: "net.ipv4.tcp_retries2",
        good: "15",
        is_wrong: |settings| is_below(settings, "net.ipv4.tcp_retries2", 8),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Stalled]),
        why: "RFC 1122 asks for 100 s of patience at least, which is 8 timeouts in a row: below it a short outage of the path closes \
              connections that would have lived",
        reached: "live connections too: it is read at each timeout",
        risk: "dead peers are noticed later; TCP_USER_TIMEOUT bounds that for the programs that care",
    },
    Rule {
        kind: PROBING,
        name: "net.ipv4.tcp_mtu_probing",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_mtu_probing", 0),
        without_hurt: None,
        hurts: |connection| is_held_by(connection, &[Limit::MtuBlackhole]),
        why: "full-size segments of live connections never arrive, and no word of ICMP comes back: with 1 the kernel tries smaller ones after \
              some timeouts in a row (RFC 4821)",
        reached: "live connections too, once their timer has run out a few times",
        risk: "on a path that loses much it may shrink segments for no reason",
    },
    Rule {
        kind: OUTPUT,
        name: "net.ipv4.tcp_limit_output_bytes",
        good: "1048576",
        is_wrong: |settings| is_below(settings, "net.ipv4.tcp_limit_output_bytes", 131_072),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Host]),
        why: "a socket may have this much in the queueing discipline and the driver, else it waits for them: below two full segments of TSO \
              one connection cannot keep a fast interface busy (`tcp_small_queue_check`)",
        reached: "live connections too, from their next segment on",
        risk: "a little more may wait below TCP, where nothing overtakes it",
    },
];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = rule::apply(RULES, place);
    findings.extend(idle(place));
    findings
}

/// Below it a cut cwnd is made up for before anybody notices.
const FAR_US: u32 = 5_000;
/// A younger one may have begun with an ssthresh that the kernel remembers of its peer.
const OLD_US: u64 = 5_000_000;
/// `TCP_INFINITE_SSTHRESH`.
const INFINITE: u32 = 0x7fff_ffff;

/// The kernel's default, so only those that show the cut make it a finding.
fn idle(place: &Place<'_>) -> Option<Finding> {
    const NAME: &str = "net.ipv4.tcp_slow_start_after_idle";
    if !is(place.settings(), NAME, 1) {
        return None;
    }
    let hurt = place.hurt(was_cut);
    let example = hurt.0.first()?;
    let (cwnd, ssthresh) = (example.tcp.cwnd?, example.tcp.ssthresh?);
    let finding = Finding::setting(IDLE, place, NAME)
        .because(format!(
            "nothing of {} was ever sent twice, and yet its cwnd is {cwnd} below an ssthresh of {ssthresh}: it was cut while the connection \
             was silent, and each burst begins anew (`tcp_cwnd_restart`)",
            example.peer
        ))
        .hurting(&hurt)
        .reaching("live connections too, from their next silence on; bbr never had it")
        .set_to(place, NAME, "0")
        .risking("a burst of an old cwnd may meet a path that has changed since; pacing (bbr, or fq) spreads it");
    Some(finding)
}

/// Only an idle restart leaves cwnd below ssthresh where nothing was lost.
fn was_cut(connection: &Connection) -> bool {
    let tcp = &connection.tcp;
    let is_loss_free = tcp.retransmits_total == Some(0);
    // A restart leaves ssthresh at three quarters of the old cwnd, and cwnd at half of it or less; word of congestion leaves them alike.
    let is_below = tcp.cwnd.zip(tcp.ssthresh).is_some_and(|(cwnd, ssthresh)| {
        ssthresh < INFINITE && cwnd.saturating_mul(4) <= ssthresh.saturating_mul(3)
    });
    let is_far = tcp.min_rtt_us.is_some_and(|rtt| rtt >= FAR_US);
    let is_bbr = tcp
        .congestion
        .as_deref()
        .is_some_and(|name| name.starts_with("bbr"));
    let is_old = connection.age_us >= OLD_US;
    connection.direction == Direction::Send && is_old && is_loss_free && is_below && is_far && !is_bbr
}
