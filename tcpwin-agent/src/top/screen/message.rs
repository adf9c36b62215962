//! What stands where the table would be when there is nothing to show, and when there is no room.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::canvas::plain;
use ratatui::layout::Size;

use crate::top::state::{FeedState, State};
use crate::top::text::{count_text, wrap};
use crate::top::view::View;

/// If the view has no rows.
pub(super) fn is_needed(state: &State) -> bool {
    match state.view {
        View::Overview | View::Finding => state.rows.is_empty(),
        View::Groups(_) => state.branches.is_empty(),
        View::Listeners | View::Findings => state.listed.is_empty(),
        View::Host => state.snapshot.is_none(),
        View::Detail | View::Help => false,
    }
}

/// Draws why there are no rows.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let (say, hint) = match (&state.snapshot, &state.feed) {
        (None, FeedState::Lost { .. }) => ("The agent does not answer.".to_owned(), "tcpwin keeps trying."),
        (None, _) => (
            "Loading…".to_owned(),
            "The first figures come after one interval.",
        ),
        (Some(_), _) if state.view == View::Listeners => (
            "No listening sockets are known.".to_owned(),
            "They come with the agent's next tick, if its version tells them.",
        ),
        (Some(_), _) if state.view == View::Findings => (
            "Nothing that is true of many connections.".to_owned(),
            "1 shows the connections, x only the sick ones.",
        ),
        // An agent that nobody watched counts connections but lists none yet.
        (Some(snapshot), _)
            if state.total() == 0 && snapshot.summary.connections.values().any(|count| *count > 0) =>
        {
            (
                "Loading the connections…".to_owned(),
                "They come with the agent's next tick.",
            )
        }
        (Some(_), _) if state.total() == 0 => (
            "No TCP connections yet.".to_owned(),
            "New ones appear here as they open.",
        ),
        _ if state.is_narrowed() && state.filter.is_empty() && !state.sick_only => {
            ("None of its connections is left.".to_owned(), "Esc goes back.")
        }
        _ => {
            let total = count_text(state.total() as u64);
            if state.filter.is_empty() {
                (
                    format!("None of {total} connections is sick."),
                    "x shows them all.",
                )
            } else {
                (
                    format!("None of {total} connections passes the filter."),
                    "Esc clears the filter, x only the sick.",
                )
            }
        }
    };
    centre(frame, area, &[say, hint.to_owned()], state);
}

/// Draws that there is no room.
pub(super) fn too_small(frame: &mut Frame<'_>, area: Rect, state: &State, least: Size) {
    let (width, height) = (state.size.width, state.size.height);
    let text = format!(
        "Too small: {width}×{height}. The view `{}` needs {}×{}.",
        state.view.name(),
        least.width,
        least.height
    );
    centre(frame, area, &wrap(&text, usize::from(area.width)), state);
}

fn centre(frame: &mut Frame<'_>, area: Rect, lines: &[String], state: &State) {
    let lines: Vec<_> = lines
        .iter()
        .map(|line| plain(line, state.theme.title(), state.theme).centered())
        .collect();
    let height = (lines.len() as u16).min(area.height);
    let middle = Rect {
        y: area.y + (area.height - height) / 2,
        height,
        ..area
    };
    frame.render_widget(ratatui::text::Text::from(lines), middle);
}
