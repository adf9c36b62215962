//! The oracle: what the system's own `ss` says of every TCP socket of a namespace.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;

/// One socket as `ss -tinmHOe` prints it. What it leaves out because it is zero or not known is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SsSocket {
    pub state: String,
    pub local: Option<SocketAddr>,
    pub peer: Option<SocketAddr>,
    pub recv_q: u64,
    pub send_q: u64,
    pub inode: Option<u64>,
    pub congestion: Option<String>,
    pub sndbuf: Option<u64>,
    pub rcvbuf: Option<u64>,
    pub wmem_queued: Option<u64>,
    pub snd_wscale: Option<u64>,
    pub rcv_wscale: Option<u64>,
    pub srtt_us: Option<u64>,
    pub rttvar_us: Option<u64>,
    pub min_rtt_us: Option<u64>,
    pub mss: Option<u64>,
    pub cwnd: Option<u64>,
    pub ssthresh: Option<u64>,
    pub bytes_acked: Option<u64>,
    pub bytes_received: Option<u64>,
    pub delivered: Option<u64>,
    pub retransmits: Option<u64>,
    pub unacked: Option<u64>,
    pub unsent: Option<u64>,
    pub snd_wnd: Option<u64>,
}

/// Every socket that `ss` shows in the namespace of the calling thread, by cookie.
pub fn sockets() -> BTreeMap<u64, SsSocket> {
    let output = Command::new("ss")
        .arg("-tinmHOe")
        .output()
        .expect("iproute2's `ss` runs");
    assert!(
        output.status.success(),
        "ss: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .expect("ss prints text")
        .lines()
        .filter_map(parse)
        .collect()
}

/// One line; `None` without a cookie.
pub fn parse(line: &str) -> Option<(u64, SsSocket)> {
    let mut words = line.split_whitespace();
    let mut socket = SsSocket {
        state: words.next()?.to_owned(),
        recv_q: words.next()?.parse().ok()?,
        send_q: words.next()?.parse().ok()?,
        local: address(words.next()?),
        peer: address(words.next()?),
        ..SsSocket::default()
    };
    let mut cookie = None;
    let mut before = "";
    for word in words {
        match word.split_once(':') {
            Some(("sk", hex)) => cookie = u64::from_str_radix(hex, 16).ok(),
            Some((name, value)) => field(&mut socket, name, value),
            // The congestion control's name stands alone, before what only some connections have.
            None if matches!(word, "cubic" | "bbr" | "reno" | "dctcp" | "vegas")
                && before != "pacing_rate" =>
            {
                socket.congestion = Some(word.to_owned());
            }
            None => {}
        }
        before = word;
    }
    Some((cookie?, socket))
}

fn field(socket: &mut SsSocket, name: &str, value: &str) {
    let number = value.parse().ok();
    match name {
        "ino" => socket.inode = number,
        "skmem" => {
            for part in value.trim_matches(['(', ')']).split(',') {
                let digits = part.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
                let amount = digits.parse().ok();
                match &part[..part.len() - digits.len()] {
                    "tb" => socket.sndbuf = amount,
                    "rb" => socket.rcvbuf = amount,
                    "w" => socket.wmem_queued = amount,
                    _ => {}
                }
            }
        }
        "wscale" => {
            if let Some((send, receive)) = value.split_once(',') {
                socket.snd_wscale = send.parse().ok();
                socket.rcv_wscale = receive.parse().ok();
            }
        }
        "rtt" => {
            if let Some((srtt, rttvar)) = value.split_once('/') {
                socket.srtt_us = micros(srtt);
                socket.rttvar_us = micros(rttvar);
            }
        }
        "minrtt" => socket.min_rtt_us = micros(value),
        "mss" => socket.mss = number,
        "cwnd" => socket.cwnd = number,
        "ssthresh" => socket.ssthresh = number,
        "bytes_acked" => socket.bytes_acked = number,
        "bytes_received" => socket.bytes_received = number,
        "delivered" => socket.delivered = number,
        "retrans" => socket.retransmits = value.split_once('/').and_then(|(_, total)| total.parse().ok()),
        "unacked" => socket.unacked = number,
        "notsent" => socket.unsent = number,
        "snd_wnd" => socket.snd_wnd = number,
        _ => {}
    }
}

/// `ss` prints milliseconds with up to six digits.
fn micros(millis: &str) -> Option<u64> {
    let millis: f64 = millis.parse().ok()?;
    Some((millis * 1e3).round() as u64)
}

/// `127.0.0.1:80`, `[::1]:80`, `[::ffff:127.0.0.1]:80` (told as IPv4), `[fe80::1]%eth0:80`.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.split('%').next()?.trim_matches(['[', ']']);
    let host: std::net::IpAddr = host.parse().ok()?;
    Some(SocketAddr::new(host.to_canonical(), port.parse().ok()?))
}
