//! Options that both ends agree on in the SYN.

use super::super::place::{Place, is_held_by};
use super::rule::{self, NOBODY, Rule, is};
use super::{Finding, Kind, Severity, kind};
use crate::classify::Limit;

const SCALING: Kind = kind("window-scaling-off", "window scaling is off");
const SACK: Kind = kind("sack-off", "selective acknowledgements are off");
const TIMESTAMPS: Kind = kind("timestamps-off", "timestamps are off");
const ECN: Kind = kind(
    "ecn-without-fallback",
    "a path that drops SYNs with ECN cannot be connected through",
);

pub(super) const KINDS: &[Kind] = &[SCALING, SACK, TIMESTAMPS, ECN];

const AGREED: &str = "agreed on in the SYN: live connections keep what they have, new ones get it";

const RULES: &[Rule] = &[
    Rule {
        kind: SCALING,
        name: "net.ipv4.tcp_window_scaling",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_window_scaling", 0),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::RwndScale]),
        why: "without scaling 65,535 bytes are the largest window either end can say: 2.90 Mbit/s at 181 ms (RFC 7323)",
        reached: AGREED,
        risk: "none known: every system of the last twenty years scales",
    },
    Rule {
        kind: SACK,
        name: "net.ipv4.tcp_sack",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_sack", 0),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Loss]),
        why: "without SACK one loss is found a round trip, and several in one window take as many round trips or a timeout; RACK and \
              tail loss probes do not work",
        reached: AGREED,
        risk: "none on kernels with the fixes for CVE-2019-11477 (4.4.182, 4.9.182, 4.14.127, 4.19.52, 5.1.11 and later)",
    },
    Rule {
        kind: TIMESTAMPS,
        name: "net.ipv4.tcp_timestamps",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_timestamps", 0),
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "without timestamps a needless retransmit cannot be told and undone, old segments are not told from new ones once sequence \
              numbers wrap (34 s at 1 Gbit/s), and tcp_tw_reuse does nothing",
        reached: AGREED,
        risk: "12 bytes a segment; since 4.10 they start at a random offset for each pair of addresses and tell no uptime",
    },
    Rule {
        kind: ECN,
        name: "net.ipv4.tcp_ecn_fallback",
        good: "1",
        is_wrong: |settings| {
            is(settings, "net.ipv4.tcp_ecn_fallback", 0) && is(settings, "net.ipv4.tcp_ecn", 1)
        },
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "tcp_ecn=1 asks for ECN in every SYN; where a middlebox drops such SYNs, only the fallback connects without it \
              (RFC 3168, section 6.1.1.1)",
        reached: "of the next SYN on",
        risk: "none: the first two SYNs still ask for ECN",
    },
];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    rule::apply(RULES, place)
}
