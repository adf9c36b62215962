//! Pieces that regions are put together from.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::top::text::{clean, width};
use crate::top::theme::Theme;

/// A part of a stacked bar.
pub(super) struct Part<'a> {
    pub(super) amount: f64,
    pub(super) letter: char,
    /// Written into the part where it fits.
    pub(super) name: &'a str,
    pub(super) ground: Style,
}

/// A bar of `cells` divided by amount. Every part that is there gets a cell, and each carries its letter or name: its
/// colour says nothing alone.
pub(super) fn stacked<'a>(parts: &[Part<'a>], cells: usize, theme: Theme) -> Vec<Span<'a>> {
    let there: Vec<&Part<'a>> = parts.iter().filter(|part| part.amount > 0.0).collect();
    let total: f64 = there.iter().map(|part| part.amount).sum();
    let mut spans = Vec::with_capacity(there.len());
    let mut left = cells;
    let mut rest = total;
    for (at, part) in there.iter().enumerate() {
        let after = there.len() - at - 1;
        let most = left.saturating_sub(after);
        let share = if rest > 0.0 {
            (part.amount / rest * left as f64).round() as usize
        } else {
            0
        };
        let cells = if after == 0 {
            left
        } else {
            share.clamp(usize::from(most > 0), most.max(1)).min(left)
        };
        left -= cells;
        rest -= part.amount;
        let text = if theme.has_colour() {
            let label = if part.name.len() + 2 <= cells {
                part.name.to_owned()
            } else {
                part.letter.to_string()
            };
            let pad = usize::from(cells > label.len());
            format!("{:pad$}{label:<rest$.rest$}", "", rest = cells - pad.min(cells))
        } else {
            std::iter::repeat_n(part.letter, cells).collect()
        };
        spans.push(Span::styled(text, part.ground));
    }
    spans
}

/// The last values that fit in `cells`, from zero to the largest; unknown ones are blank.
pub(super) fn sparkline(values: impl DoubleEndedIterator<Item = f32>, cells: usize, theme: Theme) -> String {
    let mut last: Vec<f32> = values.rev().take(cells).collect();
    last.reverse();
    let most = last
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .fold(0.0_f32, f32::max);
    let steps = theme.steps();
    let step = |value: f32| {
        if !value.is_finite() {
            return ' ';
        }
        let share = if most > 0.0 { value / most } else { 0.0 };
        steps[((share * (steps.len() - 1) as f32).round() as usize).min(steps.len() - 1)]
    };
    let mut text: String = " ".repeat(cells - last.len());
    text.extend(last.into_iter().map(step));
    text
}

/// A line that is clean of everything that steers terminals.
pub(super) fn plain<'a>(text: &'a str, style: Style, theme: Theme) -> Line<'a> {
    Line::from(Span::styled(clean(text, theme.ascii), style))
}

/// `left` and, at the end of `cells`, `right`; `right` gives way.
pub(super) fn ends<'a>(left: Vec<Span<'a>>, right: Vec<Span<'a>>, cells: usize) -> Line<'a> {
    let wide = |spans: &[Span<'_>]| spans.iter().map(|span| width(&span.content)).sum::<usize>();
    let gap = cells.checked_sub(wide(&left) + wide(&right));
    let mut spans = left;
    if let Some(gap) = gap {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.extend(right);
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::theme::ColourMode;

    #[test]
    fn a_stacked_bar_fills_its_cells_and_hides_nobody() {
        let theme = Theme::new(ColourMode::Never, false, |_| None);
        let part = |amount, letter| Part {
            amount,
            letter,
            name: "",
            ground: Style::new(),
        };
        let parts = [
            part(1.0, 'W'),
            part(0.0, 'L'),
            part(100_000.0, 'A'),
            part(1.0, '.'),
        ];
        for cells in 3..50 {
            let text: String = stacked(&parts, cells, theme)
                .iter()
                .map(|span| span.content.as_ref())
                .collect();
            assert_eq!(text.len(), cells);
            assert!(text.starts_with("WA") && text.ends_with("A."), "{text}");
        }
        assert!(stacked(&parts[1..2], 10, theme).is_empty());
    }

    #[test]
    fn a_sparkline_stands_at_the_right() {
        let theme = Theme::new(ColourMode::Never, true, |_| None);
        assert_eq!(
            sparkline([0.0, f32::NAN, 1.0, 2.0].into_iter(), 6, theme),
            "  _ =#"
        );
        assert_eq!(sparkline([9.0, 1.0, 1.0].into_iter(), 2, theme), "##");
    }
}
