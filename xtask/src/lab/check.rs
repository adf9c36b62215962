//! The lab checks itself: what others compare with must be right first.

mod path;

use anyhow::{Result, ensure};

use super::flow::{Family, FlowSpec, Method, Part, Pattern};
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
    path::round_trip()?;
    path::large_packets_vanish()?;
    path::a_host_holds_its_own_back()?;
    every_method_moves_its_bytes()?;
    parts_follow_one_another()?;
    many_at_once()?;
    many_in_a_row()?;
    println!("lab: 7 passed, 0 failed");
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

fn parts_follow_one_another() -> Result<()> {
    const PART_S: f64 = 0.3;
    let net = Net::new(&PathSpec::delay(10.0))?;
    let patterns = [
        Pattern::Bulk {
            write_bytes: 10_000,
            total_bytes: None,
            method: Method::Write,
        },
        Pattern::Credit {
            window_bytes: 30_000,
            update_bytes: 10_000,
            frame_bytes: 4000,
        },
        Pattern::Turns {
            request_bytes: 100,
            answer_bytes: 3000,
            think_ms: 0.0,
            pause_ms: 0.0,
        },
        Pattern::WriteWriteRead {
            head_bytes: 100,
            body_bytes: 200,
            reply_bytes: 100,
        },
        Pattern::Quiet,
        Pattern::Periodic {
            write_bytes: 500,
            every_ms: 20.0,
        },
    ];
    let count = patterns.len();
    let parts = patterns
        .into_iter()
        .zip(1..)
        .map(|(pattern, number)| Part {
            until_s: Some(PART_S * f64::from(number)),
            pattern,
        })
        .collect();
    let mut spec = FlowSpec::new(Pattern::Alternate { parts });
    // Nothing holds a program's first word of a part back, so it may come together with the last one's end.
    spec.sender.nodelay = true;
    spec.receiver.nodelay = true;
    let mut flow = net.spawn_flow(&spec)?;
    flow.finish(LIMIT_S)?;
    let [connection] = flow.connections() else {
        anyhow::bail!("not one connection")
    };
    let (sent, got) = (connection.total(Side::Sender), connection.total(Side::Receiver));
    ensure!(
        (sent.bytes, sent.back_bytes) == (got.bytes, got.back_bytes) && sent.bytes > 0,
        "of {} B and {} B back, {} B and {} B were moved",
        sent.bytes,
        got.back_bytes,
        got.bytes,
        sent.back_bytes
    );
    println!(
        "{count} patterns in a row: {} B, {} B back",
        sent.bytes, sent.back_bytes
    );
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
