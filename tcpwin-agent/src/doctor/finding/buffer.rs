//! Socket buffers: what autotuning stops at, who switched it off, and the memory of all sockets together.

use super::super::place::{Hurt, Place, ask, is_held_by};
use super::rule::{self, Rule, is, is_below};
use super::{Change, Finding, Kind, Severity, kind};
use crate::classify::advice::{self, Ask};
use crate::classify::{Limit, Remedy, Side};
use crate::host::Sizes;
use crate::snapshot::Connection;
use crate::units::{bits_text, bytes_text};

const WMEM: Kind = kind("tcp-wmem-max", "send buffers may not grow enough");
const RMEM: Kind = kind("tcp-rmem-max", "receive buffers may not grow enough");
const FIRST: Kind = kind(
    "tcp-rmem-initial",
    "connections begin with a small receive window",
);
const TUNING: Kind = kind("moderate-rcvbuf-off", "receive buffers do not grow at all");
const SNDBUF: Kind = kind(
    "sndbuf-locked",
    "programs set SO_SNDBUF, which switches autotuning off",
);
const RCVBUF: Kind = kind(
    "rcvbuf-locked",
    "programs set SO_RCVBUF, which switches autotuning off",
);
const LOWAT: Kind = kind(
    "notsent-lowat-low",
    "programs may have next to nothing waiting to be sent",
);
const MEMORY: Kind = kind(
    "tcp-mem-pressure",
    "the memory of all TCP sockets together is short",
);

pub(super) const KINDS: &[Kind] = &[WMEM, RMEM, FIRST, TUNING, SNDBUF, RCVBUF, LOWAT, MEMORY];

/// Below it a far path is out of reach: 1 MiB in flight is 46 Mbit/s at 181 ms.
const LOW: u64 = 1 << 20;
/// What kernels have, where memory allows.
const WMEM_MAX: u64 = 4 << 20;
const RMEM_MAX: u64 = 6 << 20;
/// What one window without scaling says: a first window below it is smaller than it need be.
const FIRST_WINDOW: u64 = 65_535;

const RULES: &[Rule] = &[
    Rule {
        kind: TUNING,
        name: "net.ipv4.tcp_moderate_rcvbuf",
        good: "1",
        is_wrong: |settings| is(settings, "net.ipv4.tcp_moderate_rcvbuf", 0),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| {
            is_held_by(connection, &[Limit::Rcvbuf]) && connection.tcp.rcvbuf_locked != Some(true)
        },
        why: "receive buffers stay at the second number of tcp_rmem, whatever the path needs; the third is never reached",
        reached: "live connections too: their buffers grow from the next bytes read on, as far as the window scale of their SYN goes",
        risk: "memory, up to tcp_rmem's third number a connection",
    },
    Rule {
        kind: LOWAT,
        name: "net.ipv4.tcp_notsent_lowat",
        good: "4294967295",
        is_wrong: |settings| is_below(settings, "net.ipv4.tcp_notsent_lowat", 16_384),
        without_hurt: Some(Severity::Risk),
        hurts: |connection| is_held_by(connection, &[Limit::Sndbuf, Limit::SmallWrites]),
        why: "a program is woken only once less than this waits to be sent: below one segment of TSO each wake-up sends a little, and the \
              queue runs dry in between. It bounds what is unsent, not what is unacknowledged",
        reached: "live connections too, but those that set TCP_NOTSENT_LOWAT themselves",
        risk: "more waits in the send buffer; 131072 is what web servers use that want answers to overtake one another",
    },
];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = rule::apply(RULES, place);
    findings.extend(most(place, &SEND));
    findings.extend(most(place, &RECEIVE));
    findings.extend(first(place));
    findings.extend(locked(place, &SEND));
    findings.extend(locked(place, &RECEIVE));
    findings.extend(memory(place));
    findings
}

/// One of the two directions.
struct Way {
    most: Kind,
    locked: Kind,
    name: &'static str,
    core: &'static str,
    option: &'static str,
    limit: Limit,
    default: u64,
    advice: fn(&Ask) -> Vec<Remedy>,
    /// The buffer, and whether the program set it.
    buffer: fn(&Connection) -> (Option<u32>, Option<bool>),
    risk: &'static str,
}

const SEND: Way = Way {
    most: WMEM,
    locked: SNDBUF,
    name: "net.ipv4.tcp_wmem",
    core: "net.core.wmem_max",
    option: "SO_SNDBUF",
    limit: Limit::Sndbuf,
    default: WMEM_MAX,
    advice: advice::sndbuf,
    buffer: |connection| (connection.tcp.sndbuf_bytes, connection.tcp.sndbuf_locked),
    risk: "memory: up to this much for each connection that fills a far path; a program that writes far ahead has more to take back",
};

const RECEIVE: Way = Way {
    most: RMEM,
    locked: RCVBUF,
    name: "net.ipv4.tcp_rmem",
    core: "net.core.rmem_max",
    option: "SO_RCVBUF",
    limit: Limit::Rcvbuf,
    default: RMEM_MAX,
    advice: advice::rcvbuf,
    buffer: |connection| (connection.tcp.rcvbuf_bytes, connection.tcp.rcvbuf_locked),
    risk: "memory: up to this much for each connection whose program reads slowly",
};

/// The third number of tcp_wmem or tcp_rmem.
fn most(place: &Place<'_>, way: &Way) -> Option<Finding> {
    let sizes = place.settings().sizes(way.name)?;
    // Autotuning stops a little below the number, by what a segment takes.
    let is_at = |connection: &Connection| {
        let (buffer, locked) = (way.buffer)(connection);
        locked != Some(true) && buffer.is_some_and(|buffer| u64::from(buffer) * 10 >= sizes.max * 9)
    };
    let hurt = place.hurt(|connection| is_held_by(connection, &[way.limit]) && is_at(connection));
    if hurt.is_empty() && sizes.max >= LOW {
        return None;
    }
    let wanted = hurt
        .0
        .iter()
        .filter_map(|connection| wanted(place, way, connection, hurt.0.len()))
        .max()
        .unwrap_or(way.default);
    let new = written(sizes, wanted.max(sizes.max.saturating_add(1)));
    let why = match hurt.0.first() {
        Some(example) => format!(
            "the buffers of these connections stand at its third number; of {}: {}",
            example.peer, example.proof
        ),
        None => format!(
            "no live connection is hurt. {} in buffer are no more than that in flight: {} at 100 ms",
            bytes_text(sizes.max),
            bits_text(sizes.max as f64 * 8.0 / 0.1)
        ),
    };
    let core = place.settings().text(way.core).map_or_else(String::new, |value| {
        format!(
            "; {} ({value}) bounds {} only and need not follow",
            way.core, way.option
        )
    });
    let finding = Finding::setting(way.most, place, way.name)
        .because(why)
        .hurting(&hurt)
        .reaching(format!("{}{core}", reach(place, way)))
        .set_to(place, way.name, &new)
        .risking(way.risk);
    Some(finding)
}

/// What the change would reach of the live connections.
fn reach(place: &Place<'_>, way: &Way) -> String {
    let all = place.live.len();
    let known: Vec<bool> = place
        .live
        .iter()
        .filter_map(|connection| (way.buffer)(connection).1)
        .collect();
    let locked = known.iter().filter(|locked| **locked).count();
    let scale = match way.limit {
        Limit::Rcvbuf => ", as far as the window scale of their SYN goes",
        _ => "",
    };
    match (known.is_empty(), locked) {
        (true, _) => format!(
            "live connections that did not set {} take it at once{scale}",
            way.option
        ),
        (false, 0) => format!(
            "none of {all} live connections set {}: all take it at once{scale}",
            way.option
        ),
        (false, locked) => format!(
            "{locked} of {all} live connections set {} and keep what they have; the others take it at once{scale}",
            way.option
        ),
    }
}

/// The third number that the advice for this connection works out.
fn wanted(place: &Place<'_>, way: &Way, connection: &Connection, connections: usize) -> Option<u64> {
    let ask = ask(connection, place.settings(), connections);
    let start = format!("sysctl -w {}=\"", way.name);
    (way.advice)(&ask).iter().find_map(|remedy| {
        let triple = remedy.change.strip_prefix(&start)?.strip_suffix('"')?;
        triple.split(' ').nth(2)?.parse().ok()
    })
}

fn written(sizes: Sizes, most: u64) -> String {
    format!("{} {} {most}", sizes.min, sizes.initial)
}

fn first(place: &Place<'_>) -> Option<Finding> {
    let sizes = place.settings().sizes(RECEIVE.name)?;
    if sizes.initial >= FIRST_WINDOW {
        return None;
    }
    let new = format!("{} 131072 {}", sizes.min, sizes.max.max(131_072));
    let finding = Finding::setting(FIRST, place, RECEIVE.name)
        .because(format!(
            "its second number is what a connection begins with: {} offer less than the 65,535 bytes that the SYN could, so the peer's first \
             flight is cut short",
            bytes_text(sizes.initial)
        ))
        .reaching("new connections; live ones have grown past it, or not")
        .set_to(place, RECEIVE.name, &new)
        .risking("128 KiB may be taken for each idle connection that was sent something nobody reads");
    Some(finding)
}

/// Programs that switched autotuning off, and pay for it: no sysctl reaches them.
fn locked(place: &Place<'_>, way: &Way) -> Option<Finding> {
    let hurt = place
        .hurt(|connection| is_held_by(connection, &[way.limit]) && (way.buffer)(connection).1 == Some(true));
    let example = *hurt.0.first()?;
    let buffer = (way.buffer)(example).0?;
    let most = place.settings().sizes(way.name).map(|sizes| sizes.max);
    let reached = match most {
        Some(most) => format!(
            "{} allows {}, and does not reach sockets whose buffer was set",
            way.name,
            bytes_text(most)
        ),
        None => format!("{} does not reach sockets whose buffer was set", way.name),
    };
    let who = example.process.as_ref().map_or_else(
        || "a program".to_owned(),
        |process| format!("{} ({})", process.name, process.pid),
    );
    let mut finding = Finding::new(
        way.locked,
        place,
        format!("{} of {who}", way.option),
        bytes_text(buffer.into()),
    )
    .because(format!("of {}: {}", example.peer, example.proof))
    .hurting(&hurt)
    .reaching(reached)
    .risking("none but memory: the kernel's own tuning knows the path better");
    for remedy in program_remedies(example, &hurt, place, way) {
        finding = finding.changed_by(Change::program(remedy));
    }
    Some(finding)
}

fn program_remedies(example: &Connection, hurt: &Hurt<'_>, place: &Place<'_>, way: &Way) -> Vec<String> {
    let said: Vec<String> = example
        .remedies
        .iter()
        .filter(|remedy| remedy.side == Side::LocalApp)
        .map(|remedy| remedy.change.clone())
        .collect();
    if !said.is_empty() {
        return said;
    }
    (way.advice)(&ask(example, place.settings(), hurt.0.len()))
        .into_iter()
        .filter(|remedy| remedy.side == Side::LocalApp)
        .map(|remedy| remedy.change)
        .collect()
}

fn memory(place: &Place<'_>) -> Option<Finding> {
    const NAME: &str = "net.ipv4.tcp_mem";
    let sizes = place.settings().sizes(NAME)?;
    let memory = place.machine.facts.memory?;
    if memory.used_bytes < memory.pressure_bytes {
        return None;
    }
    let doubled = [sizes.min, sizes.initial, sizes.max].map(|pages| (pages * 2).to_string());
    let finding = Finding::setting(MEMORY, place, NAME)
        .because(format!(
            "TCP's sockets hold {}, above the {} at which no buffer grows any more; at {} memory is refused. The numbers count pages, not \
             bytes",
            bytes_text(memory.used_bytes),
            bytes_text(memory.pressure_bytes),
            bytes_text(memory.limit_bytes)
        ))
        .rated(Severity::Hurts)
        .reaching("live connections too, at once")
        .set_to(place, NAME, &doubled.join(" "))
        .risking("memory of the whole machine that programs cannot have; look first for who lets so much lie unread (`ss -tnm`)");
    Some(finding)
}
