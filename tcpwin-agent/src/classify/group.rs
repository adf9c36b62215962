//! Connections taken together: what holds one of them may be the sum of all.
//!
//! Flows that fill a path between them all look held by a window, each by its own. They are summed by path and by network
//! interface before that is said of any of them.

mod finding;
mod fit;
mod sibling;
mod sum;
mod together;

use std::net::IpAddr;

pub use finding::{Finding, FindingKind, Member, findings};
pub use sum::{Sum, sums};
pub use together::together;

use crate::classify::evidence::{Context, Evidence};
use crate::classify::{Bound, Direction, Limit, Path, Verdict};
use crate::connection::interval::Interval;
use crate::observation::Key;
use crate::units::{Bytes, BytesPerSec, Micros};

/// Intervals over which a total has to be steady.
pub const LATELY: usize = 3;

/// A queue that stands is this many times what the round-trip time varies by; one that bursts fill and drain, twice as much.
const STANDS: u32 = 4;

/// A busy connection in the interval that has just ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Which.
    pub key: Key,
    /// This host's address.
    pub local: IpAddr,
    /// The other.
    pub peer: IpAddr,
    /// What holds it when it is looked at alone.
    pub limit: Limit,
    /// Which way the bytes go.
    pub direction: Direction,
    /// How fast.
    pub rate: BytesPerSec,
    /// The lower of what was acknowledged and what was delivered: an acknowledgement may come late for what was delivered before.
    pub delivered: BytesPerSec,
    /// Its rates in the last intervals, the newest first; absent if it has not been busy for as many.
    pub lately: Option<[f64; LATELY]>,
    /// Its round-trip time.
    pub rtt: Option<Micros>,
    /// Its round-trip time stands clearly above the least one seen.
    pub is_queueing: bool,
    /// And hardly varies: the queue stands, where bursts of the connection's own come and go.
    pub queue_stands: bool,
    /// What is known of its path.
    pub path: Path,
}

impl Flow {
    /// From the interval that has just ended and its verdict.
    #[must_use]
    pub fn new(
        key: Key,
        (local, peer): (IpAddr, IpAddr),
        interval: &Interval,
        verdict: &Verdict,
        lately: Option<[f64; LATELY]>,
        path: Path,
    ) -> Self {
        let rate = match verdict.direction {
            Direction::Send => interval.sending(),
            Direction::Receive => interval.receiving(),
        };
        let tcp = &interval.tcp;
        let delivered = match (interval.delivered, tcp.mss, verdict.direction) {
            (Some(segments), Some(mss), Direction::Send) => {
                let bytes = u64::from(segments) * u64::from(mss);
                BytesPerSec(Bytes(bytes).per(interval.span).0.min(rate.0))
            }
            _ => rate,
        };
        let context = Context::default();
        let is_queueing = Evidence::new(interval, &context).is_some_and(|evidence| evidence.is_queueing());
        let above = tcp
            .srtt_us
            .unwrap_or(0)
            .saturating_sub(tcp.min_rtt_us.unwrap_or(0));
        let varies = tcp.rttvar_us.unwrap_or(u32::MAX);
        let queue_stands = is_queueing && above / STANDS >= varies && verdict.direction == Direction::Send;
        Self {
            key,
            local,
            peer,
            limit: verdict.limit,
            direction: verdict.direction,
            rate,
            delivered,
            lately,
            rtt: tcp.srtt_us.filter(|us| *us > 0).map(Micros),
            is_queueing,
            queue_stands,
            path,
        }
    }

    /// A window whose size the sum over a path can explain. A slow reader is slow however many there are.
    const fn is_windowed(&self) -> bool {
        matches!(
            self.limit,
            Limit::Sndbuf
                | Limit::Rwnd
                | Limit::RwndScale
                | Limit::CwndClamp
                | Limit::CwndStartup
                | Limit::AppWindow
                | Limit::Rcvbuf
        )
    }

    /// It shows what its path can carry.
    #[must_use]
    pub const fn fills_path(&self) -> bool {
        matches!(self.limit, Limit::Bandwidth | Limit::Policer)
    }
}

/// If somebody could act on it: nobody need look at what is idle, still opening, or has no more to send.
fn is_worth_telling(limit: Limit) -> bool {
    match limit.bound() {
        Bound::Window => limit != Limit::CwndStartup,
        Bound::Loss | Bound::Bandwidth | Bound::Host => true,
        Bound::App => limit != Limit::App,
        Bound::None | Bound::Unknown => false,
    }
}

#[cfg(test)]
mod tests;
