//! The names over the columns, with a mark at the one that is sorted by.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::top::state::State;
use crate::top::theme::Sign;

/// Draws it.
pub(in crate::top::screen) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let buffer = frame.buffer_mut();
    buffer.set_style(area, theme.head());
    for place in state.columns() {
        let spec = place.column.spec();
        let mark = match (place.column == state.sort.column, state.sort.inverted) {
            (false, _) => "",
            (true, false) => theme.sign(Sign::Down),
            (true, true) => theme.sign(Sign::Up),
        };
        let cells = usize::from(place.width);
        let title = &spec.title[..spec.title.len().min(cells - usize::from(!mark.is_empty()))];
        let used = title.len() + usize::from(!mark.is_empty());
        let pad = if spec.right { cells - used } else { 0 };
        buffer.set_string(
            area.x + place.x + pad as u16,
            area.y,
            format!("{title}{mark}"),
            theme.head(),
        );
    }
}
