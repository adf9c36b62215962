//! The names over the columns, with a mark at the one that is sorted by.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::top::order;
use crate::top::state::State;
use crate::top::text::width;
use crate::top::theme::Sign;

/// Draws it.
pub(in crate::top::screen) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let (sorted, inverted) = (order::column(&state.sort), order::is_inverted(&state.sort));
    let buffer = frame.buffer_mut();
    buffer.set_style(area, theme.head());
    for place in state.columns() {
        let spec = place.column.spec();
        let mark = match (Some(place.column) == sorted, inverted) {
            (false, _) => "",
            (true, false) => theme.sign(Sign::Down),
            (true, true) => theme.sign(Sign::Up),
        };
        let cells = usize::from(place.width);
        // An ASCII mark is a letter: it keeps off the name where there is room.
        let apart = theme.ascii && !mark.is_empty() && spec.title.len() + 2 <= cells;
        let mark = format!("{}{mark}", if apart { " " } else { "" });
        let title = &spec.title[..spec.title.len().min(cells - width(&mark))];
        let used = title.len() + width(&mark);
        let pad = if spec.right { cells - used } else { 0 };
        buffer.set_string(
            area.x + place.x + pad as u16,
            area.y,
            format!("{title}{mark}"),
            theme.head(),
        );
    }
}
