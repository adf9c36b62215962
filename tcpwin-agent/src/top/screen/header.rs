//! The header: where this is, how many connections are held by what, how much flows, what watching costs.

pub(super) mod line;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::canvas::{Part, ends, sparkline, stacked};
use crate::classify::Bound;
use crate::snapshot::Snapshot;
use crate::top::layout::notices_shown;
use crate::top::notice::{Weight, notices};
use crate::top::state::State;
use crate::top::text::{clean, count_text, elide, percent_text};
use crate::top::theme::{Sign, Theme, letter};
use crate::units::{bits_text, bytes_text};

/// Cells of the header's sparklines on narrow and on wide screens.
const SPARKS: (usize, usize) = (4, 20);

/// Draws it.
pub(super) fn render(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [title, rest] = super::split(area, 1);
    line::render(frame, title, state);
    let cells = usize::from(area.width);
    let mut lines = match &state.snapshot {
        Some(snapshot) => vec![
            bar(snapshot, cells, state.theme),
            legend(snapshot, cells, state.theme),
            rates(snapshot, cells, state),
        ],
        None => vec![Line::default(); 3],
    };
    let shown = usize::from(notices_shown(state.size, usize::MAX));
    for (weight, text) in notices(state).into_iter().take(shown) {
        let style = match weight {
            Weight::Alarm => state.theme.alarm(),
            Weight::Note => state.theme.notice(),
        };
        let text = format!(" ! {text} ");
        let text = clean(&text, state.theme.ascii);
        let mark = state.theme.sign(Sign::Ellipsis);
        lines.push(Line::styled(elide(&text, cells, mark).into_owned(), style));
    }
    super::draw(frame, rest, &lines);
}

/// Connections now, by class in stacking order.
fn by_bound(snapshot: &Snapshot) -> [(Bound, u64); Bound::ALL.len()] {
    Bound::ALL.map(|bound| {
        let counts = snapshot
            .summary
            .connections
            .iter()
            .filter(|(limit, _)| limit.bound() == bound);
        (bound, counts.map(|(_, count)| count).sum())
    })
}

fn bar(snapshot: &Snapshot, cells: usize, theme: Theme) -> Line<'static> {
    let parts: Vec<Part<'_>> = by_bound(snapshot)
        .into_iter()
        .map(|(bound, count)| Part {
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

/// Letter, name and count of each class, as wordy as there is room.
fn legend(snapshot: &Snapshot, cells: usize, theme: Theme) -> Line<'static> {
    let counts = by_bound(snapshot);
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let write = |words: &str, gap: &'static str, named: bool| {
        let mut spans = vec![Span::styled(
            format!(" {}{words}", count_text(total)),
            theme.title(),
        )];
        for (bound, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
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
    let forms = [
        write(" connections", "  ", true),
        write(" conns", "  ", true),
        write("", " ", true),
    ];
    forms
        .into_iter()
        .find(|line| line.width() <= cells)
        .unwrap_or_else(|| write("", "  ", false))
}

fn rates(snapshot: &Snapshot, cells: usize, state: &State) -> Line<'static> {
    let theme = state.theme;
    let (pulse, health, summary) = (&state.pulse, &snapshot.health, &snapshot.summary);
    let spark = if cells >= 120 { SPARKS.1 } else { SPARKS.0 };
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
