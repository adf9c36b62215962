//! The names of the views; where one was gone into, the way there.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::top::state::State;
use crate::top::tabs::tabs;
use crate::top::text::{clean, elide};
use crate::top::theme::Sign;
use crate::top::trail;

/// Draws it.
pub(in crate::top::screen) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    if state.trail.is_empty() {
        let spans: Vec<Span<'_>> = tabs(area.width)
            .into_iter()
            .map(|tab| {
                let style = if tab.view == state.view {
                    theme.selected()
                } else {
                    theme.dim()
                };
                Span::styled(tab.text, style)
            })
            .collect();
        super::super::draw(frame, area, &[Line::from(spans)]);
        return;
    }
    let way = format!(" {}", way(state));
    let text = clean(&way, theme.ascii);
    let text = elide(&text, usize::from(area.width), theme.sign(Sign::Ellipsis));
    super::super::draw(frame, area, &[Line::styled(text.into_owned(), theme.title())]);
}

/// The steps that led here.
pub(super) fn way(state: &State) -> String {
    let opened = state.opened.as_ref().map(|opened| &*opened.connection);
    let mut steps: Vec<String> = state
        .trail
        .iter()
        .map(|place| trail::step(place.view, &place.scope, opened))
        .collect();
    steps.push(trail::step(state.view, &state.scope, opened));
    trail::joined(&steps, state.theme)
}
