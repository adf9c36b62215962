//! A list with columns: only the rows on the screen are put into words.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::top::grid::{Field, GridSort};
use crate::top::state::State;
use crate::top::text::{clean, elide, width};
use crate::top::theme::Sign;

/// Draws the names over the columns, with a mark at the one that is sorted by.
pub(super) fn head<T>(frame: &mut Frame<'_>, area: Rect, fields: &[Field<T>], sort: GridSort, state: &State) {
    if area.is_empty() {
        return;
    }
    let theme = state.theme;
    let buffer = frame.buffer_mut();
    buffer.set_style(area, theme.head());
    for spot in state.spots() {
        let field = &fields[spot.field];
        let mark = match (sort.field == Some(spot.field), sort.inverted) {
            (false, _) => "",
            (true, false) => theme.sign(Sign::Down),
            (true, true) => theme.sign(Sign::Up),
        };
        let cells = usize::from(spot.width);
        // An ASCII mark is a letter: it keeps off the name where there is room.
        let apart = theme.ascii && !mark.is_empty() && field.title.len() + 2 <= cells;
        let mark = format!("{}{mark}", if apart { " " } else { "" });
        let title = &field.title[..field.title.len().min(cells - width(&mark))];
        let pad = if field.right {
            cells - title.len() - width(&mark)
        } else {
            0
        };
        buffer.set_string(
            area.x + spot.x + pad as u16,
            area.y,
            format!("{title}{mark}"),
            theme.head(),
        );
    }
}

/// Draws the rows from `place`'s second on, the one at its first selected.
pub(super) fn rows<'a, T>(
    frame: &mut Frame<'_>,
    area: Rect,
    fields: &[Field<T>],
    row_at: &dyn Fn(usize) -> Option<&'a T>,
    place: (usize, usize),
    state: &State,
) {
    let theme = state.theme;
    let (selected, offset) = place;
    let spots = state.spots();
    let buffer = frame.buffer_mut();
    for (at, y) in (offset..).zip(area.top()..area.bottom()) {
        let Some(row) = row_at(at) else { break };
        for spot in &spots {
            let field = &fields[spot.field];
            let text = (field.text)(row, theme);
            // The theme's own signs are ASCII where they have to be: only foreign text changes.
            let text = clean(&text, theme.ascii);
            let cells = usize::from(spot.width);
            let text = elide(&text, cells, theme.sign(Sign::Ellipsis));
            let pad = if field.right {
                cells.saturating_sub(width(&text))
            } else {
                0
            };
            let style = (field.style)(row, theme);
            buffer.set_stringn(area.x + spot.x + pad as u16, y, &text, cells - pad, style);
        }
        if at == selected {
            buffer.set_string(area.x, y, theme.sign(Sign::Marker), Style::new());
            buffer.set_style(Rect::new(area.x, y, area.width, 1), theme.selected());
        }
    }
}
