//! Whether the truth held in the time that a sample speaks of.
//!
//! The lab shares its machine: a program that waits a second for a processor offers nothing in that second, and what is
//! then true of its connection is not what the scenario says. The receiver's own count shows it.

use super::error;
use crate::lab::scenario::{Expect, SAMPLE_SPAN_S};
use crate::lab::truth::Truth;

/// The receiver is read every so often, so that an end of the span is so far off.
const TICK_SHARE: f64 = 0.05;
/// A flow whose rate may vary as much by construction is steady whatever it does.
const UNTOLD: f64 = 0.45;

/// Compares what the receiver measured in that time with the one rate that the construction makes, if it makes one.
pub fn is_steady(expect: &Expect, truth: &Truth, second: u32) -> bool {
    let wanted_bps = match (expect.rate_mbit, expect.ceiling_is_achieved) {
        (Some(mbit), _) => mbit * 1e6,
        (None, true) => truth.received_bps,
        (None, false) => return true,
    };
    let Some(measured_bps) = truth.spans_bps.get(&second).filter(|_| expect.phases.is_empty()) else {
        return true;
    };
    // A window comes in a burst each round trip: the span may hold one more or less.
    let burst = f64::from(truth.min_rtt_us) / 1e6 / SAMPLE_SPAN_S;
    let tolerance = 2.0 * expect.rate_tolerance.max(expect.observed_tolerance) + burst + TICK_SHARE;
    tolerance >= UNTOLD || error(*measured_bps, wanted_bps).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::is_steady;
    use crate::lab::scenario::Scenario;
    use crate::lab::truth::Truth;

    #[test]
    fn a_second_in_which_the_flow_stood_still_is_not_judged() {
        let expect = Scenario::named("rwnd_scale_181ms").expect("a scenario").expect;
        let mut truth = Truth {
            received_bps: 2.88e6,
            min_rtt_us: 181_000,
            ..Truth::default()
        };
        assert!(is_steady(&expect, &truth, 7), "nothing is known of it");
        truth.spans_bps.insert(7, 2.7e6);
        truth.spans_bps.insert(8, 1.9e6);
        assert!(is_steady(&expect, &truth, 7));
        assert!(!is_steady(&expect, &truth, 8));
    }

    #[test]
    fn a_flow_without_a_rate_of_its_construction_is_steady() {
        let expect = Scenario::named("loss_1percent_30ms").expect("a scenario").expect;
        let mut truth = Truth::default();
        truth.spans_bps.insert(7, 1.0);
        assert!(is_steady(&expect, &truth, 7));
    }
}
