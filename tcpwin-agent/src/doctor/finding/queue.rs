//! Listeners: SYNs that came, connections that wait for `accept`, and buffers that these inherit.

use super::super::place::Place;
use super::fastopen::name;
use super::rule::{self, NOBODY, Rule, is, is_below};
use super::{Change, Finding, Kind, Severity, kind};
use crate::units::{bits_text, bytes_text};

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

const LOCKED: Kind = kind(
    "listener-buffer-locked",
    "what a listener accepts inherits a small buffer that does not grow",
);

pub(super) const KINDS: &[Kind] = &[FULL, SOMAXCONN, BACKLOG, NO_COOKIES, ALL_COOKIES, ABORT, LOCKED];

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
    findings.extend(overflowed(place));
    findings.extend(locked(place));
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
        .rated(Severity::Hurts)
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

/// Dropped while it was watched, by a queue that has been emptied since.
fn overflowed(place: &Place<'_>) -> Option<Finding> {
    let grew = place.namespace.grew("ListenOverflows");
    let mut listeners = place.namespace.listeners.iter();
    if grew == 0 || listeners.any(|listener| listener.accept_queue > listener.backlog) {
        return None;
    }
    let finding = Finding::new(FULL, place, "listeners", format!("{grew} overflows"))
        .because(format!(
            "{grew} connections were dropped while this was watched, since an accept queue was full (ListenOverflows); none is full now: a \
             burst. Each came back after a second or more"
        ))
        .rated(Severity::Hurts)
        .reaching(LISTEN)
        .changed_by(Change::program(
            "find the one with the smallest backlog (`ss -tln`: Send-Q), give its listen() a larger one, and restart it",
        ))
        .risking("a longer queue hides a program that accepts too slowly: what waits, waits for it");
    Some(finding)
}

/// Below it a far path is out of reach.
const SMALL_BUFFER: u32 = 1 << 20;

/// SO_SNDBUF and SO_RCVBUF of a listener are those of what it accepts (`sk_clone_lock`), their locks included.
fn locked(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for listener in &place.namespace.listeners {
        let options = listener.options;
        let sizes = [
            ("SO_SNDBUF", "net.ipv4.tcp_wmem", options.sndbuf_locked),
            ("SO_RCVBUF", "net.ipv4.tcp_rmem", options.rcvbuf_locked),
        ];
        for (option, setting, size) in sizes {
            let Some(size) = size.filter(|size| *size < SMALL_BUFFER) else {
                continue;
            };
            let finding = Finding::new(
                LOCKED,
                place,
                format!("{option} of {}", name(listener)),
                bytes_text(size.into()),
            )
            .because(format!(
                "accepted connections inherit it and do not grow past it: {} at 100 ms, whatever {setting} says",
                bits_text(f64::from(size) * 8.0 / 0.1)
            ))
            .reaching("connections accepted after the program was restarted: live ones keep theirs")
            .changed_by(Change::program(format!(
                "remove the program's setsockopt({option}): the kernel's own tuning begins small and grows with the path"
            )))
            .risking("none but memory");
            findings.push(finding);
        }
    }
    findings
}
