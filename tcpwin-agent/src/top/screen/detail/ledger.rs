//! The ledger: what each limit would allow, the lowest first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::section;
use crate::classify::Limit;
use crate::snapshot::Connection;
use crate::snapshot::figures::gain;
use crate::top::text::{clean, gain_text, width, wrap};
use crate::top::theme::{Sign, Theme};
use crate::units::bits_text;

/// Cells before the formula.
const INDENT: usize = 28;

/// The section; nothing where no ceiling is known.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    if connection.ledger.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![section("what each limit allows", cells, theme)];
    for ceiling in &connection.ledger {
        let binds = ceiling.limit == connection.limit;
        let (style, marker) = if binds {
            (theme.bound(ceiling.limit.bound()), theme.sign(Sign::Marker))
        } else {
            (Style::new(), " ")
        };
        let figures = format!(
            " {marker}{:<12} {:>11}  ",
            ceiling.limit.name(),
            bits_text(ceiling.rate_bps)
        );
        let role = role(connection, ceiling.limit, theme);
        let formula = clean(&ceiling.formula, theme.ascii);
        let room = cells.saturating_sub(INDENT + width(&role));
        let mut formula = wrap(&formula, room).into_iter();
        lines.push(Line::from(vec![
            Span::styled(figures, style),
            Span::styled(role, theme.title()),
            Span::styled(formula.next().unwrap_or_default(), theme.dim()),
        ]));
        lines.extend(formula.map(|line| Line::styled(format!("{:INDENT$}{line}", ""), theme.dim())));
    }
    lines.push(Line::default());
    lines
}

/// What a ceiling is to this connection, if it is anything.
fn role(connection: &Connection, limit: Limit, theme: Theme) -> String {
    let next = connection.next.as_ref().is_some_and(|next| next.limit == limit);
    if limit == connection.limit {
        "binds: ".to_owned()
    } else if next && connection.nothing_to_gain {
        "next, nothing to gain: ".to_owned()
    } else if next {
        let factor = gain(connection).map_or(String::new(), |gain| {
            format!(" {}", gain_text(gain, theme.sign(Sign::Times)))
        });
        format!("next{factor}: ")
    } else {
        String::new()
    }
}
