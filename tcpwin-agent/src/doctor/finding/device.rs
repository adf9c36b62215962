//! Interfaces: what queues and drops there, what they take off the CPU, how fast they are, and who receives.

use super::super::place::{Hurt, Place, is_held_by};
use super::{Change, Finding, Kind, Severity, kind};
use crate::classify::{Direction, Limit};
use crate::host::{Bucket, NetLink};
use crate::snapshot::Connection;
use crate::units::{bits_text, bytes_text};

const BLOAT: Kind = kind("queue-bloat", "what is sent waits long in an interface's queue");
const DROPS: Kind = kind(
    "queue-drops",
    "a shaper's queue is too short for the round trips through it",
);
const TSO: Kind = kind(
    "segmentation-offload-off",
    "every segment goes through the stack by itself when it is sent",
);
const GRO: Kind = kind(
    "receive-offload-off",
    "every segment goes through the stack by itself when it is received",
);
const FULL: Kind = kind("nic-full", "an interface is full");
const SLOW: Kind = kind("nic-slow", "an interface runs at a speed of long ago");
const BACKLOG: Kind = kind("netdev-backlog-drops", "packets are dropped before TCP sees them");
const CORE: Kind = kind("softirq-one-core", "one CPU receives for all");

pub(super) const KINDS: &[Kind] = &[BLOAT, DROPS, TSO, GRO, FULL, SLOW, BACKLOG, CORE];

/// A wait that people notice.
const LONG_US: u32 = 50_000;
/// What a queue is to hold on a path that is nearer.
const SHORT_US: u32 = 20_000;
/// So full a link has no room for more.
const FULL_SHARE: f64 = 0.9;
/// Fast Ethernet: whatever negotiated it, it is a cable or a port.
const SLOW_MBIT: u32 = 100;
/// So much of its time in softirq a CPU has none left for anything.
const ALL_OF_IT: f64 = 0.9;
const BACKLOG_NAME: &str = "net.core.netdev_max_backlog";

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for link in &place.namespace.links {
        findings.extend(bloat(place, link));
        findings.extend(drops(place, link));
        findings.extend(offload(place, link));
        findings.extend(full(place, link));
        findings.extend(slow(place, link));
    }
    if place.is_machines() {
        findings.extend(backlog(place));
        findings.extend(core(place));
    }
    findings
}

/// Those that send through an interface and meet a condition.
fn through<'a>(place: &Place<'a>, link: &NetLink, by: impl Fn(&Connection) -> bool) -> Hurt<'a> {
    place.hurt(|connection| {
        by(connection)
            && place
                .route(connection)
                .is_some_and(|route| route.device.as_deref() == Some(&link.name))
    })
}

/// A plain queue that stands: fair queueing with a target would drop or mark long before.
fn bloat(place: &Place<'_>, link: &NetLink) -> Option<Finding> {
    let qdisc = link.qdisc.as_ref()?;
    let is_plain = matches!(qdisc.kind.as_str(), "pfifo_fast" | "pfifo" | "bfifo")
        || (qdisc.kind == "tbf" && matches!(qdisc.child.as_deref(), None | Some("bfifo" | "pfifo")));
    let waits = |connection: &Connection| {
        let (srtt, least) = (connection.tcp.srtt_us, connection.tcp.min_rtt_us);
        srtt.zip(least)
            .is_some_and(|(srtt, least)| srtt.saturating_sub(least) >= LONG_US)
    };
    let hurt = through(place, link, |connection| {
        connection.direction == Direction::Send && waits(connection)
    });
    let rate = qdisc
        .bucket
        .map_or_else(|| hurt.rate_bps(), |bucket| bucket.rate as f64 * 8.0);
    if !is_plain || hurt.is_empty() || rate <= 0.0 {
        return None;
    }
    let wait_us = qdisc.backlog as f64 * 8e6 / rate;
    if wait_us < f64::from(LONG_US) {
        return None;
    }
    let finding = Finding::new(
        BLOAT,
        place,
        format!("the queue of {}", link.name),
        format!("{} holds {}", qdisc.kind, bytes_text(qdisc.backlog)),
    )
    .because(format!(
        "{} at {} are {:.0} ms that every packet waits, and no connection through it is faster for that; a shorter queue carries the same",
        bytes_text(qdisc.backlog),
        bits_text(rate),
        wait_us / 1e3
    ))
    .hurting(&hurt)
    .reaching("live connections too, at once")
    .changed_by(match (qdisc.bucket, qdisc.child.as_deref()) {
        // The shaper's limit is bytes, and is that of its own queue only.
        (Some(bucket), None | Some("bfifo")) => shaper(link, bucket, holding(bucket, least_rtt(&hurt).max(SHORT_US))),
        (Some(_), Some(child)) => fair(link, &format!("parent {:x}:1", qdisc.major), child),
        (None, _) => fair(link, "root", &qdisc.kind),
    })
    .risking("what waits in the old queue may be dropped once");
    // A wait is what it costs, not a rate.
    Some(Finding {
        cost_bps: None,
        ..finding
    })
}

/// A shaper that holds less than half a round trip's worth lets no cubic or reno keep it busy.
fn drops(place: &Place<'_>, link: &NetLink) -> Option<Finding> {
    let bucket = link.qdisc.as_ref()?.bucket?;
    let dropped = place.namespace.queue_dropped(&link.name);
    let senders = through(place, link, |connection| connection.direction == Direction::Send);
    let rtt = least_rtt(&senders);
    if dropped == 0 || u64::from(bucket.limit) * 2 >= holding(bucket, rtt) {
        return None;
    }
    let hurt = through(place, link, |connection| {
        is_held_by(
            connection,
            &[Limit::Loss, Limit::Host, Limit::Policer, Limit::Bandwidth],
        )
    });
    let finding = Finding::new(
        DROPS,
        place,
        format!("the queue of {}", link.name),
        format!("tbf at {} holds {} at most", bits_text(bucket.rate as f64 * 8.0), bytes_text(bucket.limit.into())),
    )
    .because(format!(
        "{dropped} packets were dropped in it while it was watched: a round trip of {:.0} ms at its rate is {}, and a congestion window that is \
         halved there cannot keep it busy",
        f64::from(rtt) / 1e3,
        bytes_text(holding(bucket, rtt))
    ))
    .rated(Severity::Hurts)
    .hurting(&hurt)
    .reaching("live connections too, at once")
    .changed_by(shaper(link, bucket, holding(bucket, rtt.max(SHORT_US))))
    .risking("packets wait up to a round trip more");
    Some(finding)
}

/// The longest of the least round-trip times, µs.
fn least_rtt(hurt: &Hurt<'_>) -> u32 {
    let least = hurt.0.iter().filter_map(|connection| connection.tcp.min_rtt_us);
    least.max().unwrap_or(0)
}

/// What a bucket lets through in so many µs, bytes.
fn holding(bucket: Bucket, time_us: u32) -> u64 {
    (bucket.rate as f64 * f64::from(time_us) / 1e6) as u64
}

/// Fair queueing with a target of 5 ms, in the stead of a plain queue.
fn fair(link: &NetLink, place: &str, plain: &str) -> Change {
    let command = |kind: &str| format!("tc qdisc replace dev {} {place} {kind}", link.name);
    Change::command(command("fq_codel"), command(plain))
}

fn shaper(link: &NetLink, bucket: Bucket, limit: u64) -> Change {
    let command = |limit: u64| {
        format!(
            "tc qdisc change dev {} root tbf rate {}bit burst {} limit {limit}",
            link.name,
            bucket.rate * 8,
            bucket.burst
        )
    };
    // Less than its bucket and a packet would pass nothing.
    let least = bucket.burst + u64::from(link.mtu);
    Change::command(command(limit.max(least)), command(bucket.limit.into()))
}

fn offload(place: &Place<'_>, link: &NetLink) -> Vec<Finding> {
    // On software interfaces GRO is off by design: what comes has been merged already.
    let is_hardware = link.kind.is_none();
    if !is_hardware && link.kind.as_deref() != Some("veth") {
        return Vec::new();
    }
    let off = |name: &str| link.features.is_switched_off(name);
    let switches = [
        (TSO, off("tx-tcp-segmentation"), "tso", "sent"),
        (TSO, off("tx-generic-segmentation"), "gso", "sent"),
        (GRO, off("rx-gro") && is_hardware, "gro", "received"),
    ];
    let hurt = through(place, link, |connection| is_held_by(connection, &[Limit::Host]));
    let found = switches.into_iter().filter(|(_, is_off, ..)| *is_off);
    found
        .map(|(kind, _, switch, done)| {
            Finding::new(kind, place, format!("{switch} of {}", link.name), "off")
                .because(format!(
                    "segments are {done} one by one, {} bytes each, where the stack could handle up to 64 KiB at once: many times the CPU for \
                     each byte",
                    link.mtu
                ))
                .hurting(&hurt)
                .reaching("live connections too, at once")
                .changed_by(Change::command(
                    format!("ethtool -K {} {switch} on", link.name),
                    format!("ethtool -K {} {switch} off", link.name),
                ))
                .risking("a driver or a virtual switch that gets it wrong corrupts or drops packets: watch retransmits after it")
        })
        .collect()
}

fn full(place: &Place<'_>, link: &NetLink) -> Option<Finding> {
    let speed = f64::from(link.speed_mbit?) * 1e6;
    let senders = through(place, link, |connection| connection.send_bps > 0.0);
    let sent: f64 = senders.0.iter().map(|connection| connection.send_bps).sum();
    if sent < speed * FULL_SHARE {
        return None;
    }
    let held = Hurt(
        senders
            .0
            .into_iter()
            .filter(|connection| is_held_by(connection, &[Limit::Bandwidth, Limit::Host, Limit::Loss]))
            .collect(),
    );
    let finding = Finding::new(FULL, place, link.name.clone(), bits_text(speed))
        .because(format!(
            "live connections send {} of payload through it: larger windows give nothing",
            bits_text(sent)
        ))
        .hurting(&held)
        .changed_by(Change::program(
            "a faster interface, or fewer flows through this one",
        ));
    Some(Finding {
        cost_bps: None,
        ..finding
    })
}

fn slow(place: &Place<'_>, link: &NetLink) -> Option<Finding> {
    let speed = link.speed_mbit.filter(|speed| *speed <= SLOW_MBIT)?;
    let finding = Finding::new(SLOW, place, link.name.clone(), format!("{speed} Mbit/s"))
        .because("interfaces have made 1 Gbit/s and more for twenty years: a cable, a port or a fixed setting at the other end holds it down")
        .changed_by(Change::program("look at cable and port (ethtool shows what each end offers)"))
        .risking("none");
    Some(finding)
}

fn backlog(place: &Place<'_>) -> Option<Finding> {
    let most: u64 = place.settings().number(BACKLOG_NAME)?;
    let dropped = place.machine.softnet?.dropped;
    if dropped == 0 {
        return None;
    }
    let finding = Finding::setting(BACKLOG, place, BACKLOG_NAME)
        .because(format!(
            "{dropped} packets were dropped while it was watched, since a CPU's receive queue was full: TCP takes them for loss on the path"
        ))
        .rated(Severity::Hurts)
        .reaching("live connections too, at once")
        .set_to(place, BACKLOG_NAME, &(most * 4).to_string())
        .risking("packets wait longer where a CPU cannot keep up: more CPUs (RPS) are the better way");
    Some(finding)
}

fn core(place: &Place<'_>) -> Vec<Finding> {
    let machine = place.machine;
    let Some(share) = machine.facts.softirq_busiest.filter(|share| *share >= ALL_OF_IT) else {
        return Vec::new();
    };
    if machine.cpus < 2 {
        return Vec::new();
    }
    let lonely = machine
        .steering
        .iter()
        .filter(|steering| steering.queues == 1 && !steering.rps);
    lonely
        .map(|steering| {
            let device = &steering.device;
            let file = format!("/sys/class/net/{device}/queues/rx-0/rps_cpus");
            let all = mask(machine.cpus);
            Finding::new(CORE, place, format!("receive queues of {device}"), "1, and no RPS")
                .because(format!(
                    "one of {} CPUs spends {:.0} % of its time on receiving, the others cannot help: all connections through it share what that one \
                     can do",
                    machine.cpus,
                    share * 100.0
                ))
                .rated(Severity::Hurts)
                .reaching("live connections too, at once")
                .changed_by(Change::command(
                    format!("echo {all} > {file}"),
                    format!("echo 0 > {file}"),
                ))
                .risking("packets cross CPUs, which costs some microseconds each; more queues in the hardware (ethtool -L) are better still")
        })
        .collect()
}

/// As `rps_cpus` takes it: hexadecimal words of 32 CPUs, the last ones first.
fn mask(cpus: usize) -> String {
    let full = cpus / 32;
    let mut words = vec!["ffffffff".to_owned(); full];
    if !cpus.is_multiple_of(32) {
        words.insert(0, format!("{:x}", (1u64 << (cpus % 32)) - 1));
    }
    words.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn masks_have_a_bit_for_each_cpu() {
        assert_eq!(super::mask(2), "3");
        assert_eq!(super::mask(32), "ffffffff");
        assert_eq!(super::mask(36), "f,ffffffff");
    }
}
