//! The path and the hosts' devices do what a scenario asks of them.

use anyhow::{Result, ensure};

use crate::lab::flow::{FlowSpec, Method, Pattern};
use crate::lab::net::{HostSpec, Net, PathSpec, Side};

const BULK: Pattern = Pattern::Bulk {
    write_bytes: 65_536,
    total_bytes: None,
    method: Method::Write,
};

/// A path of 30 ms takes 30 ms.
pub fn round_trip() -> Result<()> {
    let net = Net::new(&PathSpec::delay(30.0))?;
    let turns = Pattern::Turns {
        request_bytes: 100,
        answer_bytes: 1000,
        think_ms: 0.0,
        pause_ms: 0.0,
    };
    let mut flow = net.spawn_flow(&FlowSpec::new(turns))?;
    flow.listen_for(2.0)?;
    flow.stop()?;
    let readings = &flow.connections()[0].sender;
    let last = readings.last().copied().unwrap_or_default();
    let min_ms = f64::from(last.tcp.min_rtt_us) / 1e3;
    ensure!(
        (29.9..30.6).contains(&min_ms),
        "a path of 30 ms has a min_rtt of {min_ms} ms"
    );
    println!(
        "round trip of 30 ms: min_rtt {min_ms:.2} ms, srtt {:.2} ms",
        f64::from(last.tcp.rtt_us) / 1e3
    );
    Ok(())
}

/// Full-size segments get lost without a word, small ones pass.
pub fn large_packets_vanish() -> Result<()> {
    let net = Net::new(&PathSpec {
        mtu_blackhole_bytes: Some(1400),
        ..PathSpec::delay(2.0)
    })?;
    let small = Pattern::Turns {
        request_bytes: 100,
        answer_bytes: 1000,
        think_ms: 0.0,
        pause_ms: 0.0,
    };
    let received = |pattern| -> Result<u64> {
        let mut flow = net.spawn_flow(&FlowSpec::new(pattern))?;
        flow.listen_for(0.5)?;
        flow.stop()?;
        Ok(flow.connections()[0].total(Side::Receiver).bytes)
    };
    let passed = received(small)?;
    ensure!(passed > 0, "packets of 1,052 B do not pass a hop of 1,400 B");
    let [before, _] = net.stats();
    ensure!(
        before.dropped_too_large == 0,
        "{} small packets were dropped",
        before.dropped_too_large
    );
    let passed = received(BULK)?;
    let [after, _] = net.stats();
    ensure!(
        passed == 0 && after.dropped_too_large > 0,
        "{passed} B passed a hop of 1,400 B in full segments"
    );
    println!("a hop of 1,400 B swallowed {} packets", after.dropped_too_large);
    Ok(())
}

/// A queueing discipline lets no more out than its rate, and TCP keeps the rest to itself (small queues).
pub fn a_host_holds_its_own_back() -> Result<()> {
    const MBIT: f64 = 10.0;
    let net = Net::new(&PathSpec::delay(20.0))?;
    let host = HostSpec {
        qdisc: Some(format!("tbf rate {MBIT}mbit burst 10kb latency 200ms")),
        ..HostSpec::default()
    };
    net.configure(Side::Sender, &host)?;
    let mut flow = net.spawn_flow(&FlowSpec::new(BULK))?;
    flow.listen_for(2.0)?;
    flow.stop()?;
    let connection = &flow.connections()[0];
    let half = connection.receiver.len() / 2;
    let (from, to) = (connection.receiver[half], connection.total(Side::Receiver));
    let mbit = (to.bytes - from.bytes) as f64 * 8e3 / (to.at_ns - from.at_ns) as f64;
    let tcp = connection.total(Side::Sender).tcp;
    ensure!(
        mbit <= MBIT,
        "tbf of {MBIT} Mbit/s let {mbit:.2} Mbit/s of data out"
    );
    ensure!(
        tcp.notsent_bytes > 0 && tcp.unacked < tcp.snd_cwnd,
        "{} B unsent, {} segments out, cwnd {}: small queues do not hold the sender",
        tcp.notsent_bytes,
        tcp.unacked,
        tcp.snd_cwnd
    );
    println!(
        "tbf of {MBIT} Mbit/s: {mbit:.2} Mbit/s of data, {} segments out, cwnd {}, srtt {:.2} ms of 20",
        tcp.unacked,
        tcp.snd_cwnd,
        f64::from(tcp.rtt_us) / 1e3
    );
    Ok(())
}
