//! A connection's past: rate, bytes in flight, congestion window and round-trip time, each with what bounds it.
//!
//! At each ACK while the kernel's samples come, else a point a tick. The main line is drawn in dots (ASCII: `*`), what
//! bounds it as a broken line, segments sent again as marks on the time axis: nothing is told by colour alone.

mod axis;
mod figure;
mod picture;
mod plot;
mod series;

use ratatui::text::{Line, Span};

use self::axis::Unit;
use self::figure::{Drawn, drawn};
use self::picture::{LABELS, moments, rows, time_axis};
use self::plot::Frame;
use self::series::{Reading, retransmits};
use super::{section, side_by_side};
use crate::top::charts::Chart;
use crate::top::screen::canvas::ends;
use crate::top::state::{Opened, State};
use crate::top::text::count_text;
use crate::top::theme::{Sign, Theme};

/// Lines of a chart beside its plot: title and axis.
const AROUND: usize = 2;
/// Least lines of a chart.
const LEAST: usize = 7;

/// Moments on the axis, in ns, and the readings that are joined.
#[derive(Clone, Copy)]
struct Time {
    from_ns: u64,
    to_ns: u64,
    gap_ns: u64,
}

/// The section: charts under each other, or in pairs, `height` lines if so many are enough.
pub(super) fn lines(
    opened: &Opened,
    state: &State,
    cells: usize,
    height: usize,
    pairs: bool,
) -> Vec<Line<'static>> {
    let theme = state.theme;
    let time = time(opened, state);
    let all = &Chart::ALL[..];
    let only = state.charts.only.as_ref().map(std::slice::from_ref);
    let charts = only.unwrap_or(all);
    let columns = if pairs && charts.len() > 1 { 2 } else { 1 };
    let rows = charts.len().div_ceil(columns);
    let mut lines = vec![heading(opened, state, time, cells)];
    // The heading, and the moments under the lowest axis.
    let each = (height.saturating_sub(2) / rows).max(LEAST);
    let mut left = Vec::new();
    let mut right = Vec::new();
    let width = (cells / columns).max(1);
    for (at, chart) in charts.iter().enumerate() {
        let column = if at % columns == 0 { &mut left } else { &mut right };
        column.extend(chart_lines(*chart, opened, time, (width - 1, each), theme));
    }
    let closed = if opened.closed { "closed" } else { "now" };
    left.push(moments(time, closed, width - 1, theme));
    if columns == 1 {
        lines.extend(left);
    } else {
        right.push(moments(time, closed, width - 1, theme));
        lines.extend(side_by_side(left, right, width));
    }
    lines
}

/// What the axis spans: until the last that is known of a closed connection, else until the tick on the screen.
fn time(opened: &Opened, state: &State) -> Time {
    let closeup = &opened.closeup;
    let last_point = closeup.points().next_back().map_or(0, |point| point.at_ns);
    let last_sample = closeup.samples().next_back().map_or(0, |sample| sample.at_ns);
    let shown = state
        .snapshot
        .as_ref()
        .map_or(last_point, |snapshot| snapshot.at_ns);
    let to_ns = match (opened.closed, state.frozen) {
        (_, true) => shown,
        (true, false) => last_point.max(last_sample),
        (false, false) => shown.max(last_sample),
    };
    let first = closeup.points().next().map_or(to_ns, |point| point.at_ns);
    let least = to_ns.saturating_sub(1_000_000_000);
    let from_ns = state
        .charts
        .span
        .ns()
        .map_or(first.min(least), |span| to_ns.saturating_sub(span));
    let interval = state
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.interval_us * 1_000);
    Time {
        from_ns,
        to_ns,
        gap_ns: (interval * 3).max((to_ns - from_ns) / 20),
    }
}

fn heading(opened: &Opened, state: &State, time: Time, cells: usize) -> Line<'static> {
    let theme = state.theme;
    let samples = opened.closeup.samples();
    let seen = samples.filter(|sample| (time.from_ns..=time.to_ns).contains(&sample.at_ns));
    let detail = match seen.count() {
        0 => "a point a tick".to_owned(),
        seen => format!("{} points, each ACK or send", count_text(seen as u64)),
    };
    let again: u32 = retransmits(&opened.closeup)
        .into_iter()
        .filter(|(at_ns, _)| (time.from_ns..=time.to_ns).contains(at_ns))
        .map(|(_, more)| more)
        .sum();
    let again = if again > 0 {
        format!(
            ", {} {} sent again",
            theme.sign(Sign::Times),
            count_text(u64::from(again))
        )
    } else {
        String::new()
    };
    section(
        &format!("{}: {detail}{again}", state.charts.span.name()),
        cells,
        theme,
    )
}

/// A bound more than so many times as high as the line would flatten it: then only its name is shown, with a sign that it is above.
const FAR: f64 = 4.0;

fn chart_lines(
    chart: Chart,
    opened: &Opened,
    time: Time,
    (cells, height): (usize, usize),
    theme: Theme,
) -> Vec<Line<'static>> {
    let columns = cells.saturating_sub(LABELS);
    let step_ns = (time.to_ns - time.from_ns) / (columns.max(1) as u64);
    let (unit, main, beside) = drawn(chart, &opened.connection, &opened.closeup, step_ns);
    let mut frame = Frame {
        columns,
        rows: height.saturating_sub(AROUND),
        from_ns: time.from_ns,
        to_ns: time.to_ns,
        top: 1.0,
        gap_ns: time.gap_ns,
    };
    let peak = |readings: &[Reading]| {
        // Without the one before the frame, whose line only comes in.
        let seen = frame.seen(readings).iter();
        let seen = seen.filter(|reading| reading.at_ns >= time.from_ns);
        let seen = seen.map(|reading| reading.value);
        seen.filter(|value| value.is_finite()).reduce(f64::max)
    };
    let (main_peak, beside_peak) = (peak(&main.readings), peak(&beside.readings));
    let far = main_peak
        .zip(beside_peak)
        .is_some_and(|(main, beside)| main > 0.0 && beside > main * FAR);
    let shown = beside_peak.filter(|_| !far);
    let most = main_peak.into_iter().chain(shown).reduce(f64::max);
    frame.top = unit.round_up(most.unwrap_or(0.0));
    let mut lines = vec![title(&main, &beside, unit, far, main_peak, cells, theme)];
    lines.extend(rows(&frame, &main, &beside, far, unit, theme));
    let marks = retransmits(&opened.closeup);
    lines.push(time_axis(&frame, &marks, theme));
    lines
}

fn title(
    main: &Drawn,
    beside: &Drawn,
    unit: Unit,
    far: bool,
    peak: Option<f64>,
    cells: usize,
    theme: Theme,
) -> Line<'static> {
    let now = |drawn: &Drawn| drawn.now.clone().unwrap_or_else(|| "not known".to_owned());
    let mut left = vec![
        Span::styled(format!(" {} ", main.name), theme.chart()),
        Span::styled(now(main), theme.title()),
    ];
    if beside.now.is_some() {
        let sign = if far { Sign::Up } else { Sign::Dash };
        left.push(Span::styled(
            format!("  {} {} ", theme.sign(sign), beside.name),
            theme.ceiling(),
        ));
        left.push(Span::raw(now(beside)));
    }
    let peak = peak.map_or(String::new(), |peak| {
        format!("  {}, peak {} ", unit.name(), unit.label(peak))
    });
    ends(left, vec![Span::styled(peak, theme.dim())], cells)
}
