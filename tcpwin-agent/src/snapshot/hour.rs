//! What held the host's connections over the last hour, in equal parts: enough for a picture without a time-series database.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::classify::Bound;

/// Length of a part, ns.
const PART_NS: u64 = 10_000_000_000;
/// Parts kept.
const PARTS: usize = 360;

/// What connections were spending their time on in one part of the hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HourPart {
    /// CLOCK_MONOTONIC of its end, ns.
    pub end_ns: u64,
    /// Its length, µs: 10 s, or what the agent's ticks made of it; the last part is still growing.
    pub span_us: u64,
    /// Seconds that all connections together spent, by class. Divided by the part's length: how many there were on average.
    pub seconds: BTreeMap<Bound, f64>,
    /// Bytes they moved in that time, both ways.
    pub bytes: BTreeMap<Bound, u64>,
}

/// The parts, the oldest first. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hour {
    ended: Arc<VecDeque<HourPart>>,
    growing: Option<HourPart>,
    /// Where the growing part began.
    base: Option<Base>,
}

#[derive(Clone, Debug, PartialEq)]
struct Base {
    at_ns: u64,
    seconds: BTreeMap<Bound, f64>,
    bytes: BTreeMap<Bound, u64>,
}

impl Hour {
    /// All parts, the last one of them still growing.
    #[must_use]
    pub fn parts(&self) -> Vec<HourPart> {
        self.ended.iter().chain(&self.growing).cloned().collect()
    }

    /// Takes the counters at the end of a tick.
    pub fn tick(&mut self, now_ns: u64, summary: &Summary) {
        let here = Base {
            at_ns: now_ns,
            seconds: by_bound(&summary.seconds),
            bytes: by_bound(&summary.bytes),
        };
        let Some(base) = &self.base else {
            self.base = Some(here);
            return;
        };
        let part = HourPart {
            end_ns: now_ns,
            span_us: now_ns.saturating_sub(base.at_ns) / 1_000,
            seconds: grown(&here.seconds, &base.seconds),
            bytes: grown(&here.bytes, &base.bytes),
        };
        if now_ns.saturating_sub(base.at_ns) < PART_NS {
            self.growing = Some(part);
            return;
        }
        self.growing = None;
        self.base = Some(here);
        let ended = Arc::make_mut(&mut self.ended);
        ended.push_back(part);
        // After a suspended host they are old, however few.
        let oldest = now_ns.saturating_sub(PARTS as u64 * PART_NS);
        while ended.len() > PARTS || ended.front().is_some_and(|part| part.end_ns < oldest) {
            ended.pop_front();
        }
    }
}

fn by_bound<T: Copy + Default + std::ops::AddAssign>(
    by_limit: &BTreeMap<crate::classify::Limit, T>,
) -> BTreeMap<Bound, T> {
    let mut sums = BTreeMap::new();
    for (limit, amount) in by_limit {
        *sums.entry(limit.bound()).or_default() += *amount;
    }
    sums
}

/// What came to each since; those to which nothing did are left out.
fn grown<T>(now: &BTreeMap<Bound, T>, then: &BTreeMap<Bound, T>) -> BTreeMap<Bound, T>
where
    T: Copy + Default + PartialOrd + std::ops::Sub<Output = T>,
{
    now.iter()
        .filter_map(|(bound, now)| {
            let then = then.get(bound).copied().unwrap_or_default();
            (*now > then).then(|| (*bound, *now - then))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Limit;

    const SECOND_NS: u64 = 1_000_000_000;

    fn summary(rwnd_seconds: f64, bytes: u64) -> Summary {
        Summary {
            seconds: BTreeMap::from([(Limit::Rwnd, rwnd_seconds), (Limit::RwndScale, 1.0)]),
            bytes: BTreeMap::from([(Limit::Rwnd, bytes)]),
            ..Summary::default()
        }
    }

    #[test]
    fn a_part_grows_and_then_ends() {
        let mut hour = Hour::default();
        hour.tick(0, &summary(5.0, 100));
        assert!(hour.parts().is_empty(), "nothing is known of the time before");
        hour.tick(4 * SECOND_NS, &summary(9.0, 300));
        let growing = hour.parts();
        assert_eq!(growing.len(), 1);
        assert_eq!(growing[0].span_us, 4_000_000);
        // Both limits are windows.
        assert_eq!(growing[0].seconds, BTreeMap::from([(Bound::Window, 4.0)]));
        assert_eq!(growing[0].bytes, BTreeMap::from([(Bound::Window, 200)]));

        hour.tick(10 * SECOND_NS, &summary(15.0, 700));
        hour.tick(11 * SECOND_NS, &summary(16.0, 700));
        let parts = hour.parts();
        let seconds: Vec<f64> = parts.iter().map(|part| part.seconds[&Bound::Window]).collect();
        assert_eq!(seconds, [10.0, 1.0]);
        assert!(parts[1].bytes.is_empty());
    }

    #[test]
    fn no_more_than_an_hour_is_kept() {
        let mut hour = Hour::default();
        for second in 0..5_000 {
            hour.tick(second * SECOND_NS, &summary(second as f64, 0));
        }
        let parts = hour.parts();
        assert_eq!(parts.len(), PARTS + 1);
        assert_eq!(parts[0].end_ns, 1_400 * SECOND_NS);
        // The host slept for two hours.
        hour.tick(12_200 * SECOND_NS, &summary(5_001.0, 0));
        let parts = hour.parts();
        assert_eq!((parts.len(), parts[0].span_us), (1, 7_210_000_000));
    }
}
