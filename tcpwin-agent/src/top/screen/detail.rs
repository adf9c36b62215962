//! One connection: what holds it, the proof, the arithmetic, what to change, and the pictures behind it.

mod bdp;
mod budget;
mod causes;
mod charts;
mod fields;
mod ledger;
pub(super) mod remedies;
mod verdict;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::top::state::State;
use crate::top::text::{elide, width};
use crate::top::theme::{Sign, Theme};

/// From this width on, charts stand beside the rest; on narrower screens they are a page of their own.
pub(super) const WIDE: u16 = 120;
/// Most lines of one chart beside the rest.
const CHART: usize = 12;

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let lines = lines(state);
    let from = usize::from(state.scroll).min(lines.len());
    super::draw(frame, area, &lines[from..]);
    let old = state.is_stale() || state.opened.as_ref().is_some_and(|opened| opened.closed);
    if old {
        frame
            .buffer_mut()
            .set_style(area, ratatui::style::Style::new().add_modifier(Modifier::DIM));
    }
}

/// Its length in lines.
pub(super) fn height(state: &State) -> usize {
    lines(state).len()
}

fn lines(state: &State) -> Vec<Line<'static>> {
    let Some(opened) = &state.opened else {
        return Vec::new();
    };
    let (connection, theme) = (&*opened.connection, state.theme);
    let cells = usize::from(state.size.width);
    let mut lines = verdict::headline(connection, opened.closed, cells, theme);
    let room = usize::from(state.page().body.height).saturating_sub(lines.len());
    if state.charts.page {
        lines.extend(charts::lines(opened, state, cells, room, true));
        return lines;
    }
    let sections = |cells: usize| {
        [
            remedies::lines(&connection.remedies, cells, theme),
            ledger::lines(connection, cells, theme),
            bdp::lines(connection, cells, theme),
            budget::lines(connection, cells, theme),
            causes::lines(connection, cells, theme),
        ]
    };
    if state.size.width < WIDE {
        lines.extend(verdict::lines(connection, cells, theme));
        lines.extend(sections(cells).into_iter().flatten());
        lines.extend(fields::lines(connection, cells, theme));
        return lines;
    }
    lines.extend(verdict::proof(connection, cells, theme));
    let room = usize::from(state.page().body.height).saturating_sub(lines.len());
    let (left, right) = (cells / 2, cells - cells / 2);
    let mut words = verdict::figures(connection, left.saturating_sub(1), theme);
    words.extend(sections(left.saturating_sub(1)).into_iter().flatten());
    let fields = fields::lines(connection, right, theme);
    let height = room.saturating_sub(fields.len() + 1).min(2 + 4 * CHART);
    let mut pictures = charts::lines(opened, state, right, height, false);
    pictures.push(Line::default());
    pictures.extend(fields);
    lines.extend(side_by_side(words, pictures, left));
    lines
}

/// Lines of two columns, the right one from cell `cells` on.
pub(super) fn side_by_side(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    cells: usize,
) -> Vec<Line<'static>> {
    let rows = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut lines = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut line = left.next().unwrap_or_default();
        let used: usize = line.spans.iter().map(|span| width(&span.content)).sum();
        line.spans.push(Span::raw(" ".repeat(cells.saturating_sub(used))));
        line.spans.extend(right.next().unwrap_or_default().spans);
        lines.push(line);
    }
    lines
}

/// A section's name with a rule to the end.
pub(super) fn section(name: &str, cells: usize, theme: Theme) -> Line<'static> {
    let name = elide(name, cells.saturating_sub(2), theme.sign(Sign::Ellipsis));
    let rule = theme
        .sign(Sign::Rule)
        .repeat(cells.saturating_sub(width(&name) + 4));
    Line::from(vec![
        Span::styled(format!(" {name} "), theme.title()),
        Span::styled(rule, theme.dim()),
    ])
}
