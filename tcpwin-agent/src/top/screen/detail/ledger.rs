//! The ledger: what each limit would allow, the lowest first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::section;
use crate::snapshot::Connection;
use crate::top::text::{clean, elide, wrap};
use crate::top::theme::{Sign, Theme};
use crate::units::bits_text;

/// Cells before the formula.
const INDENT: usize = 28;

/// The section; nothing where no ceiling is known.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    if connection.ledger.is_empty() && connection.inconsistent.is_none() {
        return Vec::new();
    }
    let mut lines = vec![section("what each limit allows", cells, theme)];
    for ceiling in &connection.ledger {
        let binds = ceiling.limit == connection.limit;
        let style = if binds {
            theme.bound(ceiling.limit.bound())
        } else {
            Style::new()
        };
        let figures = format!(
            "  {:<12} {:>11}  ",
            ceiling.limit.name(),
            bits_text(ceiling.rate_bps)
        );
        let formula = clean(&ceiling.formula, theme.ascii).into_owned();
        let mark = theme.sign(Sign::Ellipsis);
        let formula = elide(&formula, cells.saturating_sub(INDENT), mark).into_owned();
        lines.push(Line::from(vec![
            Span::styled(figures, style),
            Span::styled(formula, theme.dim()),
        ]));
    }
    if let Some(why) = &connection.inconsistent {
        for line in wrap(&clean(why, theme.ascii), cells.saturating_sub(3)) {
            lines.push(Line::styled(format!("  {line}"), theme.alarm()));
        }
    }
    lines.push(Line::default());
    lines
}
