//! TCP Fast Open: bits, keys, listeners, and the paths that swallow it.

use super::super::place::Place;
use super::rule::{self, NOBODY, Rule};
use super::{Change, Finding, Kind, Severity, kind};
use crate::host::{Listener, Settings};

const SERVER: Kind = kind(
    "fastopen-server-off",
    "listeners ask for Fast Open, and the setting refuses it",
);
const CLIENT: Kind = kind(
    "fastopen-client-off",
    "programs of this host cannot use Fast Open when they connect",
);
const LISTENER: Kind = kind(
    "listener-lacks-fastopen",
    "the setting allows Fast Open, and listeners do not ask for it",
);
const COOKIE: Kind = kind(
    "fastopen-without-cookie",
    "data in a SYN is sent or taken without a cookie",
);
const KEY: Kind = kind(
    "fastopen-key-weak",
    "the key that cookies are made with can be guessed",
);
const BLACKHOLE: Kind = kind(
    "fastopen-blackhole",
    "one bad path switches Fast Open off towards all peers",
);
const OVERFLOW: Kind = kind(
    "fastopen-queue-full",
    "listeners refuse Fast Open since too many are pending",
);

pub(super) const KINDS: &[Kind] = &[SERVER, CLIENT, LISTENER, COOKIE, KEY, BLACKHOLE, OVERFLOW];

const NAME: &str = "net.ipv4.tcp_fastopen";
const KEY_NAME: &str = "net.ipv4.tcp_fastopen_key";
const BLACKHOLE_NAME: &str = "net.ipv4.tcp_fastopen_blackhole_timeout_sec";
/// `TFO_CLIENT_ENABLE`, include/net/tcp.h.
const CLIENT_BIT: u32 = 0x1;
/// `TFO_SERVER_ENABLE`.
const SERVER_BIT: u32 = 0x2;
/// `TFO_CLIENT_NO_COOKIE | TFO_SERVER_COOKIE_NOT_REQD`.
const NO_COOKIE: u32 = 0x4 | 0x200;
/// `TFO_SERVER_WO_SOCKOPT1`: every listener has it.
const ALL_LISTENERS: u32 = 0x400;

/// From here on the timeout is 0 where nobody sets it.
const OFF_BY_DEFAULT: (u32, u32) = (5, 14);

const RULES: &[Rule] = &[Rule {
    kind: BLACKHOLE,
    name: BLACKHOLE_NAME,
    good: "0",
    is_wrong: |settings| {
        settings
            .number::<u32>(BLACKHOLE_NAME)
            .is_some_and(|time| time > 0)
            && bits(settings).is_some_and(|bits| bits & CLIENT_BIT != 0)
    },
    without_hurt: Some(Severity::Risk),
    hurts: NOBODY,
    why: "after one connection whose path swallowed its data, Fast Open is off towards every peer for this many seconds, and twice as long each \
          time after; the kernel's default is 0 since 5.14, a retransmitted SYN carries no data anyway",
    reached: "a time that has begun ends as soon as the setting is 0",
    risk: "connections through a path that swallows data in SYNs wait for one timeout",
}];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let times = place.namespace.counted("TCPFastOpenBlackhole");
    // Before, 3600 is what kernels have by themselves: only that it happened makes it worth a word.
    if times > 0 || place.namespace.kernel >= OFF_BY_DEFAULT {
        for mut finding in rule::apply(RULES, place) {
            if times > 0 {
                finding.why = format!(
                    "it happened {times} times (TCPFastOpenBlackhole): {}",
                    finding.why
                );
            }
            findings.push(finding);
        }
    }
    if let Some(bits) = bits(place.settings()) {
        findings.extend(server(place, bits));
        findings.extend(client(place, bits));
        findings.extend(listener(place, bits));
        findings.extend(cookie(place, bits));
    }
    findings.extend(key(place));
    findings.extend(overflow(place));
    findings
}

/// As the kernel prints it, a decimal number.
fn bits(settings: &Settings) -> Option<u32> {
    settings.number(NAME)
}

/// Listeners with this queue of Fast Open, `None` being not known.
fn listeners<'a>(place: &Place<'a>, wanted: fn(u32) -> bool) -> Vec<&'a Listener> {
    let listeners = place.namespace.listeners.iter();
    listeners
        .filter(|listener| listener.options.fastopen_queue.is_some_and(wanted))
        .collect()
}

/// `nginx (812) at 0.0.0.0:443, …`.
fn names(listeners: &[&Listener]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = listeners.iter().take(SHOWN).map(|each| name(each)).collect();
    if listeners.len() > SHOWN {
        names.push(format!("{} more", listeners.len() - SHOWN));
    }
    names.join(", ")
}

pub(super) fn name(listener: &Listener) -> String {
    let at = listener.local.map_or_else(String::new, |local| local.to_string());
    match &listener.process {
        Some((pid, name)) => format!("{name} ({pid}) at {at}"),
        None => at,
    }
}

fn server(place: &Place<'_>, bits: u32) -> Option<Finding> {
    let asking = listeners(place, |queue| queue > 0);
    if bits & SERVER_BIT != 0 || asking.is_empty() {
        return None;
    }
    let finding = Finding::setting(SERVER, place, NAME)
        .because(format!(
            "0x1 is the client's bit, 0x2 the server's, and {bits:#x} lacks it: {} set TCP_FASTOPEN for nothing",
            names(&asking)
        ))
        .reaching("live listeners too, with the next SYN")
        .set_to(place, NAME, &(bits | SERVER_BIT).to_string())
        .risking("a request in a SYN may arrive twice: only what may be repeated should be answered to it (RFC 7413, section 6.1)");
    Some(finding)
}

fn client(place: &Place<'_>, bits: u32) -> Option<Finding> {
    if bits & CLIENT_BIT != 0 {
        return None;
    }
    let finding = Finding::setting(CLIENT, place, NAME)
        .because(format!(
            "0x1 is the client's bit, and {bits:#x} lacks it, which the kernel has by default: programs that connect with MSG_FASTOPEN or \
             TCP_FASTOPEN_CONNECT are refused or go without"
        ))
        .rated(Severity::Note)
        .reaching("the next connect")
        .set_to(place, NAME, &(bits | CLIENT_BIT).to_string())
        .risking("none: only programs that ask for it use it");
    Some(finding)
}

fn listener(place: &Place<'_>, bits: u32) -> Option<Finding> {
    let without = listeners(place, |queue| queue == 0);
    if bits & SERVER_BIT == 0 || bits & ALL_LISTENERS != 0 || without.is_empty() {
        return None;
    }
    let finding = Finding::setting(LISTENER, place, NAME)
        .because(format!(
            "the server's bit is set, but a listener must ask for itself: {} did not. setsockopt(TCP_FASTOPEN, 256) in the program (nginx: \
             listen … fastopen=256; HAProxy: bind … tfo), or the bit 0x400, which gives it to all",
            names(&without)
        ))
        .rated(Severity::Note)
        .reaching("listeners that call listen() after the change: restart the programs")
        .set_to(place, NAME, &(bits | ALL_LISTENERS).to_string())
        .risking("a request in a SYN may arrive twice, for every program that listens: prefer the programs' own option");
    Some(finding)
}

fn cookie(place: &Place<'_>, bits: u32) -> Option<Finding> {
    if bits & NO_COOKIE == 0 {
        return None;
    }
    let finding = Finding::setting(COOKIE, place, NAME)
        .because(format!(
            "{bits:#x} has 0x4 (send without) or 0x200 (take without): the cookie is what proves a client's address, without it a request can be \
             made in another's name and its answer sent there (RFC 7413, section 5)"
        ))
        .reaching("the next SYN")
        .set_to(place, NAME, &(bits & !NO_COOKIE).to_string())
        .risking("a client's first connection asks for a cookie and saves nothing");
    Some(finding)
}

/// Four words of eight digits with dashes; two keys are parted by a comma.
fn key(place: &Place<'_>) -> Option<Finding> {
    let first = place.settings().text(KEY_NAME)?.split(',').next()?;
    let words: Vec<&str> = first.split('-').collect();
    let digits = first.replace('-', "");
    let is_used = bits(place.settings()).is_some_and(|bits| bits & SERVER_BIT != 0);
    // Zeros: none was made yet, the first listener that asks makes one.
    let is_unset = digits.bytes().all(|digit| digit == b'0');
    let is_weak = words.len() == 4 && words.windows(2).all(|pair| pair[0] == pair[1]);
    if !is_used || is_unset || !is_weak {
        return None;
    }
    let new = "$(od -An -vtx4 -N16 /dev/urandom | sed 's/^ *//;s/ /-/g')";
    let finding = Finding::new(KEY, place, KEY_NAME, "four equal words")
        .because("who knows the key makes cookies for any address. It is written as four groups of eight digits with dashes between them; machines \
                  behind one address share theirs")
        .reaching("cookies given out before are refused once, and clients get new ones")
        .changed_by(Change::command(format!("sysctl -q -w {KEY_NAME}={new}"), None))
        .risking("none");
    Some(finding)
}

fn overflow(place: &Place<'_>) -> Option<Finding> {
    let grew = place.namespace.grew("TCPFastOpenListenOverflow");
    if grew == 0 {
        return None;
    }
    let asking = listeners(place, |queue| queue > 0);
    let queue = asking
        .iter()
        .filter_map(|listener| listener.options.fastopen_queue)
        .min();
    let finding = Finding::new(
        OVERFLOW,
        place,
        "TCP_FASTOPEN",
        queue.map_or_else(String::new, |queue| format!("{queue} pending at most")),
    )
    .because(format!(
        "{grew} SYNs with data were refused while this was watched, since as many were pending already (TCPFastOpenListenOverflow): {}",
        names(&asking)
    ))
    .rated(Severity::Hurts)
    .reaching("the program's own number: no setting bounds it but net.core.somaxconn")
    .changed_by(Change::program(
        "give TCP_FASTOPEN a larger number in the program (nginx: listen … fastopen=256), and restart it",
    ))
    .risking("each pending one holds a socket whose client has not proved yet that it is there");
    Some(finding)
}
