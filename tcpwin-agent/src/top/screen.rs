//! What is drawn: one file a region, each with one `render`. They see the state and nothing else.

mod canvas;
mod chooser;
mod detail;
mod finding;
mod findings;
mod footer;
mod header;
mod help;
mod host;
mod list;
mod message;
mod table;
mod why;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::layout;
use super::lists::{FINDINGS, LISTENERS};
use super::state::{Focus, State};
use super::tree;
use super::view::View;

/// The whole screen.
pub(crate) fn render(frame: &mut Frame<'_>, state: &State) {
    if frame.area().as_size() != state.size {
        // The terminal changed between two events; the one that says so is on its way.
        return;
    }
    let least = match state.view {
        View::Host | View::Help => layout::LEAST_PAGE,
        _ => layout::LEAST,
    };
    if !layout::fits(state.size, least) {
        message::too_small(frame, frame.area(), state, least);
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
        View::Detail => {
            let regions = state.page();
            header::line::render(frame, regions.header, state);
            detail::render(frame, regions.body, state);
            footer::render(frame, regions.footer, state);
        }
        View::Help => {
            let regions = state.page();
            header::line::render(frame, regions.header, state);
            help::render(frame, regions.body, state);
            footer::render(frame, regions.footer, state);
        }
        _ => render_list(frame, state),
    }
}

/// A view whose list fills the screen.
fn render_list(frame: &mut Frame<'_>, state: &State) {
    let regions = state.overview();
    header::line::render(frame, regions.title, state);
    header::tabs::render(frame, regions.tabs, state);
    header::render(frame, regions.header, state);
    let is_main = state.focus == Focus::Main;
    match state.view {
        View::Host => host::render(frame, regions.rows, state),
        View::Groups(by) => {
            let tree = &state.trees[by as usize];
            let place = (tree.cursor.at, tree.cursor.offset);
            list::head(frame, regions.head, tree::FIELDS, tree.sort, state);
            list::rows(
                frame,
                regions.rows,
                tree::FIELDS,
                &|row| state.branches.get(row),
                place,
                state,
            );
        }
        View::Listeners => {
            let list = &state.listeners;
            let place = (list.cursor.at, list.cursor.offset);
            list::head(frame, regions.head, LISTENERS, list.sort, state);
            list::rows(
                frame,
                regions.rows,
                LISTENERS,
                &|row| state.listener(row),
                place,
                state,
            );
        }
        View::Findings => {
            let list = &state.findings;
            let place = (list.cursor.at, list.cursor.offset);
            list::head(frame, regions.head, FINDINGS, list.sort, state);
            list::rows(
                frame,
                regions.rows,
                FINDINGS,
                &|row| state.finding(row),
                place,
                state,
            );
            findings::preview(frame, regions.findings, state);
        }
        _ => {
            if state.view == View::Finding {
                finding::render(frame, regions.text, state);
            }
            table::head::render(frame, regions.head, state);
            table::render(frame, regions.rows, state, is_main);
            why::render(frame, regions.why, state);
            findings::render(frame, regions.findings, state);
        }
    }
    if message::is_needed(state) {
        message::render(frame, regions.rows, state);
    }
    footer::render(frame, regions.footer, state);
    if state.is_stale() {
        let old = Style::new().add_modifier(Modifier::DIM);
        let data = regions
            .text
            .union(regions.head)
            .union(regions.rows)
            .union(regions.why)
            .union(regions.findings);
        frame.buffer_mut().set_style(data, old);
    }
}

/// Lines of the text that scrolls, however many fit.
pub(crate) fn lines(state: &State) -> usize {
    match state.view {
        View::Detail => detail::height(state),
        View::Help => help::height(state),
        View::Host => host::height(state),
        View::Finding => finding::height(state),
        _ => 0,
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
