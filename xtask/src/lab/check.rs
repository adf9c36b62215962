//! The lab checks itself: what others compare with must be right first.

use anyhow::{Result, ensure};

use super::flow::{Family, FlowSpec, Method, Pattern};
use super::net::{Net, PathSpec, Side};

const METHODS: [Method; 6] = [
    Method::Record,
    Method::Write,
    Method::Writev,
    Method::Sendmmsg,
    Method::Sendfile,
    Method::Splice,
];
const FAMILIES: [Family; 3] = [Family::Ipv4, Family::Ipv6, Family::V4Mapped];
const LIMIT_S: f64 = 60.0;

/// Runs all checks.
pub fn run() -> Result<()> {
    round_trip()?;
    every_method_moves_its_bytes()?;
    many_at_once()?;
    many_in_a_row()?;
    println!("lab: 4 passed, 0 failed");
    Ok(())
}

fn round_trip() -> Result<()> {
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

fn every_method_moves_its_bytes() -> Result<()> {
    const BYTES: u64 = 3_000_001;
    let net = Net::new(&PathSpec::delay(2.0))?;
    for method in METHODS {
        for nonblocking in [false, true] {
            let mut spec = FlowSpec::new(Pattern::Bulk {
                write_bytes: 40_000,
                total_bytes: Some(BYTES),
                method,
            });
            spec.sender.nonblocking = nonblocking;
            let mut flow = net.spawn_flow(&spec)?;
            flow.finish(LIMIT_S)?;
            let [connection] = flow.connections() else {
                anyhow::bail!("not one connection")
            };
            let (sent, got) = (connection.total(Side::Sender), connection.total(Side::Receiver));
            ensure!(
                (sent.bytes, got.bytes) == (BYTES, BYTES),
                "{method:?}: {} sent, {} read",
                sent.bytes,
                got.bytes
            );
            println!(
                "{method:?}, non-blocking {nonblocking}: {BYTES} B in {} calls",
                sent.calls
            );
        }
    }
    Ok(())
}

fn many_at_once() -> Result<()> {
    const COUNT: usize = 70;
    let net = Net::new(&PathSpec::delay(10.0))?;
    let mut flows = Vec::new();
    for family in FAMILIES {
        let bulk = Pattern::Bulk {
            write_bytes: 10_000,
            total_bytes: Some(200_000),
            method: Method::Write,
        };
        let spec = FlowSpec {
            family,
            count: COUNT,
            tick_ms: 1000,
            ..FlowSpec::new(bulk)
        };
        flows.push(net.spawn_flow(&spec)?);
    }
    for flow in &mut flows {
        flow.finish(LIMIT_S)?;
        let all = flow.connections();
        ensure!(all.len() == COUNT, "{} connections of {COUNT}", all.len());
        let whole = |side| {
            all.iter()
                .all(|connection| connection.total(side).bytes == 200_000)
        };
        ensure!(
            whole(Side::Sender) && whole(Side::Receiver),
            "a connection lost bytes"
        );
    }
    println!("{} connections at once over {FAMILIES:?}", COUNT * FAMILIES.len());
    Ok(())
}

fn many_in_a_row() -> Result<()> {
    const EACH: usize = 250;
    let net = Net::new(&PathSpec::delay(2.0))?;
    let short = Pattern::Short {
        connections: EACH,
        bytes: 5000,
    };
    let mut flow = net.spawn_flow(&FlowSpec {
        count: 4,
        connects: Side::Receiver,
        ..FlowSpec::new(short)
    })?;
    flow.finish(LIMIT_S)?;
    let all = flow.connections();
    let whole = all.iter().filter(|connection| {
        connection.total(Side::Sender).bytes == 5000 && connection.total(Side::Receiver).bytes == 5000
    });
    ensure!(
        whole.count() == 4 * EACH && all.len() == 4 * EACH,
        "short connections are missing or lost bytes"
    );
    let [forward, reverse] = net.stats();
    println!(
        "{} short connections, {} packets forward, {} back",
        all.len(),
        forward.packets,
        reverse.packets
    );
    Ok(())
}
