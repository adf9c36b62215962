//! The report as people read it.

use std::io::{self, Write};

use super::{Change, Finding, Report, Severity};
use crate::units::bits_text;

/// Width of the lines, and of the labels before them.
const WIDTH: usize = 110;
const LABEL: usize = 11;

/// Writes the report.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(report: &Report, to: &mut impl Write) -> io::Result<()> {
    for severity in [Severity::Hurts, Severity::Risk, Severity::Note] {
        let found: Vec<&Finding> = report
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .collect();
        if found.is_empty() {
            continue;
        }
        writeln!(to, "{}\n", heading(severity))?;
        for finding in found {
            block(finding, report, to)?;
        }
    }
    let connections: u64 = report.namespaces.iter().map(|each| each.connections).sum();
    let listeners: u64 = report.namespaces.iter().map(|each| each.listeners).sum();
    let count = |severity| {
        let of = report
            .findings
            .iter()
            .filter(|finding| finding.severity == severity);
        of.count()
    };
    writeln!(
        to,
        "{}: {} hurt, {} may, {} to know. {} and {} in {}, watched for {:.0} s ({}). Nothing was changed.",
        counted(report.findings.len(), "finding"),
        count(Severity::Hurts),
        count(Severity::Risk),
        count(Severity::Note),
        counted(connections as usize, "connection"),
        counted(listeners as usize, "listener"),
        counted(report.namespaces.len(), "network namespace"),
        report.watched_s,
        report.source
    )
}

fn counted(count: usize, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {what}{many}")
}

const fn heading(severity: Severity) -> &'static str {
    match severity {
        Severity::Hurts => "HURTS NOW",
        Severity::Risk => "MAY HURT: no live connection is held by it",
        Severity::Note => "TO KNOW: it does nothing, or not what is believed",
    }
}

fn block(finding: &Finding, report: &Report, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{}  {} = {}", finding.id, finding.subject, finding.value)?;
    if let Some(path) = finding.path.as_ref().filter(|_| report.namespaces.len() > 1) {
        labelled("in", &format!("{path} (nsenter --net={path} …)"), to)?;
    }
    labelled("why", &finding.why, to)?;
    if finding.connections > 0 {
        labelled("costs", &cost(finding), to)?;
    }
    if let Some(reached) = &finding.reached {
        labelled("reaches", reached, to)?;
    }
    for change in &finding.changes {
        self::change(change, to)?;
    }
    if let Some(risk) = &finding.risk {
        labelled("risk", risk, to)?;
    }
    writeln!(to)
}

fn cost(finding: &Finding) -> String {
    let connections = counted(finding.connections as usize, "live connection");
    let now = finding
        .rate_bps
        .map_or_else(String::new, |rate| format!(" at {} together", bits_text(rate)));
    match finding.cost_bps {
        Some(cost) => format!("{connections}{now}; {} more without it", bits_text(cost)),
        None => format!("{connections}{now}; what it would be without is not known"),
    }
}

fn change(change: &Change, to: &mut impl Write) -> io::Result<()> {
    let label = if change.is_command { "change" } else { "program" };
    // A command is never broken: it is to be copied.
    if change.is_command {
        writeln!(to, "  {label:<LABEL$}{}", change.command)?;
    } else {
        labelled(label, &change.command, to)?;
    }
    if let Some(line) = &change.sysctl_d {
        writeln!(
            to,
            "  {:<LABEL$}{line}   (in /etc/sysctl.d/90-tcpwin.conf)",
            "to keep"
        )?;
    }
    if let Some(undo) = &change.undo {
        writeln!(to, "  {:<LABEL$}{undo}", "undo")?;
    }
    Ok(())
}

fn labelled(label: &str, text: &str, to: &mut impl Write) -> io::Result<()> {
    let mut label = label;
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() + 1 > WIDTH - LABEL - 2 {
            writeln!(to, "  {label:<LABEL$}{line}")?;
            label = "";
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(to, "  {label:<LABEL$}{line}")
}
