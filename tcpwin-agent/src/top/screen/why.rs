//! The proof of the selected connection, under the table: why, without opening it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::top::state::State;
use crate::top::text::{clean, elide};
use crate::top::theme::{Sign, letter};

/// Draws it; nothing where nothing holds the connection.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(connection) = state.row(state.table.at) else {
        return;
    };
    if area.is_empty() || connection.proof.is_empty() {
        return;
    }
    let theme = state.theme;
    // The sentence is of the last interval, and so is its class.
    let bound = connection.bound;
    let text = clean(&connection.proof, theme.ascii);
    let room = usize::from(area.width).saturating_sub(4);
    let text = elide(&text, room, theme.sign(Sign::Ellipsis));
    let line = Line::from(vec![
        Span::raw(" "),
        Span::styled(letter(bound).to_string(), theme.bound_ground(bound)),
        Span::styled(format!(" {text}"), theme.title()),
    ]);
    super::draw(frame, area, &[line]);
}
