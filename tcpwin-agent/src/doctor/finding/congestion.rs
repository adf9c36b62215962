//! Congestion control: whether the setting reached the sockets, and who paces.

use super::super::place::Place;
use super::{Finding, Kind, Severity, kind};

const REACH: Kind = kind(
    "congestion-not-reached",
    "sockets use another congestion control than the setting says",
);
const PACING: Kind = kind(
    "pacing-without-fq",
    "many bbr connections pace themselves by timers, where fq would do it for all",
);

pub(super) const KINDS: &[Kind] = &[REACH, PACING];

const NAME: &str = "net.ipv4.tcp_congestion_control";
/// A timer for each of fewer is not worth a word.
const MANY: usize = 1_000;

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    reach(place).into_iter().chain(pacing(place)).collect()
}

/// A socket takes the setting when it is made, an accepted one from its listener, and a route may say another.
fn reach(place: &Place<'_>) -> Option<Finding> {
    let set = place.settings().text(NAME)?;
    let others: Vec<&str> = place
        .live
        .iter()
        .filter(|connection| {
            place
                .route(connection)
                .is_none_or(|route| route.metrics.congestion().is_none())
        })
        .filter_map(|connection| connection.tcp.congestion.as_deref())
        .filter(|name| *name != set)
        .collect();
    let listeners: Vec<&str> = place
        .namespace
        .listeners
        .iter()
        .filter_map(|listener| listener.congestion.as_deref())
        .filter(|name| *name != set)
        .collect();
    let other = *others.first().or(listeners.first())?;
    let finding = Finding::setting(REACH, place, NAME)
        .because(format!(
            "{} of {} live connections and {} of {} listeners use another, such as {other}: they are older than the setting, or their \
             programs chose it (TCP_CONGESTION)",
            others.len(),
            place.live.len(),
            listeners.len(),
            place.namespace.listeners.len()
        ))
        .rated(Severity::Note)
        .reaching(
            "sockets made from now on: live connections and listeners keep what they have, and accepted connections take their listener's",
        )
        .changed_by(super::Change::program(
            "restart the programs whose listeners and connections are to use it, or have them set TCP_CONGESTION",
        ))
        .risking("restarted programs drop their connections");
    Some(finding)
}

fn pacing(place: &Place<'_>) -> Option<Finding> {
    let bbr = place.hurt(|connection| {
        let name = connection.tcp.congestion.as_deref();
        name.is_some_and(|name| name.starts_with("bbr"))
    });
    let device = place.route(bbr.0.first()?)?.device.clone()?;
    let link = place.namespace.links.iter().find(|link| link.name == device)?;
    let qdisc = link.qdisc.as_ref()?;
    if bbr.0.len() < MANY || qdisc.kind == "fq" || qdisc.child.as_deref() == Some("fq") {
        return None;
    }
    let kind = &qdisc.kind;
    let change = (kind != "mq").then(|| {
        super::Change::command(
            format!("tc qdisc replace dev {device} root fq"),
            format!("tc qdisc replace dev {device} root {kind}"),
        )
    });
    let finding = Finding::new(PACING, place, format!("the queue of {device}"), kind.clone())
        .because(format!(
            "{} live connections use bbr. Since 4.13 it paces by itself, so nothing is broken without fq; fq does it with one timer for all \
             of them",
            bbr.0.len()
        ))
        .rated(Severity::Note)
        .reaching("live connections too, at once")
        .changed_by(change)
        .risking("what waits in the old queue is dropped");
    Some(finding)
}
