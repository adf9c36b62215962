//! The table of connections: only the rows on the screen are put into words.

pub(super) mod head;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::canvas::sparkline;
use crate::snapshot::figures;
use crate::top::column::{Column, Placed};
use crate::top::state::State;
use crate::top::text::width;
use crate::top::theme::Sign;

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State, has_focus: bool) {
    let columns = state.columns();
    let theme = state.theme;
    let buffer = frame.buffer_mut();
    for (row, y) in (state.table.offset..).zip(area.top()..area.bottom()) {
        let Some(connection) = state.row(row) else { break };
        for place in &columns {
            let text = if place.column == Column::Trend {
                let rates = state.history.of(connection).map(|point| point.rate_bps);
                sparkline(rates, usize::from(place.width), theme).into()
            } else {
                place.column.text(connection, theme)
            };
            let style = match place.column {
                Column::Limit => theme.bound(figures::shown(connection).bound()),
                Column::Gain => theme.title(),
                Column::Proof => theme.dim(),
                Column::Trend => theme.chart(),
                _ => Style::new(),
            };
            cell(buffer, *place, area.x, y, &text, style, state);
        }
        if row == state.table.at {
            buffer.set_string(area.x, y, theme.sign(Sign::Marker), Style::new());
            if has_focus {
                buffer.set_style(Rect::new(area.x, y, area.width, 1), theme.selected());
            }
        }
    }
}

/// Text in its column, right where it is a number, cut where it is too long.
fn cell(buffer: &mut Buffer, place: Placed, left: u16, y: u16, text: &str, style: Style, state: &State) {
    let cells = usize::from(place.width);
    let text = place.column.fit(text, cells, state.theme);
    let pad = if place.column.spec().right {
        cells.saturating_sub(width(&text))
    } else {
        0
    };
    buffer.set_stringn(left + place.x + pad as u16, y, &text, cells - pad, style);
}
