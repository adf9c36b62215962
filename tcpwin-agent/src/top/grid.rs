//! Columns of the lists beside the table of connections: what each shows, its width, its order.

use std::borrow::Cow;
use std::cmp::Ordering;

use ratatui::style::Style;

use super::group::Key;
use super::theme::Theme;

/// A column of a list of `T`.
pub(crate) struct Field<T: 'static> {
    pub(crate) title: &'static str,
    /// Least width.
    pub(crate) width: u16,
    /// Smaller is shown on narrower screens.
    pub(crate) rank: u8,
    /// Numbers stand right.
    pub(crate) right: bool,
    pub(crate) grow: Grow,
    pub(crate) text: fn(&T, Theme) -> Cow<'_, str>,
    pub(crate) order: fn(&T) -> Order<'_>,
    pub(crate) style: fn(&T, Theme) -> Style,
}

/// What a column does with room that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grow {
    No,
    /// As wide as its widest text.
    ToText,
    /// All that is left.
    Rest,
}

/// What rows are ordered by; all rise, so numbers that should fall are given negated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order<'a> {
    Number(f64),
    Pair(u8, f64),
    Text(Cow<'a, str>),
    /// Addresses as addresses, names as names.
    Group(&'a Key<'static>),
}

impl Order<'_> {
    /// A number of which the largest comes first, the unknown last.
    pub(crate) fn falling(value: Option<f64>) -> Self {
        Self::Number(value.map_or(f64::INFINITY, |value| -value))
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Pair(a, x), Self::Pair(b, y)) => a.cmp(b).then(x.total_cmp(y)),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Group(a), Self::Group(b)) => a.cmp(b),
            // Keys of one column are of one kind.
            _ => Ordering::Equal,
        }
    }
}

/// By which column a list is sorted; `None` is the order its rows come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GridSort {
    pub(crate) field: Option<usize>,
    pub(crate) inverted: bool,
}

impl GridSort {
    /// By `field`, in its natural order.
    pub(crate) const fn of(field: usize) -> Self {
        Self {
            field: Some(field),
            inverted: false,
        }
    }

    /// By `field`; the other way round if it is sorted by already.
    pub(crate) fn by(self, field: usize) -> Self {
        Self {
            field: Some(field),
            inverted: self.field == Some(field) && !self.inverted,
        }
    }

    /// Two rows in this order.
    pub(crate) fn cmp<T>(self, fields: &[Field<T>], a: &T, b: &T) -> Ordering {
        let Some(field) = self.field.and_then(|field| fields.get(field)) else {
            return Ordering::Equal;
        };
        let order = (field.order)(a).cmp(&(field.order)(b));
        if self.inverted { order.reverse() } else { order }
    }
}

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Which of the list's columns.
    pub(crate) field: usize,
    /// Cells from the left edge.
    pub(crate) x: u16,
    pub(crate) width: u16,
}

/// Cells left of the first column: the mark of the selected row.
const MARGIN: u16 = 1;

/// The columns of a list of `width` cells whose growing column has texts up to `widest`.
pub(crate) fn plan<T>(fields: &[Field<T>], width: u16, widest: u16) -> Vec<Spot> {
    let mut ranked: Vec<usize> = (0..fields.len()).collect();
    ranked.sort_unstable_by_key(|field| fields[*field].rank);
    let mut left = width.saturating_sub(MARGIN) + 1;
    let mut spots: Vec<Spot> = Vec::with_capacity(fields.len());
    for field in ranked {
        let needed = fields[field].width + 1;
        // No gaps in the ranking: a column never comes and goes as the screen grows.
        if needed > left {
            break;
        }
        left -= needed;
        spots.push(Spot {
            field,
            x: 0,
            width: fields[field].width,
        });
    }
    for (grow, wish) in [(Grow::ToText, widest), (Grow::Rest, u16::MAX)] {
        if let Some(spot) = spots.iter_mut().find(|spot| fields[spot.field].grow == grow) {
            let more = wish.saturating_sub(spot.width).min(left);
            spot.width += more;
            left -= more;
        }
    }
    spots.sort_unstable_by_key(|spot| spot.field);
    let mut x = MARGIN;
    for spot in &mut spots {
        spot.x = x;
        x += spot.width + 1;
    }
    spots
}
