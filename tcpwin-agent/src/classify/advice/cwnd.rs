//! The congestion window: still growing, or clamped.

use super::Ask;
use crate::classify::{Remedy, Side};
use crate::units::rtt_text;

/// Segments of the first flight that are still considered modest (twice RFC 6928's ten, and then some).
const INITCWND: u32 = 32;

/// A connection that still grows.
#[must_use]
pub fn cwnd_startup(ask: &Ask) -> Vec<Remedy> {
    let round = ask.rtt().map_or_else(|| "a round trip".to_owned(), rtt_text);
    let left = rounds_left(ask).map_or_else(String::new, |rounds| {
        format!("; {rounds} more until the target is reached")
    });
    vec![
        Remedy::new(
            Side::LocalApp,
            "keep connections open and reuse them",
            format!("each doubling costs {round}{left}"),
        ),
        Remedy::new(
            Side::LocalKernel,
            "sysctl -w net.ipv4.tcp_slow_start_after_idle=0",
            "otherwise cwnd is halved for every retransmission timeout of silence, down to the first flight",
        )
        .but("it saves nothing on a connection that has just opened"),
        Remedy::new(
            Side::LocalKernel,
            format!("ip route change <the whole route as `ip route show` has it, metric included> initcwnd {INITCWND}"),
            format!("a first flight of {} bytes instead of {}", u64::from(INITCWND) * u64::from(ask.mss), 10 * u64::from(ask.mss)),
        )
        .for_new_connections()
        .but("without its metric the command makes a second route; the peer's first window, about 64 KB, bounds the first flight too; do \
              not add initrwnd 20: it shrinks ours, from 64,240 to 29,200 bytes"),
    ]
}

/// Doublings from cwnd to what the target needs.
fn rounds_left(ask: &Ask) -> Option<u32> {
    let now = u64::from(ask.cwnd?).saturating_mul(u64::from(ask.mss));
    // Without a known path there is no end to name.
    ask.path?;
    let need = ask.need()?.0;
    (now > 0 && need > now).then(|| need.div_ceil(now).next_power_of_two().trailing_zeros())
}

/// A clamped one.
#[must_use]
pub fn cwnd_clamp(ask: &Ask) -> Vec<Remedy> {
    let segments = ask.need().map(|need| need.0.div_ceil(u64::from(ask.mss.max(1))));
    let now = ask.clamp.map_or_else(String::new, |clamp| format!(" of {clamp}"));
    let why = match segments {
        Some(segments) => format!("{}: {segments} segments, above the clamp{now}", ask.need_text()),
        None => format!("cwnd never grows past the clamp{now}"),
    };
    vec![
        Remedy::new(
            Side::LocalKernel,
            "ip route change <the whole route as `ip route show` has it, metric included>, without `cwnd … lock`; then ip tcp_metrics flush",
            why,
        )
        .for_new_connections()
        .but("without its metric the command makes a second route and the lock stays"),
        Remedy::new(
            Side::LocalApp,
            "where no route has it: look for a BPF program that sets TCP_BPF_SNDCWND_CLAMP (bpftool cgroup tree)",
            "the only other way to a clamp on the sender's window",
        )
        .but("setsockopt(TCP_WINDOW_CLAMP) bounds the window we offer, not this one"),
    ]
}
