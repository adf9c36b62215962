//! A flow that always has more to write, and what was seen of it once it had settled.

use anyhow::{Context as _, Result};

use crate::lab::flow::{FlowSpec, Method, Pattern, Reading};
use crate::lab::net::Net;

/// Seconds until a flow has settled, and until it ends.
const SETTLED_S: f64 = 2.5;
const END_S: f64 = 5.5;

/// A flow of whole megabytes.
pub fn flow() -> FlowSpec {
    FlowSpec::new(Pattern::Bulk {
        write_bytes: 65_536,
        total_bytes: None,
        method: Method::default(),
    })
}

/// A settled flow.
pub struct Seen {
    /// Bits per second that its receiver's program read.
    pub rate_bps: f64,
    /// The sender's readings while it was settled.
    pub sender: Vec<Reading>,
}

impl Seen {
    /// The largest of something.
    pub fn most(&self, of: impl Fn(&Reading) -> f64) -> f64 {
        self.sender.iter().map(of).fold(0.0, f64::max)
    }

    /// The last reading of the sender.
    pub fn last(&self) -> Result<Reading> {
        self.sender.last().copied().context("the sender told nothing")
    }
}

/// Bytes sent and not acknowledged.
pub fn in_flight(reading: &Reading) -> f64 {
    f64::from(reading.tcp.unacked) * f64::from(reading.tcp.snd_mss)
}

/// Runs the flow on the path.
pub fn run(net: &Net, spec: &FlowSpec) -> Result<Seen> {
    let mut flow = net.spawn_flow(spec)?;
    let from_ns = flow.started_ns() + (SETTLED_S * 1e9) as u64;
    flow.listen_for(END_S)?;
    flow.stop()?;
    let connection = flow.connections().first().context("the flow did not open")?;
    let settled = |readings: &[Reading]| -> Vec<Reading> {
        let passed = readings.iter().filter(|reading| reading.at_ns >= from_ns);
        passed.copied().collect()
    };
    let receiver = settled(&connection.receiver);
    let (first, last) = receiver
        .first()
        .zip(receiver.last())
        .context("the receiver told nothing")?;
    let seconds = (last.at_ns - first.at_ns) as f64 / 1e9;
    Ok(Seen {
        rate_bps: (last.bytes - first.bytes) as f64 * 8.0 / seconds,
        sender: settled(&connection.sender),
    })
}

/// Megabits per second, for people.
pub fn mbit(bps: f64) -> String {
    format!("{:.1} Mbit/s", bps / 1e6)
}
