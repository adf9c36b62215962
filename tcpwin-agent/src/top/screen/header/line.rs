//! The first line of every view: host, kernel, source, and whether what is seen is of now.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::top::screen::canvas::ends;
use crate::top::state::{FeedState, State};
use crate::top::text::{age_text, clean, elide, width};
use crate::top::theme::Sign;
use crate::top::view::View;

/// Draws it.
pub(in crate::top::screen) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let theme = state.theme;
    let cells = usize::from(area.width);
    let (status, style) = match &state.feed {
        FeedState::Lost { .. } => (" agent gone, retrying ".to_owned(), theme.alarm()),
        _ if state.frozen => (" FROZEN: space goes on ".to_owned(), theme.alarm()),
        FeedState::Waiting => (" waiting ".to_owned(), theme.notice()),
        FeedState::Live => (format!(" every {} ", seconds(state)), theme.dim()),
    };
    let room = cells.saturating_sub(width(&status) + 8);
    let place = state.snapshot.as_ref().map_or_else(String::new, |snapshot| {
        let health = &snapshot.health;
        let kernel = if health.kernel.is_empty() {
            String::new()
        } else {
            format!("  Linux {}", health.kernel)
        };
        let up = snapshot.facts.uptime_s.map_or(String::new(), |s| {
            format!("  up {}", age_text(s.saturating_mul(1_000_000)))
        });
        format!("  {}{kernel}{up}  source {}", health.host, health.source)
    });
    // A view of text alone has no line for the way that led to it.
    let place = match state.view {
        View::Detail | View::Help => format!("  {}", super::tabs::way(state)),
        _ => place,
    };
    let place = clean(&place, theme.ascii);
    let place = elide(&place, room, theme.sign(Sign::Ellipsis));
    let left = vec![
        Span::styled(" tcpwin", theme.title()),
        Span::styled(place.into_owned(), Style::new()),
    ];
    let line = ends(left, vec![Span::styled(status, style)], cells);
    super::super::draw(frame, area, &[line]);
}

fn seconds(state: &State) -> String {
    let ms = state.interval.as_millis();
    if ms < 1_000 {
        format!("{ms} ms")
    } else {
        format!("{} s", ms as f64 / 1e3)
    }
}
