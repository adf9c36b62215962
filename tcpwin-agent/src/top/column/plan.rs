//! Where the columns stand on a screen of a given width.

use super::{Column, Columns, SPECS, Spec};

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) column: Column,
    /// Cells from the left edge.
    pub(crate) x: u16,
    pub(crate) width: u16,
}

/// Widest texts of the columns that may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widest {
    pub(crate) local: u16,
    pub(crate) peer: u16,
    pub(crate) process: u16,
}

/// Columns up to this rank come before whole names.
const ESSENTIAL: u8 = 8;

/// Cells left of the first column: the mark of the selected row.
const MARGIN: u16 = 1;

/// The columns for a table of `width` cells.
pub(crate) fn plan(width: u16, widest: Widest, columns: &Columns) -> Vec<Placed> {
    let mut room = Room {
        left: width.saturating_sub(MARGIN) + 1,
        placed: Vec::new(),
    };
    if columns.is_automatic() {
        by_rank(&mut room, widest);
    } else {
        in_order(&mut room, columns);
    }
    let fixed = |column: Column| {
        let mut chosen = columns.chosen().iter();
        chosen.any(|one| one.column == column && one.width.is_some())
    };
    for (column, wish) in [
        (Column::Process, widest.process),
        (Column::Peer, widest.peer),
        (Column::Local, widest.local),
        (Column::Proof, u16::MAX),
    ] {
        if !fixed(column) {
            room.grow(column, wish);
        }
    }
    let mut x = MARGIN;
    for place in &mut room.placed {
        place.x = x;
        x += place.width + 1;
    }
    room.placed
}

/// As many as fit, the most telling first, in the order of [`SPECS`].
fn by_rank(room: &mut Room, widest: Widest) {
    let mut ranked: Vec<(u8, &Spec)> = SPECS.iter().filter_map(|spec| Some((spec.rank?, spec))).collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    for (rank, spec) in ranked {
        if rank > ESSENTIAL {
            // Whole names before more figures.
            room.grow(Column::Process, widest.process);
            room.grow(Column::Peer, widest.peer);
        }
        // No gaps in the ranking: a column never comes and goes as the screen grows.
        if !room.place(spec.column, spec.width) {
            break;
        }
    }
    room.placed
        .sort_unstable_by_key(|place| SPECS.iter().position(|spec| spec.column == place.column));
}

/// As many as fit, in the reader's order; the last one may be cut.
fn in_order(room: &mut Room, columns: &Columns) {
    for one in columns.chosen() {
        let width = one.width.unwrap_or(one.column.spec().width);
        if !room.place(one.column, width) {
            let rest = room.left.saturating_sub(1);
            if rest >= Columns::LEAST {
                room.place(one.column, rest);
            }
            break;
        }
    }
}

/// What is placed, and the cells that are left.
struct Room {
    left: u16,
    placed: Vec<Placed>,
}

impl Room {
    /// If there is room for it.
    fn place(&mut self, column: Column, width: u16) -> bool {
        let fits = width < self.left;
        if fits {
            self.left -= width + 1;
            self.placed.push(Placed { column, x: 0, width });
        }
        fits
    }

    /// Up to `wish` cells, if it is placed.
    fn grow(&mut self, column: Column, wish: u16) {
        if let Some(place) = self.placed.iter_mut().find(|place| place.column == column) {
            let more = wish.saturating_sub(place.width).min(self.left);
            place.width += more;
            self.left -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::top::column::Chosen;

    fn names(width: u16, columns: &str) -> Vec<&'static str> {
        let columns = columns.parse().unwrap_or_default();
        plan(width, Widest::default(), &columns)
            .iter()
            .map(|place| place.column.spec().name)
            .collect()
    }

    #[test]
    fn eighty_cells_show_what_decides() {
        assert_eq!(
            names(80, ""),
            ["limit", "rate", "ceiling", "peer", "process", "rtt"]
        );
        assert_eq!(names(60, ""), ["limit", "rate", "ceiling", "peer"]);
        assert_eq!(
            names(220, "").len(),
            SPECS.iter().filter(|spec| spec.rank.is_some()).count()
        );
        assert!(names(200, "").contains(&"proof"));
    }

    #[test]
    fn the_readers_order_and_widths_hold() {
        assert_eq!(names(80, "peer,limit,trend"), ["peer", "limit", "trend"]);
        assert_eq!(names(40, "peer,limit,rate"), ["peer", "limit", "rate"]);
        assert_eq!(names(30, "peer,limit,rate"), ["peer", "limit"]);
        let columns: Columns = "proof=10,peer=30".parse().unwrap();
        let widths: Vec<u16> = plan(200, Widest::default(), &columns)
            .iter()
            .map(|place| place.width)
            .collect();
        assert_eq!(widths, [10, 30]);
    }

    proptest! {
        #[test]
        fn columns_never_overlap_or_leave_the_screen(
            width in 0_u16..400, wide in 0_u16..60,
            chosen in prop::collection::vec((0..SPECS.len(), prop::option::of(Columns::LEAST..=Columns::MOST)), 0..SPECS.len()),
        ) {
            let widest = Widest { local: wide, peer: wide, process: wide };
            let chosen = chosen
                .into_iter()
                .map(|(at, width)| Chosen { column: SPECS[at].column, width })
                .collect();
            let columns = Columns::new(chosen).unwrap_or_default();
            let mut end = 0;
            for place in plan(width, widest, &columns) {
                prop_assert!(place.x >= end && place.width >= Columns::LEAST);
                end = place.x + place.width;
                prop_assert!(end <= width);
            }
        }
    }
}
