//! Socket buffers of either end, and the window scale that bounds them.
//!
//! A window needs about twice its size in buffer: the kernel charges a buffer for its own records too. SO_SNDBUF and SO_RCVBUF are
//! doubled by the kernel for that, so a program asks for what is to be in flight. net.core.wmem_max and rmem_max bound only
//! these calls; what the kernel tunes by itself is bounded by the third number of tcp_wmem and tcp_rmem.

use super::Ask;
use super::directive::{self, Sets};
use super::size::{rounded, scale_for};
use crate::classify::{Remedy, Side};
use crate::host::Sizes;
use crate::units::{Bytes, bytes_text};

/// tcp_wmem and tcp_rmem as kernels have them, where the host's are not known.
const WMEM: Sizes = Sizes {
    min: 4096,
    initial: 16_384,
    max: 4_194_304,
};
const RMEM: Sizes = Sizes {
    min: 4096,
    initial: 131_072,
    max: 6_291_456,
};

/// Our send buffer.
#[must_use]
pub fn sndbuf(ask: &Ask) -> Vec<Remedy> {
    let Some(need) = ask.need() else {
        return Vec::new();
    };
    let buffer = rounded(need.0.saturating_mul(2));
    let most = ask.around.tcp_wmem.map(|sizes| sizes.max);
    if ask.sndbuf_locked == Some(true) {
        let mut remedies = vec![unlock_sndbuf(ask, need), larger_sndbuf(ask, need)];
        // Autotuning would stop below what the path needs.
        if most.is_some_and(|most| most < buffer) {
            remedies.push(raise_wmem(ask, buffer));
        }
        return remedies;
    }
    match most {
        Some(most) if !is_at(ask.sndbuf, most) && most >= buffer => vec![memory_pressure(most)],
        Some(most) => vec![raise_wmem(ask, buffer.max(above(most)))],
        None => vec![raise_wmem(ask, buffer)],
    }
}

fn memory_pressure(most: u64) -> Remedy {
    Remedy::new(
        Side::LocalKernel,
        "compare `TCP: … mem` in /proc/net/sockstat with sysctl net.ipv4.tcp_mem, and raise tcp_mem where it stands near the second number",
        format!(
            "tcp_wmem[2] would allow {}: the memory of all TCP sockets together may hold the buffer down",
            bytes_text(most)
        ),
    )
    .but("tcp_mem counts pages of 4 KiB, not bytes")
}

fn raise_wmem(ask: &Ask, buffer: u64) -> Remedy {
    let (triple, buffer) = triple(ask.around.tcp_wmem, WMEM, buffer);
    let change = format!("sysctl -w net.ipv4.tcp_wmem=\"{triple}\"");
    let why = format!("{}; twice that in buffer", ask.need_text());
    let remedy = Remedy::new(Side::LocalKernel, change, why).but(
        "net.core.wmem_max need not follow: it bounds only SO_SNDBUF; tcp_notsent_lowat is no help either: it bounds what is unsent, not \
         what is unacknowledged",
    );
    costing(remedy, ask, buffer)
}

fn unlock_sndbuf(ask: &Ask, need: Bytes) -> Remedy {
    let why = "SO_SNDBUF switches autotuning off; without it the buffer grows with cwnd, up to tcp_wmem[2]";
    directive::ours(ask, Sets::Sndbuf, rounded(need.0), why)
        .unwrap_or_else(|| Remedy::new(Side::LocalApp, "remove the program's setsockopt(SO_SNDBUF)", why))
        .for_new_connections()
}

fn larger_sndbuf(ask: &Ask, need: Bytes) -> Remedy {
    let asked = rounded(need.0).max(above(half(ask.sndbuf)));
    let change = format!(
        "setsockopt(SO_SNDBUF, {asked}){}",
        core_max("wmem_max", ask.around.wmem_max, asked)
    );
    let why = format!("{}; the kernel doubles what is asked for", ask.need_text());
    let remedy = Remedy::new(Side::LocalApp, change, why)
        .but("the call takes no more than wmem_max and does not say so; autotuning stays off");
    costing(remedy, ask, asked.saturating_mul(2))
}

/// Our receive buffer.
#[must_use]
pub fn rcvbuf(ask: &Ask) -> Vec<Remedy> {
    if ask.wscale_ok == Some(false) && ask.rcvbuf_locked != Some(true) {
        return rwnd_scale(ask);
    }
    let Some(need) = ask.need() else {
        return Vec::new();
    };
    let need = Bytes(need.0.max(u64::from(ask.rcv_wnd.unwrap_or(0))));
    let buffer = rounded(need.0.saturating_mul(2));
    let most = ask.around.tcp_rmem.map(|sizes| sizes.max);
    if ask.rcvbuf_locked == Some(true) {
        let mut remedies = vec![unlock_rcvbuf(ask, need), larger_rcvbuf(ask, need)];
        if most.is_some_and(|most| most < buffer) {
            remedies.push(raise_rmem(ask, need, buffer));
        }
        return remedies;
    }
    match most {
        Some(most) if !is_at(ask.rcvbuf, most) && most >= buffer && !shift_is_low(ask.rcv_wscale, need) => {
            vec![window_clamp(most)]
        }
        Some(most) => vec![raise_rmem(ask, need, buffer.max(above(most)))],
        None => vec![raise_rmem(ask, need, buffer)],
    }
}

fn raise_rmem(ask: &Ask, need: Bytes, buffer: u64) -> Remedy {
    let (triple, buffer) = triple(ask.around.tcp_rmem, RMEM, buffer);
    let change = format!("sysctl -w net.ipv4.tcp_rmem=\"{triple}\"");
    let why = format!("{}; twice that in buffer", ask.need_text());
    let remedy = Remedy::new(Side::LocalKernel, change, why)
        .but("net.core.rmem_max need not follow: it bounds only SO_RCVBUF");
    scaled(costing(remedy, ask, buffer), ask.rcv_wscale, need)
}

fn unlock_rcvbuf(ask: &Ask, need: Bytes) -> Remedy {
    let why = "SO_RCVBUF switches the window's autotuning off";
    directive::ours(ask, Sets::Rcvbuf, rounded(need.0), why)
        .unwrap_or_else(|| Remedy::new(Side::LocalApp, "remove the program's setsockopt(SO_RCVBUF)", why))
        .for_new_connections()
}

fn larger_rcvbuf(ask: &Ask, need: Bytes) -> Remedy {
    let asked = rounded(need.0).max(above(half(ask.rcvbuf)));
    let core = core_max("rmem_max", ask.around.rmem_max, asked);
    let change = format!("setsockopt(SO_RCVBUF, {asked}) before connect or listen{core}");
    let why = format!("{}; the kernel doubles what is asked for", ask.need_text());
    let remedy = Remedy::new(Side::LocalApp, change, why)
        .for_new_connections()
        .but("the call takes no more than rmem_max and does not say so; set later, the window scale of the SYN still bounds it");
    costing(remedy, ask, asked.saturating_mul(2))
}

fn window_clamp(most: u64) -> Remedy {
    Remedy::new(
        Side::LocalApp,
        "look for setsockopt(TCP_WINDOW_CLAMP) in the program, and for `window` on the route (ip route show)",
        format!(
            "tcp_rmem[2] would allow a buffer of {}, so something else holds the window down",
            bytes_text(most)
        ),
    )
}

/// The peer's receive buffer.
#[must_use]
pub fn rwnd(ask: &Ask) -> Vec<Remedy> {
    let why = "a set buffer switches the window's autotuning off";
    let mut remedies = vec![
        Remedy::new(
            Side::PeerApp,
            "on the peer: remove its program's setsockopt(SO_RCVBUF), or set a larger one before connect or listen",
            why,
        )
        .for_new_connections(),
    ];
    let Some(need) = ask.need() else {
        return remedies;
    };
    let need = Bytes(need.0.max(u64::from(ask.snd_wnd.unwrap_or(0))));
    remedies.extend(
        directive::theirs(ask, Sets::Rcvbuf, rounded(need.0), why)
            .into_iter()
            .take(1),
    );
    let (triple, _) = triple(None, RMEM, rounded(need.0.saturating_mul(2)));
    let remedy = Remedy::new(
        Side::PeerKernel,
        format!("on the peer: sysctl -w net.ipv4.tcp_rmem=\"{triple}\" (its own first two numbers kept)"),
        format!("{}; twice that in buffer", ask.need_text()),
    )
    .but("rmem_max bounds only SO_RCVBUF; `initrwnd 20` on a route would shrink the first window, from 64,240 to 29,200 bytes");
    remedies.push(scaled(remedy, ask.snd_wscale, need));
    remedies
}

/// The scale of the peer's window.
#[must_use]
pub fn rwnd_scale(ask: &Ask) -> Vec<Remedy> {
    let fixed = "the scale is fixed in the SYN: live connections keep theirs";
    if ask.wscale_ok == Some(false) {
        let mut remedies = Vec::new();
        let on = "sysctl -w net.ipv4.tcp_window_scaling=1";
        if ask.around.window_scaling == Some(false) {
            remedies.push(Remedy::new(
                Side::LocalKernel,
                on,
                "scaling is off at this end, and needs both",
            ));
        }
        remedies.push(Remedy::new(
            Side::PeerKernel,
            format!("on the peer: {on}"),
            "without it 65,535 bytes are the largest window there is",
        ));
        remedies.push(Remedy::new(
            Side::Path,
            "compare the SYN at both ends (tcpdump 'tcp[tcpflags] & tcp-syn != 0'): no middlebox may strip the window scale option",
            "both ends may offer it and neither see it",
        ));
        return remedies
            .into_iter()
            .map(|remedy| remedy.for_new_connections().but(fixed))
            .collect();
    }
    let Some(need) = ask.need() else {
        return Vec::new();
    };
    let wanted = scale_for(need.0);
    let (triple, _) = triple(None, RMEM, rounded(need.0.saturating_mul(2)));
    vec![
        Remedy::new(
            Side::PeerApp,
            "on the peer: remove its program's setsockopt(SO_RCVBUF), or set a larger one before connect or listen",
            format!("{}: a scale of {wanted}; the kernel takes the scale from the buffer when the SYN leaves", ask.need_text()),
        )
        .for_new_connections()
        .but(fixed),
        Remedy::new(
            Side::PeerKernel,
            format!("on the peer: sysctl -w net.ipv4.tcp_rmem=\"{triple}\""),
            "the largest buffer that it may grow to decides the scale",
        )
        .for_new_connections()
        .but(fixed),
    ]
}

/// The three numbers with a new third: not below what a connection starts with, and where the host's are not known not below what
/// kernels have by default.
fn triple(now: Option<Sizes>, default: Sizes, buffer: u64) -> (String, u64) {
    let Sizes { min, initial, max } = now.unwrap_or(default);
    let least = if now.is_some() { initial } else { max };
    let most = buffer.max(least);
    (format!("{min} {initial} {most}"), most)
}

/// The buffer stands at what autotuning stops at.
fn is_at(buffer: Option<u32>, most: u64) -> bool {
    buffer.is_some_and(|now| u64::from(now) >= most)
}

/// The next size up: advice never leaves a setting where it is, or lowers it.
fn above(now: u64) -> u64 {
    rounded(now.saturating_add(1))
}

/// What a program asked for: the kernel doubled it.
fn half(buffer: Option<u32>) -> u64 {
    u64::from(buffer.unwrap_or(0) / 2)
}

/// The window that was agreed on cannot say what is needed.
fn shift_is_low(shift: Option<u8>, need: Bytes) -> bool {
    shift.is_some_and(|shift| 65_535u64 << shift.min(14) < need.0)
}

/// Live connections gain only as far as their window scale goes.
fn scaled(remedy: Remedy, shift: Option<u8>, need: Bytes) -> Remedy {
    if shift_is_low(shift, need) {
        let shift = shift.unwrap_or(0).min(14);
        remedy.for_new_connections().but(format!(
            "the scale of {shift} in this connection's SYN ends at {}; {} want {}",
            bytes_text(65_535u64 << shift),
            bytes_text(need.0),
            scale_for(need.0),
        ))
    } else {
        remedy
    }
}

/// The sysctl that would cut a socket option short, where it would.
fn core_max(name: &str, now: Option<u64>, asked: u64) -> String {
    match now {
        Some(most) if most >= asked => String::new(),
        _ => format!(" with sysctl -w net.core.{name}={asked}"),
    }
}

fn costing(remedy: Remedy, ask: &Ask, bytes: u64) -> Remedy {
    match ask.memory(bytes) {
        Some(memory) => remedy.costing(memory),
        None => remedy,
    }
}
