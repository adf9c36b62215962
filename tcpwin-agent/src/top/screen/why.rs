//! The proof of the selected connection, under the table: why, without opening it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::top::state::State;
use crate::top::text::{clean, elide, wrap};
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
    let mut words = wrap(&text, room);
    let most = usize::from(area.height);
    if words.len() > most {
        // The last line says that there is more.
        let rest = words.split_off(most - 1).join(" ");
        words.push(elide(&rest, room, theme.sign(Sign::Ellipsis)).into_owned());
    }
    let mut lines = Vec::with_capacity(most);
    for (at, words) in words.into_iter().enumerate() {
        let class = if at == 0 {
            Span::styled(letter(bound).to_string(), theme.bound_ground(bound))
        } else {
            Span::raw(" ")
        };
        let words = Span::styled(format!(" {words}"), theme.title());
        lines.push(Line::from(vec![Span::raw(" "), class, words]));
    }
    super::draw(frame, area, &lines);
}
