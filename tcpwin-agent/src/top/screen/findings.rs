//! The findings under the table, one line each, what gives most first.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::detail::section;
use crate::snapshot::Finding;
use crate::top::lists::{sentence, whose};
use crate::top::state::{Focus, State};
use crate::top::text::{clean, count_text, elide, gain_text, width, wrap};
use crate::top::theme::{Sign, letter};

/// Draws them.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    if area.is_empty() {
        return;
    }
    let theme = state.theme;
    let cells = usize::from(area.width);
    let has_focus = state.focus == Focus::Aside;
    let plural = if state.listed.len() == 1 { "" } else { "s" };
    let name = format!(" {} finding{plural} ", count_text(state.listed.len() as u64));
    let hint = if has_focus {
        " Enter opens, Tab goes back "
    } else {
        " Tab goes there "
    };
    let rule = theme
        .sign(Sign::Rule)
        .repeat(cells.saturating_sub(name.len() + hint.len()));
    let mut lines = vec![Line::from(vec![
        Span::styled(name, theme.title()),
        Span::styled(rule, theme.dim()),
        Span::styled(hint, theme.dim()),
    ])];
    let cursor = &state.findings.cursor;
    let offset = if has_focus { cursor.offset } else { 0 };
    for row in offset..offset + usize::from(area.height - 1) {
        let Some(finding) = state.finding(row) else { break };
        let is_selected = has_focus && row == cursor.at;
        lines.push(line(finding, is_selected, cells, state));
    }
    super::draw(frame, area, &lines);
    if has_focus {
        let y = area.y + 1 + (cursor.at - offset.min(cursor.at)) as u16;
        if y < area.bottom() {
            let row = Rect::new(area.x, y, area.width, 1);
            frame.buffer_mut().set_style(row, theme.selected());
        }
    }
}

/// Draws the selected one under the list of all: its proof and the first of what to change.
pub(super) fn preview(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(finding) = state.finding(state.findings.cursor.at) else {
        return;
    };
    let theme = state.theme;
    let cells = usize::from(area.width);
    let name = whose(finding);
    let room = cells.saturating_sub(6);
    let name = elide(&name, room, theme.sign(Sign::Ellipsis));
    let mut lines = vec![section(&clean(&name, theme.ascii), cells, theme)];
    let proof = clean(&finding.proof, theme.ascii);
    let most = usize::from(area.height).saturating_sub(2);
    let words = wrap(&proof, cells.saturating_sub(2)).into_iter().take(most);
    lines.extend(words.map(|line| Line::raw(format!(" {line}"))));
    if let Some(remedy) = finding.remedies.first() {
        let change = clean(&remedy.change, theme.ascii);
        let change = elide(&change, cells.saturating_sub(2), theme.sign(Sign::Ellipsis));
        lines.push(Line::styled(format!(" {change}"), theme.key()));
    }
    super::draw(frame, area, &lines);
}

/// Cells of the gain.
const GAIN: usize = 6;

fn line(finding: &Finding, is_selected: bool, cells: usize, state: &State) -> Line<'static> {
    let theme = state.theme;
    let mark = if is_selected {
        theme.sign(Sign::Marker)
    } else {
        " "
    };
    let gain = finding
        .gain
        .map_or(String::new(), |gain| gain_text(gain, theme.sign(Sign::Times)));
    let pad = " ".repeat(GAIN.saturating_sub(width(&gain)));
    let room = cells.saturating_sub(GAIN + 5);
    let text = sentence(finding, room);
    let text = clean(&text, theme.ascii);
    let text = elide(&text, room, theme.sign(Sign::Ellipsis)).into_owned();
    Line::from(vec![
        Span::raw(mark),
        Span::styled(
            letter(finding.bound).to_string(),
            theme.bound_ground(finding.bound),
        ),
        Span::raw(pad),
        Span::styled(gain, theme.title()),
        Span::styled(format!("  {text}"), Style::new()),
    ])
}
