//! The list in which columns are chosen, and the table's first rows as they would be.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::table;
use crate::top::chooser::Chooser;
use crate::top::state::State;
use crate::top::theme::Sign;

/// Rows of the table that are shown over the list.
const ROWS: u16 = 3;

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State, chooser: &Chooser) {
    let theme = state.theme;
    let [head, rest] = super::split(area, 1);
    let [rows, rest] = super::split(rest, ROWS.min(rest.height / 4));
    table::head::render(frame, head, state);
    table::render(frame, rows, state, false);
    let [title, list] = super::split(rest, 2);
    let title_text = " Columns, as they stand from left to right";
    super::draw(
        frame,
        title,
        &[Line::default(), Line::styled(title_text, theme.title())],
    );
    let placed = state.columns();
    let height = usize::from(list.height).max(1);
    // The cursor stays in the middle where the list goes on in both directions.
    let most = chooser.entries.len().saturating_sub(height);
    let from = chooser.cursor.saturating_sub(height / 2).min(most);
    let lines: Vec<Line<'_>> = chooser
        .entries
        .iter()
        .enumerate()
        .skip(from)
        .take(height)
        .map(|(at, entry)| {
            let spec = entry.column.spec();
            let here = at == chooser.cursor;
            let marker = if here { theme.sign(Sign::Marker) } else { " " };
            let tick = if entry.shown { "[x]" } else { "[ ]" };
            let on_screen = placed.iter().find(|place| place.column == entry.column);
            let width = match (entry.shown, on_screen, entry.width) {
                (false, ..) => String::new(),
                (true, None, _) => "no room".to_owned(),
                (true, Some(place), None) => format!("{:>3} cells", place.width),
                (true, Some(_), Some(width)) => format!("{width:>3} cells, as set"),
            };
            let style = if here { theme.selected() } else { Style::new() };
            Line::from(vec![
                Span::raw(marker),
                Span::styled(format!("{tick} {:<11}", spec.name), style.patch(theme.title())),
                Span::styled(format!(" {width:<18}"), style),
                Span::styled(spec.help, style.patch(theme.dim())),
            ])
        })
        .collect();
    super::draw(frame, list, &lines);
}
