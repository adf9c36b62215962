//! Counts of judged intervals.

use std::collections::{BTreeMap, BTreeSet};

use crate::lab::interval::{Interval, NOT_LISTED};
use crate::lab::peers::{Rule, Word};
use crate::lab::record::Record;
use crate::lab::report::{Outcome, Report};

/// The order of rows and columns: that of the table of verdicts.
const ORDER: [&str; 22] = [
    "sndbuf",
    "rwnd",
    "rwnd_scale",
    "rwnd_reader",
    "cwnd_startup",
    "cwnd_clamp",
    "app_window",
    "rcvbuf",
    "reader",
    "bandwidth",
    "policer",
    "pacing",
    "loss",
    "mtu_blackhole",
    "stalled",
    "turns",
    "small_writes",
    "app",
    "host",
    "none",
    "unknown",
    NOT_LISTED,
];

/// Intervals and what was said in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub intervals: usize,
    /// The true limit was named.
    pub right: usize,
    /// `unknown`, or not listed.
    pub unknown: usize,
    /// Another limit was named.
    pub wrong: usize,
    /// Another limit was named with confidence.
    pub wrong_with_confidence: usize,
    /// Those for which there are readings of the kernel's clocks.
    pub clocked: usize,
    /// The largest clock's word includes the true limit.
    pub largest_right: usize,
    /// NDT's sentence includes the true limit.
    pub ndt_right: usize,
}

impl Tally {
    /// Of these intervals.
    pub fn of<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Self {
        let mut tally = Self::default();
        for interval in intervals {
            tally.intervals += 1;
            if interval.is_right() {
                tally.right += 1;
            } else if interval.is_unknown() {
                tally.unknown += 1;
            } else {
                tally.wrong += 1;
            }
            tally.wrong_with_confidence += usize::from(interval.is_wrong_with_confidence());
            let includes = |rule: Rule, word: Option<Word>| {
                word.is_some_and(|word| rule.includes(word, &interval.truth))
            };
            tally.clocked += usize::from(interval.largest.is_some());
            tally.largest_right += usize::from(includes(Rule::Largest, interval.largest));
            tally.ndt_right += usize::from(includes(Rule::Ndt, interval.ndt));
        }
        tally
    }
}

/// The scenarios whose truth held: what counts.
pub fn judged(record: &Record) -> impl Iterator<Item = &Report> {
    record
        .scenarios
        .iter()
        .filter(|report| matches!(report.outcome, Outcome::Pass | Outcome::Fail))
}

/// How many of their intervals do not count.
pub fn unsteady(record: &Record) -> usize {
    judged(record)
        .flat_map(|report| &report.judgements)
        .map(|judgement| judgement.unsteady)
        .sum()
}

/// Every interval of them.
pub fn intervals(record: &Record) -> impl Iterator<Item = &Interval> {
    judged(record).flat_map(Report::intervals)
}

/// The names of the scenarios of any run that are of this kind.
pub fn scenarios(records: &[Record], kind: impl Fn(&Report) -> bool) -> BTreeSet<&str> {
    records
        .iter()
        .flat_map(judged)
        .filter(|report| kind(report))
        .map(|report| report.name.as_str())
        .collect()
}

/// How often each limit was named where each was true.
#[derive(Debug, Default)]
pub struct Confusion<'a> {
    cells: BTreeMap<(&'a str, &'a str), usize>,
}

impl<'a> Confusion<'a> {
    /// Of these intervals.
    pub fn of(intervals: impl IntoIterator<Item = &'a Interval>) -> Self {
        let mut confusion = Self::default();
        for interval in intervals {
            *confusion
                .cells
                .entry((&interval.truth, &interval.said))
                .or_default() += 1;
        }
        confusion
    }

    /// The true limits that occur.
    pub fn truths(&self) -> Vec<&'a str> {
        ordered(self.cells.keys().map(|(truth, _)| *truth))
    }

    /// The limits that were named.
    pub fn said(&self) -> Vec<&'a str> {
        ordered(self.cells.keys().map(|(_, said)| *said))
    }

    /// How often.
    pub fn count(&self, truth: &str, said: &str) -> usize {
        self.cells.get(&(truth, said)).copied().unwrap_or(0)
    }
}

/// Each once, in the order of the table of verdicts; what it lacks comes last.
fn ordered<'a>(limits: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let each: BTreeSet<_> = limits.collect();
    let mut each: Vec<_> = each.into_iter().collect();
    each.sort_by_key(|limit| {
        ORDER
            .iter()
            .position(|known| known == limit)
            .unwrap_or(ORDER.len())
    });
    each
}

#[cfg(test)]
mod tests {
    use super::{Confusion, Tally};
    use crate::lab::interval::Interval;
    use crate::lab::peers::Word;

    fn interval(truth: &str, said: &str, confidence: f64, largest: Word) -> Interval {
        Interval {
            truth: truth.into(),
            said: said.into(),
            confidence,
            largest: Some(largest),
            ndt: Some(Word::Sender),
            ..Interval::default()
        }
    }

    #[test]
    fn unknown_is_neither_right_nor_wrong() {
        let intervals = [
            interval("sndbuf", "sndbuf", 0.9, Word::Network),
            interval("sndbuf", "unknown", 0.0, Word::Network),
            interval("sndbuf", "not_listed", 0.0, Word::Sender),
            interval("sndbuf", "rwnd", 0.4, Word::Network),
            interval("loss", "bandwidth", 0.6, Word::Network),
        ];
        let tally = Tally::of(&intervals);
        let wanted = Tally {
            intervals: 5,
            right: 1,
            unknown: 2,
            wrong: 2,
            wrong_with_confidence: 1,
            clocked: 5,
            largest_right: 2,
            ndt_right: 4,
        };
        assert_eq!(tally, wanted);
    }

    #[test]
    fn rows_and_columns_stand_in_the_order_of_the_verdicts() {
        let intervals = [
            interval("none", "none", 1.0, Word::Idle),
            interval("rwnd", "unknown", 0.0, Word::Idle),
            interval("rwnd", "novel", 0.0, Word::Idle),
            interval("sndbuf", "sndbuf", 1.0, Word::Idle),
        ];
        let confusion = Confusion::of(&intervals);
        assert_eq!(confusion.truths(), ["sndbuf", "rwnd", "none"]);
        assert_eq!(confusion.said(), ["sndbuf", "none", "unknown", "novel"]);
        assert_eq!(confusion.count("rwnd", "unknown"), 1);
        assert_eq!(confusion.count("rwnd", "rwnd"), 0);
    }
}
