//! What a chart draws: readings in the order of time, from samples at each event where there are any, else from ticks.

use crate::snapshot::Sample;
use crate::top::history::{Closeup, Point};

/// A value at a moment; NaN where not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) at_ns: u64,
    pub(super) value: f64,
}

/// A figure of a tick, and of a sample if samples have it.
pub(super) struct Figure {
    pub(super) of_point: fn(&Point) -> f32,
    pub(super) of_sample: Option<fn(&Sample) -> f64>,
}

/// All readings of a figure.
pub(super) fn readings(closeup: &Closeup, figure: &Figure) -> Vec<Reading> {
    let point = |point: &Point| Reading {
        at_ns: point.at_ns,
        value: f64::from((figure.of_point)(point)),
    };
    let Some(of_sample) = figure.of_sample else {
        return closeup.points().map(point).collect();
    };
    let mut samples = closeup.samples().peekable();
    let mut readings = Vec::with_capacity(closeup.points().len() + closeup.samples().len());
    for tick in closeup.points() {
        let before = readings.len();
        while let Some(sample) = samples.next_if(|sample| sample.at_ns <= tick.at_ns) {
            readings.push(Reading {
                at_ns: sample.at_ns,
                value: of_sample(sample),
            });
        }
        // A tick tells what the last event before it left; where that event is there itself it tells nothing new.
        if readings.len() == before {
            readings.push(point(tick));
        }
    }
    readings.extend(samples.map(|sample| Reading {
        at_ns: sample.at_ns,
        value: of_sample(sample),
    }));
    readings
}

/// The rate at which bytes were acknowledged, from samples at least `step_ns` apart; before and after them from ticks.
pub(super) fn rates(closeup: &Closeup, step_ns: u64) -> Vec<Reading> {
    let ticks = || {
        closeup.points().map(|point| Reading {
            at_ns: point.at_ns,
            value: f64::from(point.rate_bps),
        })
    };
    let (Some(first), Some(last)) = (closeup.samples().next(), closeup.samples().next_back()) else {
        return ticks().collect();
    };
    let mut readings: Vec<Reading> = ticks().filter(|tick| tick.at_ns <= first.at_ns).collect();
    let mut from = first;
    for sample in closeup.samples() {
        let ns = sample.at_ns - from.at_ns;
        // Shorter than a round trip there are bursts, and no rate.
        if ns >= step_ns.max(u64::from(sample.srtt_us) * 1_000).max(1) {
            let bytes = sample.bytes_acked.saturating_sub(from.bytes_acked);
            readings.push(Reading {
                at_ns: sample.at_ns,
                value: bytes as f64 * 8e9 / ns as f64,
            });
            from = sample;
        }
    }
    readings.extend(ticks().filter(|tick| tick.at_ns > last.at_ns));
    readings
}

/// Moments at which segments were seen to have been sent again, and how many.
pub(super) fn retransmits(closeup: &Closeup) -> Vec<(u64, u32)> {
    let first_sample = closeup.samples().next().map_or(u64::MAX, |sample| sample.at_ns);
    let last_sample = closeup.samples().next_back().map_or(0, |sample| sample.at_ns);
    let ticks = |from: u64, to: u64| {
        closeup
            .points()
            .filter(move |point| (from..to).contains(&point.at_ns))
            .filter_map(|point| Some((point.at_ns, point.retransmits?)))
    };
    let samples = closeup
        .samples()
        .map(|sample| (sample.at_ns, sample.retransmits_total));
    let mut marks = Vec::new();
    let mut known: Option<u32> = None;
    for (at_ns, total) in ticks(0, first_sample)
        .chain(samples)
        .chain(ticks(last_sample.saturating_add(1), u64::MAX))
    {
        if let Some(more) = known
            .and_then(|known| total.checked_sub(known))
            .filter(|more| *more > 0)
        {
            marks.push((at_ns, more));
        }
        known = Some(known.map_or(total, |known| known.max(total)));
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Limit;
    use crate::snapshot::Snapshot;

    const TICK: u64 = 1_000_000_000;

    /// Ticks 1 to `ticks`, each with as many segments sent again so far.
    fn ticks(ticks: u64) -> Vec<Point> {
        let mut connection = crate::top::tests::fixture::connection(1, Limit::App, "", "", 7.0);
        (1..=ticks)
            .map(|tick| {
                connection.tcp.cwnd = Some(100 * tick as u32);
                connection.tcp.retransmits_total = Some(tick as u32);
                let snapshot = Snapshot {
                    at_ns: tick * TICK,
                    ..Snapshot::default()
                };
                Point::of(&connection, &snapshot)
            })
            .collect()
    }

    fn sample(at_ns: u64) -> Sample {
        Sample {
            at_ns,
            cwnd: 1,
            srtt_us: 10_000,
            // 1,000 bytes a millisecond.
            bytes_acked: at_ns / 1_000,
            retransmits_total: 2,
            ..Sample::default()
        }
    }

    fn closeup(samples: &[Sample]) -> Closeup {
        let mut closeup = Closeup::new(ticks(4).iter());
        closeup.absorb(samples);
        closeup
    }

    #[test]
    fn samples_take_the_place_of_the_ticks_they_come_before() {
        let cwnd = Figure {
            of_point: |point| point.cwnd,
            of_sample: Some(|sample| f64::from(sample.cwnd)),
        };
        let samples = [sample(TICK + 5), sample(2 * TICK), sample(4 * TICK + 1)];
        let readings: Vec<(u64, f64)> = readings(&closeup(&samples), &cwnd)
            .iter()
            .map(|reading| (reading.at_ns, reading.value))
            .collect();
        // Nothing happened in the third second: what the tick says holds.
        let wanted = [
            (TICK, 100.0),
            (TICK + 5, 1.0),
            (2 * TICK, 1.0),
            (3 * TICK, 300.0),
            (4 * TICK, 400.0),
            (4 * TICK + 1, 1.0),
        ];
        assert_eq!(readings, wanted);
    }

    #[test]
    fn no_rate_is_told_for_less_than_a_round_trip() {
        let samples: Vec<Sample> = (0..1_000).map(|at| sample(2 * TICK + at * 1_000_000)).collect();
        let rates = rates(&closeup(&samples), 1_000_000);
        let first = rates[..2].iter().map(|reading| reading.value).collect::<Vec<_>>();
        assert_eq!(first, [7.0, 7.0], "before the samples, what the ticks say");
        let between = &rates[2..rates.len() - 2];
        assert_eq!(between.len(), 99, "one each 10 ms");
        assert!(between.iter().all(|reading| (reading.value - 8e6).abs() < 1.0));
    }

    #[test]
    fn what_was_sent_again_is_counted_once() {
        assert_eq!(
            retransmits(&closeup(&[])),
            [(2 * TICK, 1), (3 * TICK, 1), (4 * TICK, 1)]
        );
        // Samples know of the second only; the fourth tick tells of two more.
        let samples = [sample(TICK + 5), sample(2 * TICK + 5)];
        assert_eq!(
            retransmits(&closeup(&samples)),
            [(TICK + 5, 1), (3 * TICK, 1), (4 * TICK, 1)]
        );
    }
}
