//! What the connection's life was spent on.

use ratatui::text::{Line, Span};

use super::section;
use crate::snapshot::Connection;
use crate::top::text::{age_text, clean, elide, percent_text};
use crate::top::theme::{Sign, Theme};
use crate::units::bytes_text;

/// Cells of the columns before the last.
const INDENT: usize = 42;

/// The section; nothing before the first interval has ended.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    if connection.causes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![section("what its life was spent on", cells, theme)];
    let life: f64 = connection.causes.iter().map(|cause| cause.seconds).sum();
    for cause in &connection.causes {
        let share = if life > 0.0 { cause.seconds / life } else { 0.0 };
        let figures = format!(
            "  {:<13} {:>7} {:>6} {:>9}  ",
            cause.limit.name(),
            percent_text(share),
            age_text((cause.seconds * 1e6) as u64),
            bytes_text(cause.bytes),
        );
        let not_moved = cause.bytes_not_moved.map_or(String::new(), |bytes| {
            format!("{} more without it", bytes_text(bytes))
        });
        let mark = theme.sign(Sign::Ellipsis);
        let not_moved = elide(&not_moved, cells.saturating_sub(INDENT), mark).into_owned();
        lines.push(Line::from(vec![
            Span::styled(figures, theme.bound(cause.limit.bound())),
            Span::raw(clean(&not_moved, theme.ascii).into_owned()),
        ]));
    }
    lines.push(Line::default());
    lines
}
