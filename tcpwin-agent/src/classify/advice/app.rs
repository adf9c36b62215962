//! The program and its protocol, and the host below TCP.

use super::directive::{self, Sets};
use super::size::rounded;
use super::window::is_ssh;
use super::{Ask, Program};
use crate::classify::{Direction, Remedy, Side};
use crate::units::{Bytes, bits_text, bytes_text, rtt_text};

/// A window of the protocol above TCP. The end that receives the body grants it.
#[must_use]
pub fn app_window(ask: &Ask) -> Vec<Remedy> {
    if is_over_ssh(ask) {
        return channel(ask);
    }
    let now = ask.burst.map_or_else(String::new, |bytes| {
        format!(", instead of {}", bytes_text(bytes.0))
    });
    let Some(need) = ask.need() else {
        return Vec::new();
    };
    let size = rounded(need.0.max(ask.burst.map_or(0, |bytes| bytes.0.saturating_add(1))));
    let why = format!("{}{now}", ask.need_text());
    let is_download = is_download(ask);
    let sets = if is_download == Some(true) {
        Sets::Download
    } else {
        Sets::Upload
    };
    let mut remedies = Vec::new();
    if ask.direction == Direction::Send {
        remedies.push(generic(Side::PeerApp, "on the peer, which receives", size, &why));
        if is_download.is_some() {
            remedies.extend(directive::theirs(ask, sets, size, &why));
        }
    } else {
        remedies.push(
            is_download
                .and_then(|_| directive::ours(ask, sets, size, &why))
                .unwrap_or_else(|| {
                    generic(Side::LocalApp, "in the program here, which receives", size, &why)
                }),
        );
    }
    if is_download == Some(true) {
        let first = remedies.remove(0);
        remedies.insert(
            0,
            first.but(
                "the server's window changes nothing in a download: http2_body_preread_size, H2WindowSize and \
                 tune.h2.fe.initial-window-size are for uploads",
            ),
        );
    }
    remedies
        .into_iter()
        .map(|remedy| match ask.memory(size) {
            Some(memory) if remedy.side == Side::LocalApp => remedy.costing(memory),
            _ => remedy,
        })
        .collect()
}

fn generic(side: Side, place: &str, size: u64, why: &str) -> Remedy {
    let change = format!(
        "{place}: a protocol window of {size} bytes (HTTP/2: SETTINGS_INITIAL_WINDOW_SIZE and the connection's window, both)"
    );
    Remedy::new(side, change, why).for_new_connections()
}

fn channel(ask: &Ask) -> Vec<Remedy> {
    let side = if ask.direction == Direction::Send {
        Side::PeerApp
    } else {
        Side::LocalApp
    };
    let why = match ask.rtt() {
        Some(rtt) => format!("2 MiB ÷ {} is all that one channel makes", rtt_text(rtt)),
        None => "one channel makes no more than its window per round trip".to_owned(),
    };
    vec![
        Remedy::new(
            side,
            "several connections at once, HPN-SSH at the receiving end, or rsync to a daemon instead of over ssh",
            why,
        )
        .but("OpenSSH's channel window (64 packets of 32 KiB) is fixed: no option of ssh_config, sshd_config, sftp or rsync changes it"),
    ]
}

fn is_over_ssh(ask: &Ask) -> bool {
    let around = &ask.around;
    matches!(around.program, Some(Program::OpenSsh | Program::Sftp))
        || around.local_port == Some(22)
        || around.peer_port == Some(22)
        || (around.local_port.is_none()
            && around.peer_port.is_none()
            && ask.burst.is_some_and(|bytes| is_ssh(bytes.0)))
}

/// The body flows from the end that accepted to the one that connected.
fn is_download(ask: &Ask) -> Option<bool> {
    let sends = ask.direction == Direction::Send;
    ask.accepted.map(|accepted| accepted == sends)
}

/// One answer per round trip.
#[must_use]
pub fn turns(ask: &Ask) -> Vec<Remedy> {
    let per_turn = ask.burst.filter(|bytes| bytes.0 > 0);
    let why = match (per_turn, ask.rtt()) {
        (Some(bytes), Some(rtt)) => format!(
            "{} per round trip of {} makes {}",
            bytes_text(bytes.0),
            rtt_text(rtt),
            bits_text(ask.now().bits())
        ),
        _ => format!("a turn per round trip makes {}", bits_text(ask.now().bits())),
    };
    let under_way = per_turn
        .zip(ask.need())
        .filter(|_| ask.path.is_some())
        .map(|(bytes, need)| need.0.div_ceil(bytes.0))
        .filter(|count| *count > 1)
        .map_or_else(String::new, |count| {
            format!("; {count} under way would fill the path")
        });
    let caveat = "no buffer, window or congestion control shortens the wait";
    let remedy = directive::ours(ask, Sets::Requests, 0, &why).unwrap_or_else(|| {
        Remedy::new(
            Side::LocalApp,
            "pipeline: send the next request before the answer to the last, or ask for more at a time",
            format!("{why}{under_way}"),
        )
        .but(caveat)
    });
    vec![remedy]
}

/// Writes below a segment: Nagle's rule, or the price of system calls.
#[must_use]
pub fn small_writes(ask: &Ask) -> Vec<Remedy> {
    if ask.nagle {
        return vec![
            Remedy::new(
                Side::LocalApp,
                "setsockopt(TCP_NODELAY, 1) in the program that writes",
                "less than a segment waits until the peer acknowledges what went before, and the peer delays that by up to 40 ms",
            )
            .but("set at the reading end it does nothing; TCP_QUICKACK there does not last"),
            Remedy::new(
                Side::LocalApp,
                "or write a message at once: one write, writev, MSG_MORE, or TCP_CORK around the parts",
                "a message that ends in one write leaves nothing for Nagle's rule to hold, and costs fewer packets",
            ),
        ];
    }
    let why = match ask.write.filter(|bytes| bytes.0 > 0) {
        Some(Bytes(bytes)) => format!(
            "writes of {bytes} bytes are {} system calls per MB",
            1_000_000u64.div_ceil(bytes)
        ),
        None => "each write costs a system call".to_owned(),
    };
    vec![
        Remedy::new(
            Side::LocalApp,
            "write 64 KiB or more at a time, or use sendfile, splice or MSG_ZEROCOPY",
            why,
        )
        .but("no buffer or window changes the price of a system call"),
    ]
}

/// Held below TCP.
#[must_use]
pub fn host(_: &Ask) -> Vec<Remedy> {
    vec![
        Remedy::new(
            Side::LocalKernel,
            "tc -s qdisc show (backlog, overlimits), ethtool -S (queue stops), mpstat -P ALL (one core in %soft)",
            "cwnd and the peer's window have room, and the data waits between TCP and the wire: these say where",
        )
        .but("no window or buffer of the connection helps"),
        Remedy::new(
            Side::LocalKernel,
            "one core in softirq: ethtool -L DEV combined N, or echo a mask into /sys/class/net/DEV/queues/rx-0/rps_cpus",
            "the interrupts of one queue run on one core",
        ),
        Remedy::new(
            Side::LocalKernel,
            "a slow link: ethtool -K DEV tso off; a fast one with late completions: sysctl -w net.ipv4.tcp_limit_output_bytes=4194304",
            "the small-queue limit holds a socket until the driver has sent what it gave it",
        )
        .but("a larger limit lengthens the host's own queue"),
    ]
}
