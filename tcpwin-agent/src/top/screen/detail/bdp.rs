//! The BDP picture: every window against what the path can hold, on one scale.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::section;
use crate::classify::Limit;
use crate::snapshot::Connection;
use crate::snapshot::figures::cwnd_bytes;
use crate::top::text::{clean, wrap};
use crate::top::theme::{Sign, Theme};
use crate::units::{BytesPerSec, Micros, bits_text, bytes_text, rtt_text};

/// Cells before the bars.
const INDENT: usize = 13;
/// Cells after them.
const VALUE: usize = 11;

/// Bandwidth-delay product and where its bandwidth comes from.
fn bdp(connection: &Connection) -> Option<(u64, String)> {
    let tcp = &connection.tcp;
    let rtt = Micros(tcp.min_rtt_us.or(tcp.srtt_us).filter(|us| *us > 0)?);
    let next = connection
        .next
        .as_ref()
        .filter(|next| next.limit == Limit::Bandwidth)
        .map(|next| next.rate_bps);
    let bound = connection
        .ceiling_bps
        .filter(|_| connection.limit == Limit::Bandwidth);
    let seen = tcp.delivery_rate_bps.unwrap_or(0.0).max(connection.rate_bps);
    let (rate, whence) = match bound.or(next) {
        Some(path) => (path, "what the path carries"),
        None => (seen, "the best rate seen: the path may carry more"),
    };
    if rate <= 0.0 {
        return None;
    }
    let bytes = BytesPerSec(rate / 8.0).bdp(rtt).0;
    Some((
        bytes,
        format!("{} × {} ({whence})", bits_text(rate), rtt_text(rtt)),
    ))
}

/// The section.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let tcp = &connection.tcp;
    let bars = [
        ("sndbuf", tcp.sndbuf_bytes.map(u64::from)),
        ("snd_wnd", tcp.snd_wnd_bytes.map(u64::from)),
        ("cwnd × mss", cwnd_bytes(connection)),
        ("in flight", tcp.in_flight_bytes.map(u64::from)),
        ("unsent", tcp.unsent_bytes.map(u64::from)),
    ];
    let bdp = bdp(connection);
    let how = match &bdp {
        Some((bytes, how)) => format!("BDP {} = {how}", bytes_text(*bytes)),
        None => "no BDP without a rate and a round-trip time".to_owned(),
    };
    let mut lines = vec![section(
        "windows against the bandwidth-delay product",
        cells,
        theme,
    )];
    for line in wrap(&clean(&how, theme.ascii), cells.saturating_sub(3)) {
        lines.push(Line::raw(format!("  {line}")));
    }
    let most = bars
        .iter()
        .filter_map(|(_, bytes)| *bytes)
        .chain(bdp.iter().map(|(bytes, _)| *bytes))
        .max();
    let Some(most) = most.filter(|most| *most > 0) else {
        lines.push(Line::styled("  no window is known", theme.dim()));
        lines.push(Line::default());
        return lines;
    };
    let room = cells.saturating_sub(INDENT + VALUE + 2);
    let scale = |bytes: u64| (bytes as f64 / most as f64 * room as f64).round() as usize;
    let mark = bdp
        .as_ref()
        .map(|(bytes, _)| scale(*bytes).min(room.saturating_sub(1)));
    for (name, bytes) in bars {
        let mut spans = vec![Span::raw(
            clean(&format!("  {name:<0$}", INDENT - 2), theme.ascii).into_owned(),
        )];
        match bytes {
            Some(bytes) => {
                // Something is more than nothing, however small.
                let filled = scale(bytes).max(usize::from(bytes > 0)).min(room);
                spans.extend(bar(filled, room, mark, theme));
                spans.push(Span::styled(
                    format!(" {:>1$}", bytes_text(bytes), VALUE - 1),
                    theme.title(),
                ));
            }
            None => spans.push(Span::styled("not known", theme.dim())),
        }
        lines.push(Line::from(spans));
    }
    if let Some(mark) = mark {
        // The name stands on the side of the mark where there is room.
        let foot = if mark < 4 {
            format!("{:1$}{sign} BDP", "", INDENT + mark, sign = theme.sign(Sign::Up))
        } else {
            format!(
                "{:1$}BDP {sign}",
                "",
                INDENT + mark - 4,
                sign = theme.sign(Sign::Up)
            )
        };
        lines.push(Line::styled(foot, theme.title()));
    }
    lines.push(Line::default());
    lines
}

/// A bar with the mark of the BDP through it.
fn bar(filled: usize, room: usize, mark: Option<usize>, theme: Theme) -> Vec<Span<'static>> {
    let run = |from: usize, to: usize| {
        let full = filled.clamp(from, to) - from;
        let text = format!(
            "{}{}",
            theme.sign(Sign::Full).repeat(full),
            theme.sign(Sign::Dot).repeat(to - from - full)
        );
        Span::styled(text, theme.chart())
    };
    match mark {
        None => vec![run(0, room)],
        Some(mark) => vec![
            run(0, mark),
            Span::styled(theme.sign(Sign::Rail), Style::new().patch(theme.title())),
            run(mark + 1, room),
        ],
    }
}
