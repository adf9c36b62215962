//! Buffers and the limits on them.

use std::fs;

use anyhow::{Context as _, Result};

use super::Seen;
use super::bulk::{self, in_flight, mbit};
use crate::lab::net::{Mode, Net, PathSpec, Side};

/// Largest `wmem_max` of any kernel as it comes.
const MOST: f64 = 4_194_304.0;

/// A path that carries gigabits.
fn wide(rtt_ms: f64) -> Result<Net> {
    Net::new(&PathSpec {
        mode: Mode::SuperPackets,
        ..PathSpec::delay(rtt_ms)
    })
}

/// A buffer that is all that holds a flow back: twice the buffer is twice the rate.
pub fn the_counter_misses_the_buffer() -> Result<Seen> {
    let run = |most_bytes: u32| {
        let net = wide(30.0)?;
        let sysctl = format!("4096 16384 {most_bytes}");
        net.host(Side::Sender).sysctl("net.ipv4.tcp_wmem", &sysctl)?;
        bulk::run(&net, &bulk::flow())
    };
    let (small, large) = (run(262_144)?, run(524_288)?);
    let told = small.last()?.tcp;
    let share = told.sndbuf_limited_us as f64 / told.busy_us.max(1) as f64;
    Ok(Seen::refuted(
        share < 0.2 && large.rate_bps > small.rate_bps * 1.5,
        format!(
            "sndbuf_limited {:.1} % of busy, and twice the buffer gives {} instead of {}",
            share * 100.0,
            mbit(large.rate_bps),
            mbit(small.rate_bps)
        ),
    ))
}

/// `tcp_wmem` alone is raised.
pub fn autotuning_passes_wmem_max() -> Result<Seen> {
    let wmem_max = wmem_max()?;
    if wmem_max > MOST {
        return Ok(Seen::untold(format!(
            "wmem_max is raised on this machine, to {wmem_max:.0}"
        )));
    }
    let net = wide(60.0)?;
    for side in [Side::Sender, Side::Receiver] {
        let host = net.host(side);
        host.sysctl("net.ipv4.tcp_wmem", "4096 16384 16777216")?;
        host.sysctl("net.ipv4.tcp_rmem", "4096 131072 33554432")?;
    }
    let seen = bulk::run(&net, &bulk::flow())?;
    let most = seen.most(in_flight);
    Ok(Seen::refuted(
        most > 1.5 * wmem_max,
        format!("{most:.0} bytes in flight, wmem_max {wmem_max:.0}"),
    ))
}

/// SO_SNDBUF of 256 KiB beside no SO_SNDBUF at all.
pub fn asking_gives_less() -> Result<Seen> {
    let net = wide(60.0)?;
    let mut asks = bulk::flow();
    asks.sender.sndbuf_bytes = Some(256 << 10);
    let (asked, tuned) = (bulk::run(&net, &asks)?, bulk::run(&net, &bulk::flow())?);
    Ok(Seen::refuted(
        asked.rate_bps < tuned.rate_bps * 0.7,
        format!(
            "at 60 ms: {} with SO_SNDBUF 262144, {} without",
            mbit(asked.rate_bps),
            mbit(tuned.rate_bps)
        ),
    ))
}

/// A low-water mark of 16 KiB.
pub fn lowat_is_for_unsent_bytes() -> Result<Seen> {
    const LOWAT: f64 = 16_384.0;
    let net = wide(30.0)?;
    let mut flow = bulk::flow();
    flow.sender.notsent_lowat_bytes = Some(LOWAT as i32);
    let seen = bulk::run(&net, &flow)?;
    let (most, unsent) = (
        seen.most(in_flight),
        seen.most(|reading| f64::from(reading.tcp.notsent_bytes)),
    );
    Ok(Seen::refuted(
        most > 10.0 * LOWAT,
        format!("tcp_notsent_lowat {LOWAT:.0}: {most:.0} bytes in flight, {unsent:.0} unsent at most"),
    ))
}

fn wmem_max() -> Result<f64> {
    let path = "/proc/sys/net/core/wmem_max";
    let text = fs::read_to_string(path).context(path)?;
    text.trim().parse().context(path)
}
