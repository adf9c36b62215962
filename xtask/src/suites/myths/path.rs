//! Bandwidth and queues.

use anyhow::Result;

use super::Seen;
use super::bulk::{self, mbit};
use crate::lab::net::{Net, PathSpec};

/// A receive buffer of 128 KiB on a path of 50 and of 200 Mbit/s.
pub fn a_window_does_not_care_for_bandwidth() -> Result<Seen> {
    let mut flow = bulk::flow();
    flow.receiver.rcvbuf_bytes = Some(65_536);
    let rate_at = |mbit: f64| {
        let net = Net::new(&PathSpec {
            rate_mbit: Some(mbit),
            queue_kb: Some(500.0),
            ..PathSpec::delay(60.0)
        })?;
        bulk::run(&net, &flow).map(|seen| seen.rate_bps)
    };
    let (slow, fast) = (rate_at(50.0)?, rate_at(200.0)?);
    Ok(Seen::refuted(
        fast < slow * 1.1 && fast < 40e6,
        format!(
            "SO_RCVBUF 65536 at 60 ms: {} of 50, {} of 200 Mbit/s",
            mbit(slow),
            mbit(fast)
        ),
    ))
}

/// The same path without any queueing discipline that paces.
pub fn bbr_paces_itself() -> Result<Seen> {
    let inflation_with = |congestion: &str| {
        let net = Net::new(&PathSpec {
            rate_mbit: Some(20.0),
            queue_kb: Some(400.0),
            ..PathSpec::delay(30.0)
        })?;
        let mut flow = bulk::flow();
        flow.sender.congestion = congestion.to_owned();
        let seen = bulk::run(&net, &flow)?;
        let last = seen.last()?.tcp;
        let mean = seen
            .sender
            .iter()
            .map(|reading| f64::from(reading.tcp.rtt_us))
            .sum::<f64>()
            / seen.sender.len() as f64;
        anyhow::Ok((mean / f64::from(last.min_rtt_us), seen.rate_bps))
    };
    let ((cubic, _), (bbr, rate)) = (inflation_with("cubic")?, inflation_with("bbr")?);
    Ok(Seen::refuted(
        bbr < cubic * 0.75 && bbr < 2.0 && rate > 15e6,
        format!(
            "20 Mbit/s, 30 ms, no fq: srtt is {cubic:.1} times min_rtt with cubic, {bbr:.1} with bbr at {}",
            mbit(rate)
        ),
    ))
}
