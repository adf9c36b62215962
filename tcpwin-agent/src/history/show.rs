//! The answer for people.

use std::fmt::Write as _;

use super::ask::{Answer, By, Line};
use super::when::local;
use crate::units::bytes_text;

/// Lines shown where nobody asks for more.
const MOST: usize = 20;

/// A sentence, then the costliest, each with its proof and what to change. `zone` gives the seconds east of Greenwich at a
/// moment.
#[must_use]
pub fn text(answer: &Answer, by: By, most: Option<usize>, zone: impl Fn(i64) -> i64) -> String {
    let mut out = String::new();
    let span = format!("{} – {}", local(answer.from, &zone), local(answer.to, &zone));
    if answer.watched_seconds <= 0.0 {
        return format!("{span}: nothing was watched then\n{}", faults(answer));
    }
    let cost = match answer.window_bytes_not_moved {
        _ if answer.window_bound == 0 => String::new(),
        Some(bytes) => format!(", which kept back {}", bytes_text(bytes)),
        None => ", and what that kept back is not known".to_owned(),
    };
    let plural = if answer.window_bound == 1 { "" } else { "s" };
    let whole = (answer.to - answer.from) as f64;
    let watched = if answer.watched_seconds + 1.0 < whole {
        format!(
            ", {} of {} watched",
            span_text(answer.watched_seconds),
            span_text(whole)
        )
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "{span}, host {}{watched}: {} connection{plural} held by a window{cost}",
        answer.host, answer.window_bound,
    );
    let shown = most.unwrap_or(MOST).min(answer.lines.len());
    if shown > 0 {
        let _ = writeln!(
            out,
            "\n{}",
            row("LIMIT", "HELD", "MOVED", "NOT MOVED", "CONNS", "WHAT")
        );
    }
    for line in &answer.lines[..shown] {
        let not_moved = line.bytes_not_moved.map_or("not known".to_owned(), bytes_text);
        let _ = writeln!(
            out,
            "{}\n    {}",
            row(
                line.limit.name(),
                &span_text(line.seconds),
                &bytes_text(line.bytes),
                &not_moved,
                &line.connections.to_string(),
                &what(line, by)
            ),
            line.proof
        );
        if let Some(change) = &line.change {
            let _ = writeln!(out, "    change: {change}");
        }
    }
    if shown < answer.lines.len() {
        let more = answer.lines.len() - shown;
        let _ = writeln!(out, "\n{more} more: --count shows as many as you like");
    }
    if answer.cut > 0 {
        let _ = writeln!(
            out,
            "\n{} that cost less were not kept: --history.max-size bounds how many are",
            answer.cut
        );
    }
    out + &faults(answer)
}

fn faults(answer: &Answer) -> String {
    answer.faults.iter().map(|fault| format!("\n{fault}\n")).collect()
}

fn row(limit: &str, held: &str, moved: &str, not_moved: &str, connections: &str, what: &str) -> String {
    format!("{limit:<13} {held:>9} {moved:>10} {not_moved:>10} {connections:>6}  {what}")
}

fn what(line: &Line, by: By) -> String {
    let name = |text: &Option<String>| text.clone().unwrap_or_else(|| "not known".to_owned());
    match by {
        By::Connection => {
            let process = match (&line.process, line.pid) {
                (Some(name), Some(pid)) => format!("  {name}[{pid}]"),
                (Some(name), None) => format!("  {name}"),
                _ => String::new(),
            };
            format!("{} → {}{process}", name(&line.local), name(&line.peer))
        }
        By::Process => name(&line.process),
        By::Peer => name(&line.peer),
        By::Limit => String::new(),
    }
}

fn span_text(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7_200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}
