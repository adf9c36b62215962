//! What is drawn: one file a region, each with one `render`. They see the state and nothing else.

mod canvas;
mod chooser;
mod detail;
mod footer;
mod header;
mod help;
mod message;
mod table;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use super::layout;
use super::state::{State, View};

/// The whole screen.
pub(crate) fn render(frame: &mut Frame<'_>, state: &State) {
    if frame.area().as_size() != state.size {
        // The terminal changed between two events; the one that says so is on its way.
        return;
    }
    if !layout::fits(state.size) {
        message::too_small(frame, frame.area(), state);
        return;
    }
    if let Some(chooser) = &state.chooser {
        let regions = state.page();
        header::line::render(frame, regions.header, state);
        chooser::render(frame, regions.body, state, chooser);
        footer::render(frame, regions.footer, state);
        return;
    }
    match state.view {
        View::Overview => {
            let regions = state.overview();
            header::render(frame, regions.header, state);
            table::head::render(frame, regions.head, state);
            if state.rows.is_empty() {
                message::render(frame, regions.rows, state);
            } else {
                table::render(frame, regions.rows, state);
            }
            footer::render(frame, regions.footer, state);
            if state.is_stale() {
                let old = ratatui::style::Style::new().add_modifier(Modifier::DIM);
                frame
                    .buffer_mut()
                    .set_style(regions.head.union(regions.rows), old);
            }
        }
        View::Detail => {
            let regions = state.page();
            header::line::render(frame, regions.header, state);
            detail::render(frame, regions.body, state);
            footer::render(frame, regions.footer, state);
        }
        View::Help(_) => {
            let regions = state.page();
            header::line::render(frame, regions.header, state);
            help::render(frame, regions.body, state);
            footer::render(frame, regions.footer, state);
        }
    }
}

/// Lines of the view that scrolls, however many fit.
pub(crate) fn lines(state: &State) -> usize {
    match state.view {
        View::Overview => 0,
        View::Detail => detail::height(state),
        View::Help(_) => help::height(state),
    }
}

/// Lines from the top of `area`; what does not fit is cut.
fn draw(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'_>]) {
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

/// The first `height` lines of `area`, and the rest.
fn split(area: Rect, height: u16) -> [Rect; 2] {
    let height = height.min(area.height);
    [
        Rect { height, ..area },
        Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        },
    ]
}
