//! The last ticks of one connection.

use ratatui::text::{Line, Span};

use super::section;
use crate::snapshot::Connection;
use crate::top::history::{Sample, TICKS};
use crate::top::screen::canvas::sparkline;
use crate::top::state::State;
use crate::top::text::{clean, count_text};
use crate::units::{Micros, bits_text, bytes_text, rtt_text};

/// Cells before and after the lines.
const INDENT: usize = 13;
const VALUE: usize = 30;

/// A figure: its name, its value in a sample, its text.
type Figure = (&'static str, fn(&Sample) -> f32, fn(f32) -> String);

const FIGURES: [Figure; 4] = [
    (
        "rate",
        |sample| sample.rate_bps,
        |value| bits_text(f64::from(value)),
    ),
    (
        "srtt",
        |sample| sample.srtt_us,
        |value| rtt_text(Micros(value as u32)),
    ),
    ("cwnd", |sample| sample.cwnd, |value| count_text(value as u64)),
    (
        "in flight",
        |sample| sample.in_flight,
        |value| bytes_text(value as u64),
    ),
];

/// The section.
pub(super) fn lines(connection: &Connection, state: &State, cells: usize) -> Vec<Line<'static>> {
    let theme = state.theme;
    let room = cells.saturating_sub(INDENT + VALUE + 1).min(TICKS);
    let ticks = state.history.of(connection).len().min(room);
    let mut lines = vec![section(
        &format!("last {ticks} ticks, each line from 0 to its peak"),
        cells,
        theme,
    )];
    for (name, value, text) in FIGURES {
        let values = || state.history.of(connection).map(value);
        let seen = || values().rev().take(room).filter(|value| value.is_finite());
        let peak = seen().reduce(f32::max);
        let now = values().next_back().filter(|value| value.is_finite());
        let now = now.map_or_else(|| "not known".to_owned(), text);
        let peak = peak.map_or(String::new(), |peak| format!("peak {}", text(peak)));
        lines.push(Line::from(vec![
            Span::raw(format!("  {name:<0$}", INDENT - 2)),
            Span::styled(sparkline(values(), room, theme), theme.chart()),
            Span::styled(
                clean(&format!(" {now:>11}"), theme.ascii).into_owned(),
                theme.title(),
            ),
            Span::styled(format!("  {peak}"), theme.dim()),
        ]));
    }
    lines.push(Line::default());
    lines
}
