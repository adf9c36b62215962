//! The help: the key table in words, the columns, the classes, the filter.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::classify::{Bound, Limit};
use crate::query;
use crate::snapshot::figures::limit_text;
use crate::top::action::Action;
use crate::top::keys::{BINDINGS, Binding, Mode};
use crate::top::state::State;
use crate::top::text::{clean, wrap};
use crate::top::theme::letter;

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let lines = lines(state);
    let from = usize::from(state.scroll).min(lines.len());
    super::draw(frame, area, &lines[from..]);
}

/// Its length in lines.
pub(super) fn height(state: &State) -> usize {
    lines(state).len()
}

/// A heading, and the keys under it.
type Group = (&'static str, fn(&Binding) -> bool);

/// A key stands in the first group that takes it.
const GROUPS: [Group; 10] = [
    ("Everywhere", |it| {
        is_in(it, Mode::Overview) && is_in(it, Mode::Detail) && !is_play(it)
    }),
    ("Views", |it| matches!(it.action, Action::Go(_))),
    ("In the table of connections and other lists", |it| {
        is_in(it, Mode::Overview) && !is_play(it)
    }),
    ("In processes, containers, peers", |it| {
        is_in(it, Mode::Tree) && !is_play(it)
    }),
    ("In listeners and findings", |it| {
        is_in(it, Mode::List) && !is_play(it)
    }),
    ("In the detail, a finding and this help", |it| {
        (is_in(it, Mode::Detail) || is_in(it, Mode::Finding)) && !is_play(it)
    }),
    ("In a recording", is_play),
    ("While the filter is written", |it| is_in(it, Mode::Prompt)),
    ("While columns are chosen", |it| is_in(it, Mode::Chooser)),
    ("While a view is named", |it| is_in(it, Mode::Command)),
];

fn is_in(binding: &Binding, mode: Mode) -> bool {
    binding.modes.contains(&mode)
}

fn is_play(binding: &Binding) -> bool {
    matches!(binding.action, Action::Play(_))
}

fn lines(state: &State) -> Vec<Line<'static>> {
    let theme = state.theme;
    let cells = usize::from(state.size.width).saturating_sub(4);
    let title = |text: &str| Line::styled(format!(" {text}"), theme.title());
    let text = |text: &str| clean(text, theme.ascii).into_owned();
    let mut lines = Vec::new();
    let mut told = [false; BINDINGS.len()];
    for (name, takes) in GROUPS {
        lines.push(title(name));
        let of_group = BINDINGS.iter().zip(&mut told).filter_map(|(binding, told)| {
            let here = !*told && takes(binding);
            *told |= here;
            here.then_some(binding)
        });
        for binding in of_group {
            let keys: Vec<String> = binding.keys.iter().map(|keys| keys.replace(' ', "")).collect();
            lines.push(Line::from(vec![
                Span::styled(format!("   {:<25}", keys.join(" ")), theme.key()),
                Span::raw(text(binding.help)),
            ]));
        }
        lines.push(Line::default());
    }
    lines.push(title("What holds a connection"));
    for bound in Bound::ALL {
        lines.push(Line::from(vec![
            Span::raw("   "),
            Span::styled(letter(bound).to_string(), theme.bound_ground(bound)),
            Span::styled(format!(" {}", bound.name()), theme.bound(bound)),
        ]));
        for limit in Limit::ALL.into_iter().filter(|limit| limit.bound() == bound) {
            lines.push(Line::from(vec![
                Span::styled(format!("     {:<14}", limit.name()), theme.bound(bound)),
                Span::raw(text(limit_text(limit))),
            ]));
        }
    }
    lines.push(Line::default());
    lines.push(title("Filter"));
    let grammar = "Words occur in any text. Fields are compared with = != ~ (contains) !~ < <= > >= and in, as in \
         limit in (rwnd, loss), rtt in 10..50ms, peer in 203.0.113.0/24. Conditions are joined by and (or a space), or, \
         not and parentheses; has rtt asks if it is known. An end is its address, address:port, :port, a prefix or a start \
         such as 203.0.113. Units: 50ms, 1mbit, 64k, 10m (age), 1%. Fields:";
    for line in wrap(grammar, cells)
        .into_iter()
        .chain(wrap(&query::field_names(), cells))
    {
        lines.push(Line::styled(format!("   {}", text(&line)), Style::new()));
    }
    lines
}
