//! What tcpwin promised of its advice, beside what came of it.

use super::table::{mbit, signed_percent, table};
use super::tally::{judged, scenarios};
use crate::lab::record::Record;
use crate::lab::what_if::Applied;

/// Rows are scenarios whose advice is applied, columns the runs; nothing if there is none.
pub fn promises(records: &[Record]) -> String {
    let names = scenarios(records, |report| report.what_if.is_some());
    if names.is_empty() {
        return String::new();
    }
    let mut head = vec!["scenario".to_owned(), "applied".to_owned()];
    head.extend(records.iter().map(Record::to_string));
    let rows: Vec<_> = names
        .into_iter()
        .map(|name| {
            let of = |record| {
                judged(record)
                    .find(|report| report.name == name)
                    .and_then(|report| report.what_if.as_ref())
            };
            let change = records.iter().find_map(|record| of(record)?.change.as_deref());
            let mut row = vec![
                format!("`{name}`"),
                change.map_or_else(
                    || "as the scenario says".to_owned(),
                    |change| format!("`{change}`"),
                ),
            ];
            row.extend(
                records
                    .iter()
                    .map(|record| of(record).map_or_else(|| "–".to_owned(), promise)),
            );
            row
        })
        .collect();
    let meaning = "\n## What-if\n\nAfter the flow, the advice is applied and the scenario runs again. The rate that tcpwin promised (median of \
                   `next.rate_bps` over right intervals) stands against the one that the receiver's program then measured.\n\n";
    format!("{meaning}{}", table(&head, &rows))
}

fn promise(applied: &Applied) -> String {
    match (applied.predicted_bps, applied.after_bps, applied.error()) {
        (Some(promised), Some(after), Some(error)) => {
            format!(
                "{} → {} Mbit/s ({})",
                mbit(promised),
                mbit(after),
                signed_percent(error)
            )
        }
        _ => applied.faults.join("; "),
    }
}
