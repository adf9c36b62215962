//! The time budget: where the interval's time went.

use ratatui::text::{Line, Span};

use super::section;
use crate::snapshot::{Budget, Connection};
use crate::top::screen::canvas::{Part, stacked};
use crate::top::text::{percent_text, wrap};
use crate::top::theme::{Sign, Theme};

/// States by `tcpwin_common::BUDGET_*`: name, letter, what held the connection.
const STATES: [(&str, char, &str); 6] = [
    ("idle", '.', "nothing to send"),
    ("app", 'a', "all sent, the program offers no more"),
    ("sndbuf", 's', "the writer waits for buffer space"),
    ("rwnd", 'r', "the peer's window is full"),
    ("cwnd", 'c', "the congestion window is full"),
    ("pacing", 'p', "room in all windows, sent as paced"),
];

fn shares(budget: &Budget) -> [f64; 6] {
    [
        budget.idle,
        budget.app,
        budget.sndbuf,
        budget.rwnd,
        budget.cwnd,
        budget.pacing,
    ]
}

/// The section.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![section("time budget of the interval", cells, theme)];
    let Some(budget) = &connection.budget else {
        for line in wrap(
            "not known from this source: only the kernel probes keep it",
            cells.saturating_sub(3),
        ) {
            lines.push(Line::styled(format!("  {line}"), theme.dim()));
        }
        lines.push(Line::default());
        return lines;
    };
    let shares = shares(budget);
    let parts: Vec<Part<'_>> = STATES
        .iter()
        .zip(shares)
        .enumerate()
        .map(|(state, ((name, letter, _), share))| Part {
            amount: share,
            letter: *letter,
            name,
            ground: theme.budget_ground(state),
        })
        .collect();
    let rail = || Span::raw(theme.sign(Sign::Rail));
    let mut bar = vec![Span::raw(" "), rail()];
    bar.extend(
        stacked(&parts, cells.saturating_sub(5), theme)
            .into_iter()
            .map(|span| Span::styled(span.content.into_owned(), span.style)),
    );
    bar.push(rail());
    lines.push(Line::from(bar));
    for (state, ((name, letter, what), share)) in STATES.iter().zip(shares).enumerate() {
        if share > 0.0 {
            lines.push(Line::from(vec![
                Span::raw("  "),
                Span::styled(letter.to_string(), theme.budget_ground(state)),
                Span::styled(format!(" {name:<7}{:>7}", percent_text(share)), theme.title()),
                Span::styled(format!("  {what}"), theme.dim()),
            ]));
        }
    }
    lines.push(Line::default());
    lines
}
