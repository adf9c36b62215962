//! The BDP picture: every window against what the path can hold, on one scale.

use ratatui::text::{Line, Span};

use super::section;
use crate::classify::{Direction, Limit};
use crate::snapshot::Connection;
use crate::snapshot::figures::cwnd_bytes;
use crate::top::text::{clean, percent_text, wrap};
use crate::top::theme::{Sign, Theme};
use crate::units::{BytesPerSec, Micros, bits_text, bytes_text, rtt_text};

/// Cells before the bars.
const INDENT: usize = 13;
/// Cells after them: the figure, its share of the BDP, and whether it binds.
const VALUE: usize = 25;
/// How many BDPs the picture is wide: what is longer carries a mark, or a large buffer would make all others invisible.
const BDPS: u64 = 2;

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
    // The kernel's delivery rate is of what this side sends.
    let delivery = tcp
        .delivery_rate_bps
        .filter(|_| connection.direction == Direction::Send);
    let seen = delivery.unwrap_or(0.0).max(connection.rate_bps);
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

/// A window or what is in it, and the limits it stands for.
type Bar = (&'static str, Option<u64>, &'static [Limit]);

/// What bounds or fills this direction.
fn bars(connection: &Connection) -> Vec<Bar> {
    let tcp = &connection.tcp;
    let bytes = |value: Option<u32>| value.map(u64::from);
    match connection.direction {
        Direction::Send => vec![
            ("sndbuf", bytes(tcp.sndbuf_bytes), &[Limit::Sndbuf]),
            (
                "snd_wnd",
                bytes(tcp.snd_wnd_bytes),
                &[Limit::Rwnd, Limit::RwndScale, Limit::RwndReader],
            ),
            (
                "cwnd × mss",
                cwnd_bytes(connection),
                &[Limit::CwndStartup, Limit::CwndClamp, Limit::Loss],
            ),
            ("in flight", bytes(tcp.in_flight_bytes), &[]),
            ("unsent", bytes(tcp.unsent_bytes), &[]),
        ],
        Direction::Receive => vec![
            ("rcvbuf", bytes(tcp.rcvbuf_bytes), &[Limit::Rcvbuf]),
            ("rcv_wnd", bytes(tcp.rcv_wnd_bytes), &[Limit::Reader]),
            ("unread", bytes(tcp.unread_bytes), &[]),
        ],
    }
}

/// The section.
pub(super) fn lines(connection: &Connection, cells: usize, theme: Theme) -> Vec<Line<'static>> {
    let bars = bars(connection);
    let bdp = bdp(connection);
    let how = match &bdp {
        Some((bytes, how)) => format!("BDP {} = {how}", bytes_text(*bytes)),
        None => "no BDP without a rate and a round-trip time".to_owned(),
    };
    let mut lines = vec![section(
        "windows in % of the bandwidth-delay product",
        cells,
        theme,
    )];
    for line in wrap(&clean(&how, theme.ascii), cells.saturating_sub(3)) {
        lines.push(Line::raw(format!("  {line}")));
    }
    let product = bdp.map(|(bytes, _)| bytes).filter(|bytes| *bytes > 0);
    let longest = bars.iter().filter_map(|(_, bytes, _)| *bytes).max().unwrap_or(0);
    let Some(most) = product
        .map_or(Some(longest), |bytes| Some(longest.max(bytes).min(bytes * BDPS)))
        .filter(|most| *most > 0 && bars.iter().any(|(_, bytes, _)| bytes.is_some()))
    else {
        lines.push(Line::styled("  no window is known", theme.dim()));
        lines.push(Line::default());
        return lines;
    };
    let room = cells.saturating_sub(INDENT + VALUE + 1);
    let scale = |bytes: u64| (bytes as f64 / most as f64 * room as f64).round() as usize;
    let mark = product.map(|bytes| scale(bytes).min(room.saturating_sub(1)));
    for (name, bytes, limits) in bars {
        let mut spans = vec![Span::raw(
            clean(&format!("  {name:<0$}", INDENT - 2), theme.ascii).into_owned(),
        )];
        let Some(bytes) = bytes else {
            spans.push(Span::styled("not known", theme.dim()));
            lines.push(Line::from(spans));
            continue;
        };
        // Something is more than nothing, however small.
        let filled = scale(bytes).max(usize::from(bytes > 0)).min(room);
        spans.extend(bar(filled, room, mark, bytes > most, theme));
        spans.push(Span::styled(format!("{:>10}", bytes_text(bytes)), theme.title()));
        let share = product.map_or(String::new(), |product| {
            percent_text(bytes as f64 / product as f64)
        });
        spans.push(Span::raw(format!("{share:>8}")));
        if limits.contains(&connection.limit) {
            spans.push(Span::styled(" binds", theme.bound(connection.limit.bound())));
        }
        lines.push(Line::from(spans));
    }
    lines.extend(mark.map(|mark| foot(mark, theme)));
    lines.push(Line::default());
    lines
}

/// The name of the mark, on the side where there is room.
fn foot(mark: usize, theme: Theme) -> Line<'static> {
    let sign = theme.sign(Sign::Up);
    let foot = if mark < 4 {
        format!("{:1$}{sign} BDP", "", INDENT + mark)
    } else {
        format!("{:1$}BDP {sign}", "", INDENT + mark - 4)
    };
    Line::styled(foot, theme.title())
}

/// A bar with the mark of the BDP through it, and one at its end where it goes on beyond the picture.
fn bar(filled: usize, room: usize, mark: Option<usize>, beyond: bool, theme: Theme) -> Vec<Span<'static>> {
    let run = |from: usize, to: usize| {
        let full = filled.clamp(from, to) - from;
        let text = format!(
            "{}{}",
            theme.sign(Sign::Full).repeat(full),
            theme.sign(Sign::Dot).repeat(to - from - full)
        );
        Span::styled(text, theme.chart())
    };
    let end = room.saturating_sub(usize::from(beyond));
    let mut spans = match mark.filter(|mark| *mark < end) {
        None => vec![run(0, end)],
        Some(mark) => vec![
            run(0, mark),
            Span::styled(theme.sign(Sign::Rail), theme.title()),
            run(mark + 1, end),
        ],
    };
    if beyond && room > 0 {
        spans.push(Span::styled(theme.sign(Sign::Marker), theme.chart()));
    }
    spans
}
