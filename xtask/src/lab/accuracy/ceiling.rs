//! How far the ceilings were from what the receivers measured.

use super::table::{signed_percent, table};
use super::tally::{judged, scenarios};
use crate::lab::record::Record;
use crate::lab::report::Report;
use crate::lab::verdict::{error, median};

/// Rows are scenarios that a window binds, columns the runs.
pub fn ceilings(records: &[Record]) -> String {
    let mut head = vec!["window-bound scenario: median error (worst)".to_owned()];
    head.extend(records.iter().map(Record::to_string));
    let of = |report: &Report| match ceiling_error(report) {
        Some(error) => format!(
            "{} ({})",
            signed_percent(error.median),
            signed_percent(error.worst)
        ),
        None if report.intervals().all(|interval| !interval.is_right()) => "not told".to_owned(),
        None => "none given".to_owned(),
    };
    let rows: Vec<_> = scenarios(records, is_window_bound)
        .into_iter()
        .map(|name| {
            let mut row = vec![format!("`{name}`")];
            row.extend(records.iter().map(|record| {
                judged(record)
                    .find(|report| report.name == name)
                    .map_or_else(|| "–".to_owned(), of)
            }));
            row
        })
        .collect();
    let meaning = "What tcpwin said the binding window allows, in right intervals, against what the receiver's program measured over the \
                   steady part.\n\n";
    format!("{meaning}{}", table(&head, &rows))
}

/// The errors of one scenario's ceilings, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CeilingError {
    /// The middle one.
    median: f64,
    /// The one that is furthest off.
    worst: f64,
}

/// Of the ceilings given with a right verdict; `None`: none was given, or nothing moved.
fn ceiling_error(report: &Report) -> Option<CeilingError> {
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
fn is_window_bound(report: &Report) -> bool {
    report.expect.bound.as_deref() == Some("window")
        && !matches!(report.expect.limit.as_deref(), Some("cwnd_startup"))
}
