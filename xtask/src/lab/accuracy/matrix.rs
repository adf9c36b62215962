//! One run: its confusion matrix, what was not right, and what does not count.

use std::collections::BTreeSet;

use super::table::{count, percent, table};
use super::tally::{Confusion, Tally, intervals, judged};
use crate::lab::interval::Interval;
use crate::lab::record::Record;

/// Rows are truths, columns what was said; beside it how often each rule was right.
pub fn confusion(record: &Record) -> String {
    let all: Vec<&Interval> = intervals(record).collect();
    let confusion = Confusion::of(all.iter().copied());
    let said = confusion.said();
    let mut head = vec!["truth ↓ said →".to_owned()];
    head.extend(said.iter().map(|said| said.replace('_', " ")));
    head.extend(["right", "largest clock", "NDT"].map(str::to_owned));
    let rows: Vec<_> = confusion
        .truths()
        .into_iter()
        .map(|truth| {
            let tally = Tally::of(all.iter().copied().filter(|interval| interval.truth == truth));
            let mut row = vec![truth.replace('_', " ")];
            row.extend(said.iter().map(|said| match confusion.count(truth, said) {
                number if *said == truth && number > 0 => format!("**{number}**"),
                number => count(number),
            }));
            row.extend([
                percent(tally.right, tally.intervals),
                percent(tally.largest_right, tally.clocked),
                percent(tally.ndt_right, tally.clocked),
            ]);
            row
        })
        .collect();
    table(&head, &rows)
}

/// The scenarios in which an interval was not right.
pub fn misses(record: &Record) -> String {
    let missed: Vec<_> = judged(record)
        .filter(|report| report.intervals().any(|interval| !interval.is_right()))
        .map(|report| {
            let tally = Tally::of(report.intervals());
            let confusion = Confusion::of(report.intervals().filter(|interval| !interval.is_right()));
            let said: Vec<_> = confusion
                .truths()
                .iter()
                .flat_map(|truth| confusion.said().into_iter().map(move |said| (*truth, said)))
                .filter(|(truth, said)| confusion.count(truth, said) > 0)
                .map(|(truth, said)| format!("{truth} as {said}: {}", confusion.count(truth, said)))
                .collect();
            format!(
                "- `{}`: {} of {} right; {}\n",
                report.name,
                tally.right,
                tally.intervals,
                said.join(", ")
            )
        })
        .collect();
    match missed.as_slice() {
        [] => "\nEvery interval was right.\n".to_owned(),
        missed => format!("\nNot right:\n\n{}", missed.concat()),
    }
}

/// The scenarios whose intervals do not count, and why.
pub fn left_out(record: &Record) -> String {
    let counted: BTreeSet<_> = judged(record).map(|report| report.name.as_str()).collect();
    let left: Vec<_> = record
        .scenarios
        .iter()
        .filter(|report| !counted.contains(report.name.as_str()))
        .map(|report| format!("- `{}`: {}\n", report.name, report.why_not_judged()))
        .collect();
    match left.as_slice() {
        [] => String::new(),
        left => format!("\nLeft out:\n\n{}", left.concat()),
    }
}
