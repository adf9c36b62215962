//! Receive windows and their scale (RFC 7323).

use std::os::fd::AsFd as _;

use anyhow::{Context as _, Result};

use super::Seen;
use super::socket::Pair;
use crate::lab::flow::TcpInfo;
use crate::lab::net::{HostSpec, Net, PathSpec, Side};

/// The window that a client offers first, on its usual route and with `initrwnd 20`.
pub fn initrwnd_20_shrinks() -> Result<Seen> {
    let first = |route: Option<&str>| {
        let net = Net::new(&PathSpec::delay(2.0))?;
        let route = route.map(str::to_owned);
        net.configure(
            Side::Receiver,
            &HostSpec {
                route,
                ..HostSpec::default()
            },
        )?;
        let pair = Pair::open(&net)?;
        let info = TcpInfo::of(pair.server.as_fd()).context("tcp_info")?;
        anyhow::Ok(info.snd_wnd)
    };
    let (usual, with) = (first(None)?, first(Some("initrwnd 20"))?);
    Ok(Seen::refuted(
        with < usual,
        format!("first window {usual} bytes, with initrwnd 20 {with}"),
    ))
}

/// `tcp_rmem` raised under a connection.
pub fn the_scale_is_fixed() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let before = scale(&net)?;
    let pair = Pair::open(&net)?;
    net.host(Side::Receiver)
        .sysctl("net.ipv4.tcp_rmem", "4096 131072 67108864")?;
    let running = TcpInfo::of(pair.client.as_fd())?.rcv_wscale;
    let new = scale(&net)?;
    Ok(Seen::refuted(
        running == before && new > before,
        format!(
            "scale {running}, thus {} bytes at most, of the connection that was open; {new} of a new one",
            65_535_u64 << running
        ),
    ))
}

/// The scale that a client asks for, by the largest buffer it may have.
pub fn scale_7_has_an_end() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let usual = scale(&net)?;
    net.host(Side::Receiver)
        .sysctl("net.ipv4.tcp_rmem", "4096 131072 33554432")?;
    let large = scale(&net)?;
    let most = 65_535_u64 << usual;
    // 10 Gbit/s over 30 ms.
    let bdp = 37_500_000;
    Ok(Seen::refuted(
        usual == 7 && most < bdp && large > usual,
        format!(
            "scale {usual} by default ends at {most} bytes (10 Gbit/s × 30 ms is {bdp}); {large} with 32 MiB"
        ),
    ))
}

/// What a new connection's client asked for.
fn scale(net: &Net) -> Result<u8> {
    let pair = Pair::open(net)?;
    Ok(TcpInfo::of(pair.client.as_fd())?.rcv_wscale)
}
