//! Settings that do nothing, or not what is believed of them.

use super::super::place::Place;
use super::rule::{self, NOBODY, Rule, is, is_below};
use super::{Finding, Kind, Severity, kind};
use crate::units::bytes_text;

const FACK: Kind = kind("fack-inert", "tcp_fack does nothing since 4.15");
const LATENCY: Kind = kind("low-latency-inert", "tcp_low_latency does nothing since 4.14");
const SCALE: Kind = kind(
    "adv-win-scale",
    "tcp_adv_win_scale does nothing since 6.6, and before it a negative one shrinks windows",
);
const FIN: Kind = kind("fin-timeout-inert", "tcp_fin_timeout does not shorten TIME_WAIT");
const REUSE: Kind = kind("tw-reuse-inert", "tcp_tw_reuse does nothing without timestamps");
const METRICS: Kind = kind("no-metrics-save", "nothing is remembered of peers");
const WMEM: Kind = kind(
    "wmem-max-inert",
    "net.core.wmem_max is raised and reaches no tuned socket",
);
const RMEM: Kind = kind(
    "rmem-max-inert",
    "net.core.rmem_max is raised and reaches no tuned socket",
);

pub(super) const KINDS: &[Kind] = &[FACK, LATENCY, SCALE, FIN, REUSE, METRICS, WMEM, RMEM];

const NOTHING: &str = "nothing: no socket reads it";

const RULES: &[Rule] = &[
    Rule {
        kind: FACK,
        name: "net.ipv4.tcp_fack",
        good: "0",
        is_wrong: |settings| settings.number("net.ipv4.tcp_fack") != Some(0),
        without_hurt: Some(Severity::Note),
        hurts: NOBODY,
        why: "forward acknowledgement went with 4.15; RACK (tcp_recovery) does its work",
        reached: NOTHING,
        risk: "none",
    },
    Rule {
        kind: LATENCY,
        name: "net.ipv4.tcp_low_latency",
        good: "0",
        is_wrong: |settings| settings.number("net.ipv4.tcp_low_latency") != Some(0),
        without_hurt: Some(Severity::Note),
        hurts: NOBODY,
        why: "the prequeue that it switched off went with 4.14",
        reached: NOTHING,
        risk: "none",
    },
    Rule {
        kind: FIN,
        name: "net.ipv4.tcp_fin_timeout",
        good: "60",
        is_wrong: |settings| is_below(settings, "net.ipv4.tcp_fin_timeout", 60),
        without_hurt: Some(Severity::Note),
        hurts: NOBODY,
        why: "it is how long a closed socket waits for the peer's FIN. TIME_WAIT lasts 60 s whatever it says (`TCP_TIMEWAIT_LEN`)",
        reached: "sockets in FIN_WAIT2 alone",
        risk: "none: sockets that nobody owns wait longer for peers that do not close",
    },
    Rule {
        kind: REUSE,
        name: "net.ipv4.tcp_timestamps",
        good: "1",
        is_wrong: |settings| {
            is(settings, "net.ipv4.tcp_tw_reuse", 1) && is(settings, "net.ipv4.tcp_timestamps", 0)
        },
        without_hurt: Some(Severity::Note),
        hurts: NOBODY,
        why: "tcp_tw_reuse=1 takes a port out of TIME_WAIT only where timestamps tell the old connection's segments from the new one's \
              (`tcp_twsk_unique`)",
        reached: "new connections",
        risk: "12 bytes a segment",
    },
    Rule {
        kind: METRICS,
        name: "net.ipv4.tcp_no_metrics_save",
        good: "0",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_no_metrics_save", 1),
        without_hurt: Some(Severity::Note),
        hurts: NOBODY,
        why: "it is set against an ssthresh that was remembered from a bad hour, which kernels since 5.6 do not remember any more; round-trip times \
              and reordering of peers are forgotten with it, and `cwnd lock` of a route does not bind",
        reached: "new connections",
        risk: "before 5.6: a peer's old ssthresh is used again",
    },
];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = rule::apply(RULES, place);
    findings.extend(scale(place));
    findings.extend(core(
        place,
        WMEM,
        "net.core.wmem_max",
        "net.ipv4.tcp_wmem",
        "SO_SNDBUF",
    ));
    findings.extend(core(
        place,
        RMEM,
        "net.core.rmem_max",
        "net.ipv4.tcp_rmem",
        "SO_RCVBUF",
    ));
    findings
}

/// Since 6.6 the share is measured (`scaling_ratio`).
const MEASURED: (u32, u32) = (6, 6);

fn scale(place: &Place<'_>) -> Option<Finding> {
    const NAME: &str = "net.ipv4.tcp_adv_win_scale";
    let value: i32 = place.settings().number(NAME)?;
    let is_inert = place.namespace.kernel >= MEASURED;
    let (severity, why) = match (is_inert, value) {
        (_, 1) => return None,
        (true, _) => (
            Severity::Note,
            "since 6.6 the share of a receive buffer that is window is measured for each socket, and nothing reads this".to_owned(),
        ),
        (false, i32::MIN..=-1) => (
            Severity::Risk,
            format!("only one part in {} of a receive buffer is offered as window", 1u64 << value.unsigned_abs().min(31)),
        ),
        (false, 0..) => return None,
    };
    let finding = Finding::setting(SCALE, place, NAME)
        .because(why)
        .rated(severity)
        .reaching(if is_inert {
            NOTHING
        } else {
            "new connections, and live ones as their buffers grow"
        })
        .set_to(place, NAME, "1")
        .risking("none");
    Some(finding)
}

/// The kernel's largest default, which newer ones have.
const CORE_DEFAULT: u64 = 4 << 20;

/// Somebody meant to have larger windows, and raised the wrong one.
fn core(place: &Place<'_>, kind: Kind, core: &str, tcp: &str, option: &str) -> Option<Finding> {
    let most: u64 = place.settings().number(core)?;
    let sizes = place.settings().sizes(tcp)?;
    if most <= CORE_DEFAULT || most <= sizes.max {
        return None;
    }
    let new = format!("{} {} {most}", sizes.min, sizes.initial);
    let finding = Finding::setting(kind, place, core)
        .because(format!(
            "it bounds only what a program asks for with {option}; buffers that the kernel tunes end at the third number of {tcp}, {}",
            bytes_text(sizes.max)
        ))
        .rated(Severity::Note)
        .reaching(format!("programs that set {option}"))
        .set_to(place, tcp, &new)
        .risking("memory, up to that much for each connection that fills a far path");
    Some(finding)
}
