//! The verdict: headline, proof sentence, arithmetic.

use ratatui::text::{Line, Span};

use crate::classify::{Direction, Limit};
use crate::snapshot::Connection;
use crate::snapshot::figures::{gain, limit_text, side_text};
use crate::top::screen::canvas::ends;
use crate::top::text::{age_text, clean, gain_text, percent_text, width, wrap};
use crate::top::theme::{Theme, letter};
use crate::units::bits_text;

/// Cells before the values.
const INDENT: usize = 13;

/// What holds it, and between whom: the first lines of every page.
pub(super) fn headline(
    connection: &Connection,
    closed: bool,
    cells: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut lines = vec![
        verdict(connection, cells, theme),
        Line::raw(clean(&ends_text(connection), theme.ascii).into_owned()),
    ];
    if closed {
        lines.push(Line::styled(
            " closed: these are its last figures ",
            theme.alarm(),
        ));
    }
    lines
}

/// The proof sentence and the arithmetic.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = proof(connection, cells, theme);
    lines.extend(figures(connection, cells, theme));
    lines
}

/// The proof sentence, and what is wrong with its figures if something is.
pub(super) fn proof(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let sentence = |text: &str| wrap(&clean(text, theme.ascii), cells.saturating_sub(2));
    let mut lines = vec![Line::default()];
    if let Some(why) = &connection.inconsistent {
        let impossible = format!("impossible figures: {why}");
        lines.extend(
            sentence(&impossible)
                .iter()
                .map(|line| Line::styled(format!(" {line} "), theme.alarm())),
        );
    }
    if !connection.proof.is_empty() {
        lines.extend(
            sentence(&connection.proof)
                .iter()
                .map(|line| Line::raw(format!(" {line}"))),
        );
        lines.push(Line::default());
    }
    lines
}

/// What is observed, allowed and to be had.
pub(super) fn figures(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let text = |text: &str| clean(text, theme.ascii).into_owned();
    let mut lines = Vec::new();
    let mut row = |name: &str, bold: String, rest: String| {
        let first = Span::styled(format!(" {name:<0$}", INDENT - 1), theme.dim());
        let mut spans = vec![first, Span::styled(text(&bold), theme.title())];
        let room = cells.saturating_sub(INDENT + 14);
        let mut rest = wrap(&text(&rest), room).into_iter();
        spans.push(Span::raw(format!("  {}", rest.next().unwrap_or_default())));
        lines.push(Line::from(spans));
        lines.extend(rest.map(|line| Line::raw(format!("{:1$}{line}", "", INDENT + 13))));
    };
    let rate = |bps: f64| format!("{:>11}", bits_text(bps));
    if let Some(ceiling) = connection.ceiling_bps {
        let formula = connection
            .ceiling_formula
            .as_deref()
            .map_or(String::new(), |formula| format!("= {formula}"));
        row("ceiling", rate(ceiling), formula);
    }
    let of_ceiling = connection
        .ceiling_bps
        .filter(|ceiling| *ceiling > 0.0)
        .map_or(String::new(), |ceiling| {
            format!("{} of the ceiling", percent_text(connection.rate_bps / ceiling))
        });
    row("observed", rate(connection.rate_bps), of_ceiling);
    if let Some(next) = &connection.next {
        let factor = gain(connection).map_or(String::new(), |gain| gain_text(gain, "×"));
        row(
            "once lifted",
            rate(next.rate_bps),
            format!("{factor}, then {}: {}", next.limit.name(), next.formula),
        );
    }
    if connection.nothing_to_gain {
        let why = "the next limit is as low".to_owned();
        row("gain", format!("{:>11}", "nothing"), why);
    }
    if let Some(prevailing) = &connection.prevailing {
        let since = age_text(prevailing.since_us);
        let alone = if prevailing.limit == connection.limit {
            format!("for {since}")
        } else {
            format!(
                "for {since}; {} is of the last interval alone",
                connection.limit.name()
            )
        };
        row("prevails", format!("{:>11}", prevailing.limit.name()), alone);
    }
    row("who acts", side_text(connection.side).to_owned(), String::new());
    lines.push(Line::default());
    lines
}

fn verdict(connection: &Connection, cells: usize, theme: Theme) -> Line<'static> {
    let (bound, limit) = (connection.bound, connection.limit);
    let class = if bound.name() == limit.name() {
        String::new()
    } else {
        format!(" {}:", bound.name())
    };
    let left = vec![
        Span::raw(" "),
        Span::styled(format!(" {} ", letter(bound)), theme.bound_ground(bound)),
        Span::styled(format!("{class} {}", limit.name()), theme.bound(bound)),
        Span::styled(format!("  {}", limit_text(limit)), theme.title()),
    ];
    let used: usize = left.iter().map(Span::width).sum();
    let sure = percent_text(connection.confidence);
    let forms = [
        format!("  confidence {sure} "),
        format!("  {sure} sure "),
        format!(" {sure}"),
    ];
    let sure = forms
        .into_iter()
        .filter(|_| limit != Limit::Unknown)
        .find(|form| used + width(form) <= cells)
        .unwrap_or_default();
    ends(left, vec![Span::styled(sure, theme.dim())], cells)
}

/// Whose connection it is and between whom.
fn ends_text(connection: &Connection) -> String {
    let arrow = match connection.direction {
        Direction::Send => "→",
        Direction::Receive => "←",
    };
    let process = connection.process.as_ref().map_or(String::new(), |process| {
        format!("  {} (pid {})", process.name, process.pid)
    });
    format!(
        " {} {arrow} {}{process}  {}",
        connection.local,
        connection.peer,
        age_text(connection.age_us)
    )
}
