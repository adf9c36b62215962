//! Settings and what they reach.

use std::fs;

use anyhow::{Context as _, Result};

use super::Seen;
use super::socket::{Pair, congestion};
use crate::lab::net::{DEVICE, Net, PathSpec, Side};

/// A route with a metric, as DHCP clients and network managers make it.
pub fn a_change_needs_the_metric() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let host = net.host(Side::Sender);
    let gateway = net.address(Side::Receiver, false);
    host.ip(&[format!("route add default via {gateway} dev {DEVICE} metric 100")])?;
    let change = |more: &str| {
        let line = format!("route change default via {gateway} dev {DEVICE} {more}");
        host.ip(&[line])
    };
    let without = change("initcwnd 32").map(|()| "changed").unwrap_or("refused");
    let with = change("metric 100 initcwnd 32")
        .map(|()| "changed")
        .unwrap_or("refused");
    Ok(Seen::refuted(
        (without, with) == ("refused", "changed"),
        format!("without the metric: {without}; with it: {with}"),
    ))
}

/// The setting is changed under a connection.
pub fn congestion_control_is_for_new_ones() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let pair = Pair::open(&net)?;
    let before = congestion(&pair.server)?;
    let other = if before == "reno" { "cubic" } else { "reno" };
    net.host(Side::Sender)
        .sysctl("net.ipv4.tcp_congestion_control", other)?;
    let running = congestion(&pair.server)?;
    let new = congestion(&Pair::open(&net)?.server)?;
    Ok(Seen::refuted(
        running == before && new == other,
        format!("the connection that was open has {running}, a new one {new}"),
    ))
}

/// It went with Linux 4.12: it broke clients behind one address.
pub fn tw_recycle_is_gone() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let is_there = |name: &str| {
        let path = format!("/proc/sys/net/ipv4/{name}");
        net.host(Side::Sender)
            .enter(|| fs::exists(&path).context(path.clone()))
    };
    let recycle = is_there("tcp_tw_recycle")?;
    Ok(Seen::refuted(
        !recycle,
        format!("tcp_tw_recycle is there: {recycle}"),
    ))
}
