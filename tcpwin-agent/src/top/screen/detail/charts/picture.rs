//! The plot, its labels and its axis of time, in signs.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Time;
use super::axis::{Unit, ago};
use super::figure::Drawn;
use super::plot::{Frame, blocks, braille};
use crate::top::text::clean;
use crate::top::theme::{Sign, Theme};

/// Cells left of the plot: labels and the axis.
pub(super) const LABELS: usize = 8;

/// The plot with its labels: the upper end, the middle where there is room, zero.
pub(super) fn rows(
    frame: &Frame,
    main: &Drawn,
    beside: &Drawn,
    far: bool,
    unit: Unit,
    theme: Theme,
) -> Vec<Line<'static>> {
    let seen = frame.seen(&main.readings);
    let line: Vec<Vec<char>> = if theme.ascii {
        let dot = |on: bool| if on { '*' } else { ' ' };
        let cells = blocks(frame, seen).into_iter();
        cells.map(|row| row.into_iter().map(dot).collect()).collect()
    } else {
        let dots = |bits: u8| match bits {
            0 => ' ',
            bits => char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' '),
        };
        let cells = braille(frame, seen).into_iter();
        cells.map(|row| row.into_iter().map(dots).collect()).collect()
    };
    let bounds = if far {
        vec![vec![false; frame.columns]; frame.rows]
    } else {
        blocks(frame, frame.seen(&beside.readings))
    };
    let dash = theme.sign(Sign::Dash);
    let mut lines = Vec::with_capacity(frame.rows);
    for (row, (line, bounds)) in line.iter().zip(&bounds).enumerate() {
        let label = if row == 0 {
            unit.label(frame.top)
        } else if row + 1 == frame.rows {
            "0".to_owned()
        } else if frame.rows >= 5 && row == frame.rows / 2 {
            unit.label(frame.top / 2.0)
        } else {
            String::new()
        };
        let axis = if label.is_empty() { Sign::Rail } else { Sign::Tick };
        let mut spans = vec![Span::styled(
            format!("{label:>0$}{1}", LABELS - 1, theme.sign(axis)),
            theme.dim(),
        )];
        let mut run = Run::default();
        for (dot, on) in line.iter().zip(bounds) {
            match (dot, on) {
                (' ', true) => run.push(&mut spans, dash, theme.ceiling()),
                (' ', false) => run.push(&mut spans, " ", Style::new()),
                (dot, _) => run.push(&mut spans, dot.encode_utf8(&mut [0; 4]), theme.chart()),
            }
        }
        run.end(&mut spans);
        lines.push(Line::from(spans));
    }
    lines
}

/// The axis of time, with a mark where segments were sent again.
pub(super) fn time_axis(frame: &Frame, marks: &[(u64, u32)], theme: Theme) -> Line<'static> {
    let mut marked = vec![false; frame.columns];
    for (at_ns, _) in marks {
        if let Some(column) = frame.column(*at_ns, frame.columns) {
            marked[column] = true;
        }
    }
    let corner = format!("{:>1$}", theme.sign(Sign::Corner), LABELS);
    let mut spans = vec![Span::styled(corner, theme.dim())];
    let mut run = Run::default();
    for marked in marked {
        if marked {
            run.push(&mut spans, theme.sign(Sign::Times), theme.alarm_text());
        } else {
            run.push(&mut spans, theme.sign(Sign::Rule), theme.dim());
        }
    }
    run.end(&mut spans);
    Line::from(spans)
}

/// When the axis begins, its middle, and its end.
pub(super) fn moments(time: Time, end: &str, cells: usize, theme: Theme) -> Line<'static> {
    let span = time.to_ns - time.from_ns;
    let plot = cells.saturating_sub(LABELS);
    let middle = ago(span / 2);
    let mut text = format!("{:LABELS$}{}", "", ago(span));
    let at = LABELS + plot / 2;
    if text.len() + 2 < at {
        text = format!("{text:<at$}{middle}");
    }
    let at = (LABELS + plot).saturating_sub(end.len());
    if text.len() + 2 < at {
        text = format!("{text:<at$}{end}");
    }
    Line::styled(clean(&text, theme.ascii).into_owned(), theme.dim())
}

/// Text of one style, until another comes.
#[derive(Default)]
struct Run {
    text: String,
    style: Style,
}

impl Run {
    fn push(&mut self, spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
        if style != self.style {
            self.end(spans);
            self.style = style;
        }
        self.text.push_str(text);
    }

    fn end(&mut self, spans: &mut Vec<Span<'static>>) {
        if !self.text.is_empty() {
            spans.push(Span::styled(std::mem::take(&mut self.text), self.style));
        }
    }
}
