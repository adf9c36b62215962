//! One finding: the proof, and what to change. Its connections stand under it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::detail::{remedies, section};
use crate::snapshot::figures::limit_text;
use crate::top::lists::whose;
use crate::top::state::{Focus, State};
use crate::top::text::{clean, gain_text, wrap};
use crate::top::theme::{Sign, letter};
use crate::units::bits_text;

/// Draws it; the part that has the focus scrolls.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let mut lines = lines(state).split_off(usize::from(state.scroll).min(height(state)));
    let room = usize::from(area.height);
    if lines.len() > room && room > 0 {
        let keys = match state.focus {
            Focus::Main => "Tab, then j",
            Focus::Aside => "j",
        };
        let hidden = lines.len() - room + 1;
        lines.truncate(room - 1);
        let text = format!(" {hidden} more lines: {keys}");
        lines.push(Line::styled(text, state.theme.notice()));
    }
    super::draw(frame, area, &lines);
}

/// Its length in lines.
pub(super) fn height(state: &State) -> usize {
    lines(state).len()
}

fn lines(state: &State) -> Vec<Line<'static>> {
    let Some(opened) = &state.opened_finding else {
        return Vec::new();
    };
    let (finding, theme) = (&opened.finding, state.theme);
    let cells = usize::from(state.size.width);
    let text = |text: &str| clean(text, theme.ascii).into_owned();
    let (bound, limit) = (finding.bound, finding.limit);
    let gain = finding.gain.map_or(String::new(), |gain| {
        let then = bits_text(finding.rate_bps * gain);
        format!(
            "; {then} once lifted ({})",
            gain_text(gain, theme.sign(Sign::Times))
        )
    });
    let mut lines = vec![Line::from(vec![
        Span::raw(" "),
        Span::styled(format!(" {} ", letter(bound)), theme.bound_ground(bound)),
        Span::styled(format!(" {}", limit.name()), theme.bound(bound)),
        Span::styled(format!("  {}", limit_text(limit)), theme.title()),
    ])];
    let rate = bits_text(finding.rate_bps);
    let sums = format!("{}, {rate} together{gain}", whose(finding));
    for line in wrap(&text(&sums), cells.saturating_sub(2)) {
        lines.push(Line::raw(format!(" {line}")));
    }
    if opened.gone {
        lines.push(Line::styled(
            " no longer so: this is how it was last ",
            theme.alarm(),
        ));
    }
    lines.push(Line::default());
    for line in wrap(&text(&finding.proof), cells.saturating_sub(2)) {
        lines.push(Line::styled(format!(" {line}"), Style::new()));
    }
    lines.push(Line::default());
    lines.extend(remedies::lines(&finding.remedies, cells, theme));
    lines.push(section("its connections", cells, theme));
    lines
}
