//! Fast Open (RFC 7413).

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;

use anyhow::{Context as _, Result};

use super::Seen;
use super::socket::{listener, send_with_syn};
use crate::lab::flow::{TcpInfo, option};
use crate::lab::net::{Net, PathSpec, Side};

const SYSCTL: &str = "net.ipv4.tcp_fastopen";
/// `TCPI_OPT_SYN_DATA`: the data in our SYN was acknowledged with it.
const SYN_DATA: u8 = 32;

/// The server's host with bit 1 (client), and with bit 2 (server).
pub fn bit_1_is_the_clients() -> Result<Seen> {
    let accepted_with = |bits: &str| {
        let net = Net::new(&PathSpec::delay(2.0))?;
        net.host(Side::Receiver).sysctl(SYSCTL, "1")?;
        net.host(Side::Sender).sysctl(SYSCTL, bits)?;
        // The first connection asks for a cookie, the second one uses it.
        exchange(&net)?;
        exchange(&net)
    };
    let (client_bit, server_bit) = (accepted_with("1")?, accepted_with("2")?);
    Ok(Seen::refuted(
        !client_bit && server_bit,
        format!("data in the SYN accepted by a server with 1: {client_bit}, with 2: {server_bit}"),
    ))
}

/// A request in the SYN and its answer; if the server took it from there.
fn exchange(net: &Net) -> Result<bool> {
    let listener = listener(net)?;
    let address = listener.local_addr()?;
    // What a server must do beside the sysctl.
    option(&listener, libc::IPPROTO_TCP, libc::TCP_FASTOPEN, 16).context("TCP_FASTOPEN")?;
    let client = net
        .host(Side::Receiver)
        .enter(|| send_with_syn(address, b"ask"))?;
    let (mut server, _) = listener.accept().context("cannot accept")?;
    let mut request = [0; 3];
    server.read_exact(&mut request).context("no request")?;
    server.write_all(b"answer")?;
    let mut client = std::net::TcpStream::from(client);
    let mut answer = [0; 6];
    client.read_exact(&mut answer).context("no answer")?;
    Ok(TcpInfo::of(client.as_fd())?.options & SYN_DATA != 0)
}

/// With and without them.
pub fn a_key_has_dashes() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let host = net.host(Side::Sender);
    let key = |text: &str| host.sysctl("net.ipv4.tcp_fastopen_key", text).is_ok();
    let bare = key("0123456789abcdef0123456789abcdef");
    let dashed = key("01234567-89abcdef-01234567-89abcdef");
    Ok(Seen::refuted(
        !bare && dashed,
        format!("taken without dashes: {bare}, with: {dashed}"),
    ))
}

/// What a new network namespace has.
pub fn no_blackhole_timeout() -> Result<Seen> {
    let net = Net::new(&PathSpec::delay(2.0))?;
    let path = "/proc/sys/net/ipv4/tcp_fastopen_blackhole_timeout_sec";
    let text = net
        .host(Side::Sender)
        .enter(|| std::fs::read_to_string(path).context(path))?;
    let seconds: u32 = text.trim().parse().context(path)?;
    Ok(Seen::refuted(
        seconds == 0,
        format!("tcp_fastopen_blackhole_timeout_sec is {seconds}"),
    ))
}
