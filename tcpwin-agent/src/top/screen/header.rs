//! The header: where this is, how many connections are held by what, how much flows, what watching costs.

pub(super) mod line;
pub(super) mod tabs;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::canvas::{Part, ends, sparkline, stacked};
use crate::classify::Bound;
use crate::snapshot::Snapshot;
use crate::top::group::Sums;
use crate::top::layout::{header_lines, notices_shown};
use crate::top::notice::{Weight, notices};
use crate::top::state::State;
use crate::top::text::{clean, count_text, elide, percent_text};
use crate::top::theme::{Sign, Theme, letter};
use crate::units::{bits_text, bytes_text};

/// Least and most cells of the header's sparklines.
const SPARKS: (usize, usize) = (4, 30);
/// From this width on there is room beside them for all that watching costs.
const ROOMY: usize = 112;
/// Cells of what stands beside them, on narrower screens and from that width on.
const FIXED: (usize, usize) = (72, 104);

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let cells = usize::from(area.width);
    let theme = state.theme;
    if state.is_narrowed() {
        let lines = [narrowed(&state.sums, cells, theme)];
        return super::draw(frame, area, &lines);
    }
    let notices = notice_lines(state, cells);
    let mut lines = Vec::new();
    if usize::from(area.height) > notices.len().max(1) {
        lines = match &state.snapshot {
            Some(snapshot) => host(snapshot, cells, state),
            None => vec![Line::default(); usize::from(header_lines(state.size, false))],
        };
    }
    lines.extend(notices);
    super::draw(frame, area, &lines);
}

fn host(snapshot: &Snapshot, cells: usize, state: &State) -> Vec<Line<'static>> {
    let theme = state.theme;
    let counts = by_bound(snapshot);
    let lines = header_lines(state.size, has_facts(snapshot));
    let mut drawn = Vec::new();
    if lines > 2 {
        drawn.push(bar(&counts, cells, theme));
    }
    drawn.push(legend(&counts, Vec::new(), cells, theme));
    drawn.push(rates(snapshot, cells, state));
    if lines > 3 {
        drawn.push(facts(snapshot, cells, theme));
    }
    drawn
}

fn notice_lines(state: &State, cells: usize) -> Vec<Line<'static>> {
    let shown = usize::from(notices_shown(state.size, usize::MAX));
    let line = |(weight, text): (Weight, String)| {
        let style = match weight {
            Weight::Alarm => state.theme.alarm(),
            Weight::Note => state.theme.notice(),
        };
        let text = format!(" ! {text} ");
        let text = clean(&text, state.theme.ascii);
        let mark = state.theme.sign(Sign::Ellipsis);
        Line::styled(elide(&text, cells, mark).into_owned(), style)
    };
    notices(state).into_iter().take(shown).map(line).collect()
}

/// Over some of the connections: their classes and rates.
fn narrowed(sums: &Sums, cells: usize, theme: Theme) -> Line<'static> {
    let mut counts = Bound::ALL.map(|bound| (bound, 0));
    for (count, sum) in counts.iter_mut().zip(sums.by_bound) {
        count.1 = sum;
    }
    let rates = vec![Span::raw(format!(
        "in {}  out {} ",
        bits_text(sums.receive_bps),
        bits_text(sums.send_bps)
    ))];
    legend(&counts, rates, cells, theme)
}

/// If there is something to say in the line of the host's own counters.
fn has_facts(snapshot: &Snapshot) -> bool {
    snapshot.facts.fastopen.is_some() || snapshot.facts.memory.is_some()
}

/// The host's own counters.
fn facts(snapshot: &Snapshot, cells: usize, theme: Theme) -> Line<'static> {
    let facts = &snapshot.facts;
    let mut words = Vec::new();
    let queues = facts.accept_queues.unwrap_or_default();
    if queues.full > 0 {
        words.push(format!(
            "accept queues {} of {} full",
            count_text(queues.full),
            count_text(queues.listeners)
        ));
    } else if queues.waiting > 0 {
        words.push(format!("accept queues {} full", percent_text(queues.fullest)));
    }
    if let Some(counts) = facts.fastopen {
        words.push(format!(
            "fast open out {} ({} failed), in {} ({} refused, {} overflows)",
            count_text(counts.active),
            count_text(counts.active_failed),
            count_text(counts.passive),
            count_text(counts.passive_failed),
            count_text(counts.listen_overflows)
        ));
    }
    if let Some(memory) = facts.memory {
        words.push(format!(
            "TCP memory {} of {}",
            bytes_text(memory.used_bytes),
            bytes_text(memory.limit_bytes)
        ));
    }
    if let Some(count) = facts.listen_overflows {
        words.push(format!("listen overflows {}", count_text(count)));
    }
    let text = format!(" {}", words.join("   "));
    let style = if queues.full > 0 {
        theme.notice()
    } else {
        theme.dim()
    };
    Line::styled(
        elide(&text, cells, theme.sign(Sign::Ellipsis)).into_owned(),
        style,
    )
}

/// How many connections each class has, in stacking order.
type Counts = [(Bound, u64); Bound::ALL.len()];

/// Connections now, by class in stacking order.
fn by_bound(snapshot: &Snapshot) -> Counts {
    Bound::ALL.map(|bound| {
        let counts = snapshot
            .summary
            .connections
            .iter()
            .filter(|(limit, _)| limit.bound() == bound);
        (bound, counts.map(|(_, count)| count).sum())
    })
}

fn bar(counts: &Counts, cells: usize, theme: Theme) -> Line<'static> {
    let parts: Vec<Part<'_>> = counts
        .iter()
        .map(|&(bound, count)| Part {
            amount: count as f64,
            letter: letter(bound),
            name: bound.name(),
            ground: theme.bound_ground(bound),
        })
        .collect();
    let rail = || Span::raw(theme.sign(Sign::Rail));
    let mut spans = vec![Span::raw(" "), rail()];
    spans.extend(
        stacked(&parts, cells.saturating_sub(4), theme)
            .into_iter()
            .map(|span| Span::styled(span.content.into_owned(), span.style)),
    );
    if spans.len() == 2 {
        spans.push(Span::raw(" ".repeat(cells.saturating_sub(4))));
    }
    spans.push(rail());
    Line::from(spans)
}

/// Letter, name and count of each class, as wordy as there is room; `right` at the end where there is some left.
fn legend(counts: &Counts, right: Vec<Span<'static>>, cells: usize, theme: Theme) -> Line<'static> {
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let write = |words: &str, gap: &'static str, named: bool| {
        let mut spans = vec![Span::styled(
            format!(" {}{words}", count_text(total)),
            theme.title(),
        )];
        for &(bound, count) in counts.iter().filter(|(_, count)| *count > 0) {
            let name = if named {
                format!(" {}", bound.name())
            } else {
                String::new()
            };
            spans.push(Span::raw(gap));
            spans.push(Span::styled(letter(bound).to_string(), theme.bound_ground(bound)));
            spans.push(Span::styled(
                format!("{name} {}", count_text(count)),
                theme.bound(bound),
            ));
        }
        Line::from(spans)
    };
    let all = if total == 1 { " connection" } else { " connections" };
    let forms = [
        write(all, "  ", true),
        write(" conns", "  ", true),
        write("", " ", true),
    ];
    let line = forms
        .into_iter()
        .find(|line| line.width() <= cells)
        .unwrap_or_else(|| write("", "  ", false));
    ends(line.spans, right, cells)
}

fn rates(snapshot: &Snapshot, cells: usize, state: &State) -> Line<'static> {
    let theme = state.theme;
    let (pulse, health, summary) = (&state.pulse, &snapshot.health, &snapshot.summary);
    let beside = if cells < ROOMY { FIXED.0 } else { FIXED.1 };
    let spark = (cells.saturating_sub(beside) / 2).clamp(SPARKS.0, SPARKS.1);
    let value = |text: String| Span::styled(text, theme.title());
    let mut left: Vec<Span<'static>> = Vec::new();
    for (name, rate, series) in [
        (" in ", summary.receive_bps, &pulse.receive_bps),
        ("  out ", summary.send_bps, &pulse.send_bps),
    ] {
        left.push(Span::raw(name));
        left.push(value(format!("{:>11} ", bits_text(rate))));
        left.push(Span::styled(
            sparkline(series.iter().copied(), spark, theme),
            theme.chart(),
        ));
    }
    if let Some(rate) = pulse.retransmits_per_s {
        left.push(Span::raw("  retrans "));
        left.push(value(format!(
            "{}/s",
            if rate > 0.0 && rate < 10.0 {
                format!("{rate:.1}")
            } else {
                format!("{rate:.0}")
            }
        )));
    }
    let cpu = pulse
        .cpu_share
        .map_or(String::new(), |share| format!(" cpu {}", percent_text(share)));
    let probes = pulse
        .probe_share
        .map_or(String::new(), |share| format!(", probes {}", percent_text(share)));
    let each = pulse
        .probe_ns
        .map_or(String::new(), |ns| format!(" at {ns:.0} ns"));
    let rss = bytes_text(health.rss_bytes);
    let used: usize = left.iter().map(Span::width).sum();
    let forms = [
        format!("tcpwin{cpu}{probes}{each}, {rss} "),
        format!("tcpwin{cpu}, {rss} "),
        format!("tcpwin{cpu} "),
    ];
    let own = forms
        .into_iter()
        .find(|form| used + form.len() < cells)
        .unwrap_or_default();
    ends(left, vec![Span::styled(own, theme.dim())], cells)
}
