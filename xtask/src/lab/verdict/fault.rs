//! Why a judgement is no pass.

use super::{Judgement, error};
use crate::lab::scenario::Expect;

/// What counts as no traffic at all.
const QUIET_BPS: f64 = 1000.0;

impl Judgement {
    /// Every reason; none: it passed.
    pub(super) fn faults(&self, expect: &Expect) -> Vec<String> {
        let mut faults = Vec::new();
        if self.samples == 0 {
            faults.push("no sample was taken".into());
        }
        if (self.right as f64) < expect.min_share * self.samples as f64 {
            let needed = expect.min_share * 100.0;
            faults.push(format!(
                "{} of {} verdicts right, {needed:.0} % needed",
                self.right, self.samples
            ));
        }
        if self.wrong_confident > 0 {
            faults.push(format!("{} wrong with confidence", self.wrong_confident));
        }
        match (self.true_ceiling_bps, self.ceiling_bps) {
            (Some(truth), Some(said)) => {
                let error = error(said, truth);
                if error.abs() > expect.ceiling_tolerance {
                    faults.push(format!("ceiling off by {:+.1} %", error * 100.0));
                }
            }
            (Some(_), None) => faults.push("no ceiling given".into()),
            (None, _) => {}
        }
        match self.observed_bps {
            Some(said) => faults.extend(self.observed_fault(expect, said)),
            None if expect.phases.is_empty() => faults.push("no observed rate given".into()),
            None => {}
        }
        faults
    }

    fn observed_fault(&self, expect: &Expect, said: f64) -> Option<String> {
        if self.received_bps < QUIET_BPS {
            return (said >= QUIET_BPS).then(|| format!("observed {said:.0} bit/s where nothing moves"));
        }
        let error = error(said, self.received_bps);
        (error.abs() > expect.observed_tolerance)
            .then(|| format!("observed rate off by {:+.1} %", error * 100.0))
    }
}
