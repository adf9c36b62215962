//! Columns that stay where they are, whatever stands in them.
//!
//! On a terminal a text that is too wide for its column is cut in its middle, and details go on below, indented. In a file
//! or pipe nothing is cut: a column grows with the widest text so far, and an event is one line.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

use crate::snapshot::figures::steers;

/// Width of `14:02:11.123`.
const TIME: usize = 12;
/// Width of `retransmit`.
const EVENT: usize = 10;
/// Width of an IPv4 address with its port.
const ENDPOINT: usize = 21;
/// Width of `:44312`, where there is no room for the whole of our end.
const PORT: usize = 6;
/// Terminals from here on show all of our end.
const ROOMY: usize = 132;
/// Details need this much beside the columns, or stand below.
const LEAST_DETAILS: usize = 16;
/// Narrower terminals are treated as this.
const LEAST: usize = 40;

/// What an event says.
pub(super) struct Row<'a> {
    pub(super) time: &'a str,
    pub(super) event: &'a str,
    pub(super) local: &'a str,
    pub(super) between: &'a str,
    pub(super) peer: &'a str,
    pub(super) process: &'a str,
    pub(super) details: &'a str,
}

/// Widths of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The terminal's, if there is one.
    columns: Option<usize>,
    local: usize,
    peer: usize,
    process: usize,
}

impl Layout {
    /// For a terminal of so many columns, or for a file or pipe.
    pub(super) fn new(columns: Option<usize>) -> Self {
        let columns = columns.map(|columns| columns.max(LEAST));
        let tight = columns.is_some_and(|columns| columns < ROOMY);
        Self {
            columns,
            local: if tight { PORT } else { ENDPOINT },
            peer: ENDPOINT,
            process: if tight { 14 } else { 20 },
        }
    }

    /// The row, without a line's end after it.
    pub(super) fn lines(&mut self, row: &Row<'_>) -> String {
        let (local, peer, process) = (clean(row.local), clean(row.peer), clean(row.process));
        let local = match local.rfind(':') {
            Some(colon) if self.local == PORT => &local[colon..],
            _ => &local,
        };
        if self.columns.is_none() {
            self.local = self.local.max(local.width());
            self.peer = self.peer.max(peer.width());
            self.process = self.process.max(process.width());
        }
        let head = [
            fit(row.time, TIME),
            fit(row.event, EVENT),
            format!(
                "{} {} {}",
                fit(local, self.local),
                row.between,
                fit(&peer, self.peer)
            ),
            fit(&process, self.process),
        ]
        .join(" ");
        let details = clean(row.details);
        match self.columns {
            None => format!("{head} {details}").trim_end().to_owned(),
            Some(columns) => below(&head, &details, columns),
        }
    }
}

/// `details` beside `head` as far as they fit, the rest on lines of their own, indented past time and event.
fn below(head: &str, details: &str, columns: usize) -> String {
    const INDENT: usize = TIME + EVENT + 2;
    let mut lines = head.to_owned();
    let mut at = head.width();
    if columns < at + 1 + LEAST_DETAILS && details.width() + at + 1 > columns {
        lines.truncate(lines.trim_end().len());
        lines.push('\n');
        lines.extend(std::iter::repeat_n(' ', INDENT - 1));
        at = INDENT - 1;
    }
    for word in details.split(' ') {
        if at > INDENT && at + 1 + word.width() > columns {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', INDENT - 1));
            at = INDENT - 1;
        }
        lines.push(' ');
        lines.push_str(word);
        at += 1 + word.width();
    }
    lines.truncate(lines.trim_end().len());
    lines
}

/// `text` in exactly `width` cells: cut in the middle, or with spaces after it.
fn fit(text: &str, width: usize) -> String {
    let excess = text.width().saturating_sub(width);
    if excess == 0 {
        return format!("{text}{:1$}", "", width - text.width());
    }
    // Ports and pids are at the end: more of that is kept.
    let keep = width - 1;
    let head = keep / 3;
    let mut cut = String::new();
    for c in text.chars() {
        if cut.width() + c.to_string().width() > head {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    let room = width - cut.width();
    let tail = (0..=text.len())
        .filter(|at| text.is_char_boundary(*at))
        .map(|at| &text[at..])
        .find(|tail| tail.width() <= room)
        .unwrap_or_default();
    cut.push_str(tail);
    let missing = width - cut.width();
    cut.extend(std::iter::repeat_n(' ', missing));
    cut
}

/// Without what could steer the terminal: names of processes are other people's input.
fn clean(text: &str) -> Cow<'_, str> {
    if text.contains(steers) {
        text.replace(steers, "\u{fffd}").into()
    } else {
        text.into()
    }
}
