//! The queues of listeners: SYNs that came, connections that wait for `accept`.

use super::super::place::Place;
use super::fastopen::name;
use super::rule::{self, NOBODY, Rule, is, is_below};
use super::{Change, Finding, Kind, Severity, kind};

const FULL: Kind = kind(
    "accept-queue-full",
    "connections are dropped since a program accepts too slowly",
);
const SOMAXCONN: Kind = kind("somaxconn-low", "listeners may have only few connections waiting");
const BACKLOG: Kind = kind(
    "syn-backlog-low",
    "few SYNs are remembered, and no cookies help out",
);
const NO_COOKIES: Kind = kind("syncookies-off", "a flood of SYNs shuts listeners");
const ALL_COOKIES: Kind = kind(
    "syncookies-always",
    "every connection is opened by cookie, even without a flood",
);
const ABORT: Kind = kind(
    "abort-on-overflow",
    "connections are reset where they would wait a moment",
);

pub(super) const KINDS: &[Kind] = &[FULL, SOMAXCONN, BACKLOG, NO_COOKIES, ALL_COOKIES, ABORT];

const SOMAXCONN_NAME: &str = "net.core.somaxconn";
/// The kernel's default since 5.4.
const SOMAXCONN_GOOD: u32 = 4_096;

const LISTEN: &str = "listeners that call listen() after the change: the others keep the backlog they have";

const RULES: &[Rule] = &[
    Rule {
        kind: SOMAXCONN,
        name: SOMAXCONN_NAME,
        good: "4096",
        is_wrong: |settings| is_below(settings, SOMAXCONN_NAME, 1_024),
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "listen()'s backlog is cut to it without a word: a burst of more connections than this is dropped, and each comes back after 1 s",
        reached: LISTEN,
        risk: "none: each program still says how many it wants",
    },
    Rule {
        kind: BACKLOG,
        name: "net.ipv4.tcp_max_syn_backlog",
        good: "4096",
        is_wrong: |settings| {
            is_below(settings, "net.ipv4.tcp_max_syn_backlog", 1_024)
                && is(settings, "net.ipv4.tcp_syncookies", 0)
        },
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "with cookies off, SYNs are dropped once three quarters of it are pending at a listener; with cookies on it does nothing \
              (`tcp_conn_request`)",
        reached: "live listeners too, with the next SYN",
        risk: "some 300 bytes for each pending SYN",
    },
    Rule {
        kind: NO_COOKIES,
        name: "net.ipv4.tcp_syncookies",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_syncookies", 0),
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "once the queue of a listener is full of SYNs that nobody completes, it takes no others: a few packets a second shut a service",
        reached: "live listeners too, with the next SYN",
        risk: "none: cookies are used only while a queue overflows",
    },
    Rule {
        kind: ALL_COOKIES,
        name: "net.ipv4.tcp_syncookies",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_syncookies", 2),
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "2 is for tests: a cookie has no room for a connection's options, so those of clients without timestamps lose window scaling and SACK",
        reached: "new connections",
        risk: "none: cookies are still used while a queue overflows",
    },
    Rule {
        kind: ABORT,
        name: "net.ipv4.tcp_abort_on_overflow",
        good: "0",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_abort_on_overflow", 1),
        without_hurt: Some(Severity::Risk),
        hurts: NOBODY,
        why: "a client whose connection meets a full accept queue is reset at once; without it the handshake is tried again, and a burst passes \
              unnoticed",
        reached: "live listeners too",
        risk: "clients of a program that hangs wait instead of failing at once",
    },
];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = rule::apply(RULES, place);
    findings.extend(full(place));
    findings
}

/// As `sk_acceptq_is_full`: the backlog and one.
fn full(place: &Place<'_>) -> Vec<Finding> {
    let full = place
        .namespace
        .listeners
        .iter()
        .filter(|listener| listener.accept_queue > listener.backlog);
    let grew = place.namespace.grew("ListenOverflows");
    let somaxconn = place.settings().number::<u32>(SOMAXCONN_NAME);
    full.map(|listener| {
        let mut finding = Finding::new(
            FULL,
            place,
            format!("listener {}", name(listener)),
            format!("{} waiting, backlog {}", listener.accept_queue, listener.backlog),
        )
        .because(format!(
            "what completes its handshake now is dropped and comes back after a second or more; {grew} were while this was watched \
             (ListenOverflows, all listeners of the namespace)"
        ))
        .as_bad_as(Severity::Hurts)
        .reaching(LISTEN)
        .risking("a longer queue hides a program that accepts too slowly: what waits, waits for it");
        // Only where the setting is what cut it.
        if let Some(most) = somaxconn.filter(|most| listener.backlog >= *most) {
            let new = most.saturating_mul(4).max(SOMAXCONN_GOOD).to_string();
            finding = finding.set_to(place, SOMAXCONN_NAME, &new);
        }
        finding.changed_by(Change::program(
            "have the program accept faster (more workers), give listen() a larger backlog (nginx: listen … backlog=N), and restart it",
        ))
    })
    .collect()
}
