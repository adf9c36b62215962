//! The host: its own counters, what watching it costs, what was lost on the way, and what held its connections so far.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::detail::{WIDE, section, side_by_side};
use crate::classify::Limit;
use crate::snapshot::{HostFacts, MemoryPressure, Snapshot};
use crate::top::state::State;
use crate::top::text::{age_text, clean, count_text, percent_text, wrap};
use crate::top::theme::{Sign, Theme};
use crate::units::{bits_text, bytes_text};

/// Cells before the values.
const INDENT: usize = 22;

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

fn lines(state: &State) -> Vec<Line<'static>> {
    let Some(snapshot) = &state.snapshot else {
        return Vec::new();
    };
    let cells = usize::from(state.size.width);
    let theme = state.theme;
    if state.size.width < WIDE {
        let mut lines = costs(snapshot, cells, theme);
        lines.extend(facts(&snapshot.facts, cells, theme));
        lines.extend(traffic(snapshot, cells, theme));
        lines.extend(own(state, snapshot, cells));
        return lines;
    }
    let (left, right) = (cells / 2, cells - cells / 2);
    let mut beside = costs(snapshot, left, theme);
    beside.extend(own(state, snapshot, left));
    let mut other = facts(&snapshot.facts, right, theme);
    other.extend(traffic(snapshot, right, theme));
    side_by_side(beside, other, left)
}

/// Rows of a section: names and values of what is known.
struct Rows {
    lines: Vec<Line<'static>>,
    cells: usize,
    theme: Theme,
}

impl Rows {
    fn new(name: &str, cells: usize, theme: Theme) -> Self {
        Self {
            lines: vec![section(name, cells, theme)],
            cells,
            theme,
        }
    }

    fn row(&mut self, name: &str, value: impl Into<String>) {
        self.styled(name, value, Style::new());
    }

    fn styled(&mut self, name: &str, value: impl Into<String>, style: Style) {
        let value = value.into();
        let value = clean(&value, self.theme.ascii);
        let room = self.cells.saturating_sub(INDENT + 1);
        for (at, line) in wrap(&value, room).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.lines.push(Line::from(vec![
                Span::styled(format!("  {name:<0$}", INDENT - 2), self.theme.dim()),
                Span::styled(line, style),
            ]));
        }
    }

    fn count(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.row(name, count_text(value));
        }
    }

    fn end(mut self) -> Vec<Line<'static>> {
        self.lines.push(Line::default());
        self.lines
    }
}

/// What all connections spent their time on.
fn costs(snapshot: &Snapshot, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let summary = &snapshot.summary;
    let mut lines = vec![section(
        "what held all connections since tcpwin's start",
        cells,
        theme,
    )];
    lines.push(Line::styled(
        format!(
            "  {:<14}{:>7}{:>11}{:>12}{:>12}",
            "limit", "now", "time", "moved", "not moved"
        ),
        theme.dim(),
    ));
    let mut limits: Vec<(Limit, f64)> = summary
        .seconds
        .iter()
        .map(|(limit, seconds)| (*limit, *seconds))
        .filter(|(_, seconds)| *seconds > 0.0)
        .collect();
    limits.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (limit, seconds) in &limits {
        let now = summary.connections.get(limit).copied().unwrap_or(0);
        let moved = summary.bytes.get(limit).copied().unwrap_or(0);
        let lost = summary.bytes_not_moved.get(limit).copied().filter(|b| *b > 0);
        lines.push(Line::from(vec![
            Span::styled(format!("  {:<14}", limit.name()), theme.bound(limit.bound())),
            Span::raw(format!(
                "{:>7}{:>11}{:>12}{:>12}",
                count_text(now),
                age_text((seconds * 1e6) as u64),
                bytes_text(moved),
                lost.map_or(String::new(), bytes_text),
            )),
        ]));
    }
    if limits.is_empty() {
        lines.push(Line::styled("  nothing yet", theme.dim()));
    }
    lines.push(Line::default());
    lines
}

fn facts(facts: &HostFacts, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut rows = Rows::new("host, counters since boot", cells, theme);
    if *facts == HostFacts::default() {
        rows.row("", "this agent does not tell of its host");
        return rows.end();
    }
    if let Some(seconds) = facts.uptime_s {
        rows.row("up", age_text(seconds.saturating_mul(1_000_000)));
    }
    if let Some(congestion) = &facts.congestion {
        rows.row("congestion control", congestion.clone());
    }
    if let Some(qdisc) = &facts.default_qdisc {
        rows.row("default qdisc", qdisc.clone());
    }
    if let Some(memory) = facts.memory {
        rows.styled("TCP memory", memory_text(memory), memory_style(memory, theme));
    }
    rows.count("memory pressures", facts.memory_pressures);
    if let Some(queues) = facts.accept_queues {
        let style = if queues.full > 0 {
            theme.alarm_text()
        } else {
            Style::new()
        };
        let text = format!(
            "{} waiting at {} listeners; {} full, the fullest {}",
            count_text(queues.waiting),
            count_text(queues.listeners),
            count_text(queues.full),
            percent_text(queues.fullest)
        );
        rows.styled("accept queues", text, style);
    }
    rows.count("listen overflows", facts.listen_overflows);
    rows.count("listen drops", facts.listen_drops);
    if let Some(share) = facts.softirq_busiest {
        let text = format!("{} of the busiest CPU", percent_text(share));
        rows.row("softirq", text);
    }
    rows.count("backlog drops", facts.softnet_dropped);
    rows.count("budget squeezes", facts.softnet_squeezed);
    if let Some(counts) = facts.fastopen {
        rows.row(
            "fast open, out",
            format!(
                "{} taken by peers, {} not, off {} times (blackhole)",
                count_text(counts.active),
                count_text(counts.active_failed),
                count_text(counts.blackholes)
            ),
        );
        rows.row(
            "fast open, in",
            format!(
                "{} taken, {} refused, {} overflows, {} cookies",
                count_text(counts.passive),
                count_text(counts.passive_failed),
                count_text(counts.listen_overflows),
                count_text(counts.cookies_requested)
            ),
        );
    }
    for interface in &facts.interfaces {
        let speed = interface
            .speed_bps
            .map_or_else(|| "speed not known".to_owned(), |bps| bits_text(bps as f64));
        let qdisc = interface
            .qdisc
            .as_ref()
            .map_or(String::new(), |qdisc| format!(", {qdisc}"));
        rows.row(
            &interface.name,
            format!(
                "{speed}{qdisc}; dropped {} in, {} out",
                count_text(interface.receive_dropped),
                count_text(interface.transmit_dropped)
            ),
        );
    }
    rows.end()
}

fn memory_text(memory: MemoryPressure) -> String {
    format!(
        "{} of {}; buffers stop growing at {}",
        bytes_text(memory.used_bytes),
        bytes_text(memory.limit_bytes),
        bytes_text(memory.pressure_bytes)
    )
}

fn memory_style(memory: MemoryPressure, theme: Theme) -> Style {
    if memory.used_bytes >= memory.pressure_bytes && memory.pressure_bytes > 0 {
        theme.alarm_text()
    } else {
        Style::new()
    }
}

fn traffic(snapshot: &Snapshot, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let summary = &snapshot.summary;
    let mut rows = Rows::new("connections since tcpwin's start", cells, theme);
    rows.row(
        "opened",
        format!(
            "{}, {} of them by this host",
            count_text(summary.opened),
            count_text(summary.opened_connect)
        ),
    );
    rows.count("closed", Some(summary.closed));
    rows.row(
        "resets",
        format!(
            "{} sent, {} received",
            count_text(summary.resets_sent),
            count_text(summary.resets_received)
        ),
    );
    let kinds = summary.retransmits;
    let unknown = match summary.retransmits_unknown {
        0 => String::new(),
        count => format!(", {} of unknown kind", count_text(count)),
    };
    rows.row(
        "retransmitted",
        format!(
            "{} fast, {} by timeout, {} probes{unknown}, {} SYN or SYN-ACK",
            count_text(u64::from(kinds.fast)),
            count_text(u64::from(kinds.rto)),
            count_text(u64::from(kinds.tlp)),
            count_text(summary.retransmits_syn)
        ),
    );
    rows.row(
        "moved",
        format!(
            "{} in, {} out",
            bytes_text(summary.bytes_received),
            bytes_text(summary.bytes_acked)
        ),
    );
    rows.end()
}

/// tcpwin itself.
fn own(state: &State, snapshot: &Snapshot, cells: usize) -> Vec<Line<'static>> {
    let (theme, health, pulse) = (state.theme, &snapshot.health, &state.pulse);
    let mut rows = Rows::new("tcpwin itself", cells, theme);
    rows.row("version", health.version.clone());
    let source = match &health.source_reason {
        Some(reason) => format!("{}: {reason}", health.source),
        None => health.source.clone(),
    };
    rows.row("source", source);
    if let Some(share) = pulse.cpu_share {
        rows.row("CPU", format!("{} of a core", percent_text(share)));
    }
    if let Some(share) = pulse.probe_share {
        let each = pulse
            .probe_ns
            .map_or(String::new(), |ns| format!(", {ns:.0} ns a run"));
        rows.row("probes", format!("{} of a core{each}", percent_text(share)));
    }
    rows.row("a tick takes", format!("{} µs", count_text(health.tick_cpu_us)));
    rows.row("memory", bytes_text(health.rss_bytes));
    rows.row(
        "table",
        format!(
            "{} of {} places, {} put out",
            count_text(health.table_used),
            count_text(health.table_capacity),
            count_text(health.evictions)
        ),
    );
    let lost: Vec<String> = health
        .losses
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(cause, count)| format!("{cause} {}", count_text(*count)))
        .collect();
    if lost.is_empty() {
        rows.row("lost", "nothing");
    } else {
        rows.styled("lost", lost.join(", "), theme.notice());
    }
    let missing: Vec<_> = health
        .hooks
        .iter()
        .filter_map(|hook| Some((&hook.hook, hook.missing.as_ref()?)))
        .collect();
    if !health.hooks.is_empty() {
        let attached = health.hooks.len() - missing.len();
        rows.row("hooks", format!("{attached} of {} attached", health.hooks.len()));
    }
    for (hook, why) in missing {
        rows.styled(
            "",
            format!("{} {hook}: {why}", theme.sign(Sign::Dot)),
            theme.notice(),
        );
    }
    rows.end()
}
