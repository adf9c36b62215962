//! The last line: what can be done here, or the filter as it is written.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::canvas::ends;
use crate::query::FilterError;
use crate::top::command::CommandLine;
use crate::top::prompt::Prompt;
use crate::top::state::{Focus, Listed, State};
use crate::top::text::{clean, count_text, elide, width};
use crate::top::theme::{Sign, Theme};
use crate::top::view::View;

/// Before a view as it is named.
const VIEW_LEAD: &str = "view: ";
/// Before the filter as it is written.
const LEAD: &str = "filter: ";

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    if let Some(prompt) = &state.prompt {
        render_prompt(frame, area, state, prompt);
        return;
    }
    if let Some(command) = &state.command {
        render_command(frame, area, state, command);
        return;
    }
    let cells = usize::from(area.width);
    let theme = state.theme;
    let line = if let Some(message) = &state.message {
        let message = format!(" {message}");
        let message = clean(&message, theme.ascii);
        Line::styled(
            elide(&message, cells, theme.sign(Sign::Ellipsis)).into_owned(),
            theme.notice(),
        )
    } else {
        let place = place(state);
        let room = cells.saturating_sub(width(&place) + 1);
        ends(
            hints(state, room),
            vec![Span::styled(place, theme.title())],
            cells,
        )
    };
    super::draw(frame, area, &[line]);
}

/// As many hints as fit.
fn hints(state: &State, cells: usize) -> Vec<Span<'static>> {
    let hints: &[(&str, &str)] = match (state.view, state.focus) {
        _ if state.chooser.is_some() => &[
            ("Enter", "keep"),
            ("Esc", "back"),
            ("Space", "show"),
            ("J K", "move"),
            ("+ -", "width"),
            ("w", "write"),
            ("a", "automatic"),
        ],
        (View::Overview, Focus::Aside) => &[
            ("Enter", "open the finding"),
            ("Tab", "connections"),
            ("Esc", "back"),
        ],
        (View::Overview, Focus::Main) if state.is_narrowed() => &[
            ("Esc", "back"),
            ("Enter", "detail"),
            ("/", "filter"),
            ("x", "sick"),
            ("s", "sort"),
            ("?", "help"),
            ("Space", "freeze"),
        ],
        (View::Overview, Focus::Main) => &[
            ("?", "help"),
            (":", "views"),
            ("/", "filter"),
            ("x", "sick"),
            ("s", "sort"),
            ("Enter", "detail"),
            ("Tab", "findings"),
            ("Space", "freeze"),
            ("q", "quit"),
            ("I", "invert"),
            ("+ -", "interval"),
        ],
        (View::Groups(_), _) => &[
            ("Enter", "its connections"),
            ("Right", "unfold"),
            ("Left", "fold"),
            ("/", "filter"),
            ("x", "sick"),
            ("s", "sort"),
            ("?", "help"),
            (":", "views"),
        ],
        (View::Listeners, _) => &[
            ("Enter", "its connections"),
            ("s", "sort"),
            (":", "views"),
            ("?", "help"),
            ("q", "quit"),
        ],
        (View::Findings, _) => &[
            ("Enter", "open"),
            ("s", "sort"),
            (":", "views"),
            ("?", "help"),
            ("q", "quit"),
        ],
        (View::Finding, Focus::Main) => &[
            ("Esc", "back"),
            ("1-9", "copy a remedy"),
            ("Enter", "detail"),
            ("Tab", "read on"),
            ("/", "filter"),
            ("?", "help"),
        ],
        (View::Finding, Focus::Aside) => &[
            ("j k", "scroll"),
            ("Tab", "its connections"),
            ("y", "copy the remedy"),
            ("Esc", "back"),
        ],
        (View::Host, _) => &[("j k", "scroll"), (":", "views"), ("?", "help"), ("q", "quit")],
        (View::Detail, _) => &[
            ("Esc", "back"),
            ("Tab", "charts"),
            ("< >", "zoom"),
            ("1-9", "copy a remedy"),
            ("j k", "scroll"),
            ("?", "help"),
            ("c", "one chart"),
            ("Space", "freeze"),
        ],
        (View::Help, _) => &[("Esc", "back"), ("j k", "scroll")],
    };
    let mut spans = Vec::new();
    let mut used = 0;
    for (key, text) in hints {
        used += key.len() + text.len() + 3;
        if used > cells {
            break;
        }
        spans.push(Span::styled(format!(" {key}"), state.theme.key()));
        spans.push(Span::raw(format!(" {text} ")));
    }
    spans
}

/// Where in the list or page, and what narrows it.
fn place(state: &State) -> String {
    if state.chooser.is_some() {
        return String::new();
    }
    if state.listed() == Listed::Text {
        let (lines, page) = (super::lines(state), state.page_lines());
        let end = lines.min(usize::from(state.scroll) + page);
        return if lines > page {
            format!("{end}/{lines} ")
        } else {
            String::new()
        };
    }
    let mut place = String::new();
    if !state.filter.is_empty() {
        let text = format!("filter: {}", state.filter.text());
        let text = clean(&text, state.theme.ascii);
        place.push_str(&elide(
            &text,
            usize::from(state.size.width) / 3,
            state.theme.sign(Sign::Ellipsis),
        ));
        place.push_str("  ");
    }
    if state.sick_only {
        place.push_str("only sick  ");
    }
    let (selected, _, rows) = state.place();
    let at = if rows == 0 { 0 } else { selected + 1 };
    place.push_str(&format!("{}/{}", count_text(at as u64), count_text(rows as u64)));
    let total = state.total();
    if state.listed() == Listed::Connections && rows < total {
        place.push_str(&format!(" of {}", count_text(total as u64)));
    }
    place.push(' ');
    place
}

/// What is named so far, and the names that begin so.
fn render_command(frame: &mut Frame<'_>, area: Rect, state: &State, command: &CommandLine) {
    let theme = state.theme;
    let cells = usize::from(area.width);
    let text = command.text();
    let text = clean(text, theme.ascii);
    let written = Line::from(vec![
        Span::styled(VIEW_LEAD, theme.key()),
        Span::raw(text.to_string()),
    ]);
    let mut candidates: Vec<Span<'static>> = vec![Span::raw(" ".repeat(VIEW_LEAD.len()))];
    let mut used = VIEW_LEAD.len();
    for (at, candidate) in command.candidates().enumerate() {
        used += candidate.name.len() + 2;
        if used > cells {
            break;
        }
        let style = if at == command.at() {
            theme.selected()
        } else {
            theme.dim()
        };
        candidates.push(Span::styled(candidate.name, style));
        candidates.push(Span::raw("  "));
    }
    if candidates.len() == 1 {
        candidates.push(Span::styled("no view is called so", theme.alarm_text()));
    }
    super::draw(frame, area, &[written, Line::from(candidates)]);
    let x = area.x + (VIEW_LEAD.len() + width(&text)) as u16;
    frame.set_cursor_position(Position {
        x: x.min(area.right().saturating_sub(1)),
        y: area.y,
    });
}

/// The filter; under it a mark where it is wrong, and what is wrong.
fn render_prompt(frame: &mut Frame<'_>, area: Rect, state: &State, prompt: &Prompt) {
    let theme = state.theme;
    let cells = usize::from(area.width);
    let room = cells.saturating_sub(LEAD.len() + 1);
    let text: Vec<char> = prompt.text().chars().collect();
    // The part around the cursor; wide characters may hide its end, never the cursor.
    let wide = |from: usize, to: usize| -> usize {
        text.iter()
            .take(to)
            .skip(from)
            .map(|c| width(c.encode_utf8(&mut [0; 4])))
            .sum()
    };
    let from = (0..=prompt.cursor())
        .find(|from| wide(*from, prompt.cursor()) <= room)
        .unwrap_or(prompt.cursor());
    let shown: String = text.iter().skip(from).collect();
    let mut lines = vec![Line::from(vec![
        Span::styled(LEAD, theme.key()),
        Span::raw(clean(&shown, theme.ascii).into_owned()),
    ])];
    match &prompt.error {
        Some(error) => lines.extend(fault(error, LEAD.len() + wide(from, error.column), cells, theme)),
        None => {
            let passed = match state.listed() {
                Listed::Groups(_) => format!("{} rows ", count_text(state.branches.len() as u64)),
                _ => format!(
                    "{} of {} ",
                    count_text(state.rows.len() as u64),
                    count_text(state.total() as u64)
                ),
            };
            let hint = format!(
                "{:1$}Enter keeps it, Esc goes back, Tab completes",
                "",
                LEAD.len()
            );
            lines.push(ends(
                vec![Span::styled(hint, theme.dim())],
                vec![Span::raw(passed)],
                cells,
            ));
        }
    }
    if lines.len() == 2 {
        lines.push(offer(prompt, cells, theme));
    }
    super::draw(frame, area, &lines);
    let x = area.x + (LEAD.len() + wide(from, prompt.cursor())) as u16;
    frame.set_cursor_position(Position {
        x: x.min(area.right().saturating_sub(1)),
        y: area.y,
    });
}

/// What may be written next, the part around the chosen one.
fn offer(prompt: &Prompt, cells: usize, theme: Theme) -> Line<'static> {
    let offer = &prompt.offer;
    let dim = |text: &str| Span::styled(clean(text, theme.ascii).into_owned(), theme.dim());
    let chosen = offer.chosen();
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    // From the chosen one on, the one before it first, so that its place is seen.
    for (at, candidate) in offer
        .candidates()
        .iter()
        .enumerate()
        .skip(chosen.unwrap_or(0).saturating_sub(1))
    {
        let text = clean(&candidate.text, theme.ascii).into_owned();
        used += width(&text) + 2;
        if used > cells {
            break;
        }
        let style = if chosen == Some(at) {
            theme.key()
        } else {
            theme.dim()
        };
        spans.push(Span::styled(text, style));
        spans.push(Span::raw("  "));
    }
    let about = match (offer.candidates(), chosen) {
        // A fault says it already.
        ([], _) => offer.hint().filter(|_| prompt.error.is_none()),
        ([only], _) => Some(only.about),
        (several, at) => at.and_then(|at| several.get(at)).map(|candidate| candidate.about),
    };
    if let Some(about) = about.filter(|about| !about.is_empty() && used + 2 + width(about) <= cells) {
        return ends(spans, vec![dim(about), Span::raw(" ")], cells);
    }
    Line::from(spans)
}

/// A mark under the fault, and what is wrong beside it or on a line of its own.
fn fault(error: &FilterError, column: usize, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let column = column.min(cells.saturating_sub(1));
    let sign = theme.sign(Sign::Up);
    let message = clean(&error.message, theme.ascii);
    let styled = |text: String| Line::styled(text, theme.alarm_text());
    if column + 2 + width(&message) <= cells {
        return vec![styled(format!("{:column$}{sign} {message}", ""))];
    }
    let message = elide(&message, cells.saturating_sub(1), theme.sign(Sign::Ellipsis));
    vec![
        styled(format!("{:column$}{sign}", "")),
        styled(format!(" {message}")),
    ]
}
