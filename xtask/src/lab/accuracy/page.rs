//! The page: what it means, the figures at a glance, then each run.

use std::fmt::Write;

use super::ceiling::ceilings;
use super::matrix::{confusion, left_out, misses};
use super::promise::promises;
use super::table::{percent, table};
use super::tally::{Tally, intervals, judged, unsteady};
use crate::lab::record::Record;

const INTRODUCTION: &str = "\
# Accuracy

Written by `cargo xtask lab --report`, wholly from the reports of the runs below; nothing here is typed by hand.

The lab makes flows whose limit is known by construction ([scenarios](../scenarios): each file says why its truth holds),
runs the real agent beside them and asks it once a second. An *interval* is one such second of one connection in the
steady part of its flow: *truth* is the limit that the construction makes, never anything that tcpwin reads itself.
`unknown` counts as not right, but not as wrong. Scenarios whose own path was not what their construction says (the
receiver's rate shows it) are left out, and named. So are single intervals in which the receiver's rate was far from the
one that the construction makes: a busy machine held the flow up. They are counted as *not steady*.

Beside it stands what two rules of other tools make of the same seconds from `busy`, `rwnd_limited` and
`sndbuf_limited`, which are all that `ss` shows, read from the sender's socket. Both are judged generously: a word counts
as right for every limit that it can be understood to include.

- **largest clock**: receiver (`rwnd_limited`), send buffer (`sndbuf_limited`) or network (the rest of `busy`), whichever
  is longest; under 50 % busy, the program. *Network* is right for bandwidth, policer, pacing, loss, stalled,
  mtu_blackhole, cwnd_startup, cwnd_clamp and host; *receiver* for rwnd, rwnd_scale, rwnd_reader, rcvbuf and reader;
  *program* for app, app_window, turns, small_writes and none.
- **NDT**: the first sentence that `web100clt` prints: receiver-limited above 1.5 % of the time, sender-limited above
  1.5 %, network-limited above 0.5 %. *Sender* is right for sndbuf, pacing, host and all of *program*.
";

/// The whole page.
pub fn page(records: &[Record]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\nTo repeat it:\n\n```sh\n");
    for record in records {
        let _ = writeln!(page, "{}", record.command());
    }
    page.push_str("cargo xtask lab --report\n```\n\n## At a glance\n\n");
    page.push_str(&glance(records));
    page.push_str("\n## Ceilings\n\n");
    page.push_str(&ceilings(records));
    page.push_str(&promises(records));
    for record in records {
        let _ = write!(page, "\n## {record}\n\nLinux {}.\n\n", record.release());
        page.push_str(&confusion(record));
        page.push_str(&misses(record));
        page.push_str(&left_out(record));
    }
    page
}

fn glance(records: &[Record]) -> String {
    let head = [
        "kernel and source",
        "scenarios",
        "intervals",
        "not steady",
        "right",
        "unknown",
        "wrong",
        "wrong with confidence",
        "largest clock right",
        "NDT right",
    ];
    let rows: Vec<_> = records
        .iter()
        .map(|record| {
            let tally = Tally::of(intervals(record));
            vec![
                record.to_string(),
                judged(record).count().to_string(),
                tally.intervals.to_string(),
                unsteady(record).to_string(),
                percent(tally.right, tally.intervals),
                tally.unknown.to_string(),
                tally.wrong.to_string(),
                tally.wrong_with_confidence.to_string(),
                percent(tally.largest_right, tally.clocked),
                percent(tally.ndt_right, tally.clocked),
            ]
        })
        .collect();
    table(&head.map(str::to_owned), &rows)
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::lab::record::Record;

    /// One scenario all right, one with each kind of miss, one whose lab was off, one that did not run.
    const FIXTURE: &str = include_str!("fixture.json");

    fn lines() -> Vec<String> {
        let record: Record = serde_json::from_str(FIXTURE).expect("a report");
        page(&[record]).lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_page_says_how_it_is_repeated_and_what_was_counted() {
        let lines = lines();
        for line in [
            "cargo xtask vm 6.12 --limit 6000 --out target/lab -- /bin/xtask lab all --json",
            "| 6.12 guest, ebpf | 2 | 6 | 0 | 66.6 % | 1 | 1 | 1 | 50.0 % | 50.0 % |",
        ] {
            assert!(
                lines.iter().any(|own| own == line),
                "{line}\n{}",
                lines.join("\n")
            );
        }
    }

    #[test]
    fn rows_are_truths_and_columns_what_was_said() {
        let lines = lines();
        let head = lines
            .iter()
            .position(|line| line.starts_with("| truth"))
            .expect("a matrix");
        assert_eq!(
            lines[head..head + 4],
            [
                "| truth ↓ said → | sndbuf | rwnd | app | unknown | right | largest clock | NDT |",
                "| --- | --: | --: | --: | --: | --: | --: | --: |",
                "| sndbuf | **1** | · | 1 | 1 | 33.3 % | 0.0 % | 0.0 % |",
                "| rwnd | · | **3** | · | · | 100.0 % | 100.0 % | 100.0 % |",
            ]
        );
    }

    #[test]
    fn misses_and_what_is_left_out_are_named() {
        let page = lines().join("\n");
        for text in [
            "- `sndbuf_30ms`: 1 of 3 right; sndbuf as app: 1, sndbuf as unknown: 1",
            "- `turns_30ms`: the lab was off",
            "- `broken_30ms`: the flow did not open within 60 s",
            "| `rwnd_rcvbuf_30ms` | +2.0 % (+3.0 %) |",
            "| `sndbuf_30ms` | +0.0 % (+0.0 %) |",
            "| `rwnd_rcvbuf_30ms` | `setsockopt(SO_RCVBUF, 262144)` | 84.0 → 80.0 Mbit/s (+5.0 %) |",
        ] {
            assert!(page.contains(text), "{text}\n{page}");
        }
    }
}
