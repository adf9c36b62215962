//! How far the ceilings were from what the receivers measured.

use crate::lab::report::Report;
use crate::lab::verdict::{error, median};

/// The errors of one scenario's ceilings, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CeilingError {
    /// The middle one.
    pub median: f64,
    /// The one that is furthest off.
    pub worst: f64,
}

/// Of the ceilings given with a right verdict; `None`: none was given, or nothing moved.
pub fn ceiling_error(report: &Report) -> Option<CeilingError> {
    let mut errors: Vec<f64> = report
        .judgements
        .iter()
        .filter(|judgement| judgement.received_bps > 0.0)
        .flat_map(|judgement| {
            let right = judgement.intervals.iter().filter(|interval| interval.is_right());
            right
                .filter_map(|interval| interval.ceiling_bps)
                .map(|said| error(said, judgement.received_bps))
        })
        .collect();
    let worst = errors
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    Some(CeilingError {
        median: median(&mut errors)?,
        worst,
    })
}

/// Whether a ceiling is to be expected: a window binds all the time, and the rate stands.
pub fn is_window_bound(report: &Report) -> bool {
    report.expect.bound.as_deref() == Some("window")
        && !matches!(report.expect.limit.as_deref(), Some("cwnd_startup"))
}
