//! The verdict: headline, proof sentence, arithmetic, remedies.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::section;
use crate::classify::{Direction, Limit};
use crate::snapshot::Connection;
use crate::snapshot::figures::{gain, limit_text, side_text};
use crate::top::screen::canvas::ends;
use crate::top::text::{age_text, clean, gain_text, percent_text, wrap};
use crate::top::theme::{Theme, letter};
use crate::units::bits_text;

/// Cells before the values.
const INDENT: usize = 13;

/// The section.
pub(super) fn lines(connection: &Connection, closed: bool, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let text = |text: &str| clean(text, theme.ascii).into_owned();
    let mut lines = vec![
        headline(connection, cells, theme),
        Line::raw(text(&ends_text(connection))),
    ];
    if closed {
        lines.push(Line::styled(
            " closed: these are its last figures ",
            theme.alarm(),
        ));
    }
    lines.push(Line::default());
    if !connection.proof.is_empty() {
        lines.extend(
            wrap(&text(&connection.proof), cells.saturating_sub(2))
                .iter()
                .map(|line| Line::raw(format!(" {line}"))),
        );
        lines.push(Line::default());
    }
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
    lines.extend(remedies(connection, cells, theme));
    lines
}

fn headline(connection: &Connection, cells: usize, theme: Theme) -> Line<'static> {
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
    let sure = match limit {
        Limit::Unknown => String::new(),
        _ => format!("confidence {} ", percent_text(connection.confidence)),
    };
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

/// What to change, each on a line of its own from the left edge, so that a mouse can copy it.
fn remedies(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    if connection.remedies.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![section("what to change", cells, theme)];
    for remedy in &connection.remedies {
        for line in wrap_exact(&clean(&remedy.change, theme.ascii), cells) {
            lines.push(Line::styled(line, theme.key()));
        }
        let why = format!(
            "{}{} {}",
            side_text(remedy.side),
            if remedy.why.is_empty() { "" } else { ":" },
            remedy.why
        );
        for line in wrap(&clean(&why, theme.ascii), cells.saturating_sub(5)) {
            lines.push(Line::styled(format!("    {line}"), Style::new()));
        }
    }
    lines.push(Line::default());
    lines
}

/// `text` as it is, cut only where the line ends: what is copied must be what was said.
fn wrap_exact(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(2);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let wide = crate::top::text::width(c.encode_utf8(&mut [0; 4]));
        if used + wide > cells {
            lines.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}
