//! The report as people read it: a block a socket, and of many sockets first a line for each cause.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::classify::Limit;
use crate::explain::report::{Explained, Report, Seen};
use crate::snapshot::figures::{limit_text, side_text};
use crate::units::bits_text;

/// From this many sockets on, those that nothing holds are only counted.
const MANY: usize = 8;

/// Writes the report.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(report: &Report, to: &mut impl Write) -> io::Result<()> {
    let is_many = report.sockets.len() >= MANY;
    if is_many {
        summary(report, to)?;
    }
    for socket in &report.sockets {
        if !is_many || socket.limit != Limit::None || !socket.unknown.is_empty() {
            block(socket, to)?;
        }
    }
    if !report.text.is_empty() {
        writeln!(
            to,
            "{} lines were read as text and not as ss output.",
            report.text.len()
        )?;
    }
    Ok(())
}

fn summary(report: &Report, to: &mut impl Write) -> io::Result<()> {
    let mut counts: BTreeMap<Limit, usize> = BTreeMap::new();
    for socket in &report.sockets {
        *counts.entry(socket.limit).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    writeln!(to, "{} sockets", report.sockets.len())?;
    for (limit, count) in counts {
        writeln!(to, "  {count:>5}  {:<13}  {}", limit.name(), limit_text(limit))?;
    }
    writeln!(to)
}

fn block(socket: &Explained, to: &mut impl Write) -> io::Result<()> {
    let ends = match (&socket.local, &socket.peer) {
        (Some(local), Some(peer)) => format!("{local} → {peer}"),
        _ => format!("socket at line {}", socket.line),
    };
    let process = socket
        .process
        .as_ref()
        .map(|process| &process.name)
        .or(socket.process_name.as_ref())
        .map_or_else(String::new, |name| format!("  {name}"));
    writeln!(to, "{ends}{process}")?;
    let sure = match socket.limit {
        Limit::Unknown => String::new(),
        _ => format!("  ({:.0} % sure)", socket.confidence * 100.0),
    };
    writeln!(
        to,
        "  {}: {}{sure}",
        socket.limit.name(),
        limit_text(socket.limit)
    )?;
    labelled("why", &socket.proof, to)?;
    if let Some(rate) = socket.rate_bps {
        let over = socket.rate_over.unwrap_or("");
        labelled("rate", &format!("{}, {over}", bits_text(rate)), to)?;
    }
    for ceiling in &socket.ledger {
        let mark = if ceiling.limit == socket.limit {
            ", which binds"
        } else {
            ""
        };
        let told = format!("{} = {}{mark}", ceiling.formula, bits_text(ceiling.rate_bps));
        labelled("ceiling", &told, to)?;
    }
    if let Some(next) = &socket.next {
        labelled(
            "next",
            &format!(
                "{}, at {} ({})",
                next.limit.name(),
                bits_text(next.rate_bps),
                next.formula
            ),
            to,
        )?;
    }
    for remedy in &socket.remedies {
        labelled(
            "change",
            &format!("[{}] {}", side_text(remedy.side), remedy.change),
            to,
        )?;
        labelled("", &remedy.why, to)?;
        if let Some(caveat) = &remedy.caveat {
            labelled("", &format!("but {caveat}"), to)?;
        }
    }
    for wanted in &socket.collect {
        labelled("collect", wanted, to)?;
    }
    if !socket.unknown.is_empty() {
        labelled("unknown", &socket.unknown.join(" "), to)?;
    }
    if socket.looks > 0 {
        let end = match socket.side_seen {
            Seen::Sender => "the sending end",
            Seen::Receiver => "the receiving end",
            Seen::Both => "both ends",
        };
        let looks = if socket.looks == 1 { "look" } else { "looks" };
        labelled("seen", &format!("{end}, {} {looks}", socket.looks), to)?;
    }
    writeln!(to)
}

/// Columns of a line.
const WIDTH: usize = 110;

/// A label and its text, wrapped at words under itself.
fn labelled(label: &str, text: &str, to: &mut impl Write) -> io::Result<()> {
    let mut line = format!("  {label:<8}");
    let start = line.len();
    let mut columns = start;
    for word in text.split(' ') {
        let len = word.chars().count();
        if columns + 1 + len > WIDTH && columns > start {
            writeln!(to, "{line}")?;
            line = " ".repeat(start);
            columns = start;
        }
        line.push(' ');
        line.push_str(word);
        columns += 1 + len;
    }
    writeln!(to, "{line}")
}
