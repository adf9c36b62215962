//! A selected row that stays with what it shows, and the part of a list that is on the screen.

use super::action::Motion;

/// Rows that one notch of the wheel moves.
pub(crate) const NOTCH: usize = 3;

/// The place in a list whose rows are known by a `K`.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<K> {
    /// None while the reader has chosen no row: then the first one is, whatever it is.
    pub(crate) selected: Option<K>,
    /// Row of the selected one.
    pub(crate) at: usize,
    /// First row on the screen.
    pub(crate) offset: usize,
}

impl<K> Default for Cursor<K> {
    fn default() -> Self {
        Self {
            selected: None,
            at: 0,
            offset: 0,
        }
    }
}

/// A list as it is now: how many rows, how many of them fit on the screen, and what a row is known by.
pub(crate) struct Rows<'a, K> {
    pub(crate) len: usize,
    pub(crate) page: usize,
    pub(crate) key: &'a dyn Fn(usize) -> Option<K>,
    /// If a row shows this one; cheaper than making the row's key.
    pub(crate) is: &'a dyn Fn(&K, usize) -> bool,
}

impl<K> Cursor<K> {
    /// Finds the row of the selected one after the list changed. Gone, the one in its row takes its place.
    pub(crate) fn follow(&mut self, rows: &Rows<'_, K>) {
        let Some(selected) = &self.selected else {
            return self.unselect();
        };
        let found = (0..rows.len).find(|row| (rows.is)(selected, *row));
        match found {
            Some(row) => self.at = row,
            None => self.select(self.at, rows),
        }
        self.show(rows.len, rows.page);
    }

    /// Selects a row, or the last one before it.
    pub(crate) fn select(&mut self, row: usize, rows: &Rows<'_, K>) {
        self.at = row.min(rows.len.saturating_sub(1));
        self.selected = (rows.key)(self.at);
        self.show(rows.len, rows.page);
    }

    /// Stays at the top, whatever comes there.
    pub(crate) fn unselect(&mut self) {
        (self.selected, self.at, self.offset) = (None, 0, 0);
    }

    /// Moves the selection.
    pub(crate) fn go(&mut self, motion: Motion, rows: &Rows<'_, K>) {
        match motion {
            Motion::First => self.unselect(),
            _ => self.select(moved(self.at, motion, rows.page), rows),
        }
    }

    /// Scrolls as little as needed for the selected row to be on the screen.
    pub(crate) fn show(&mut self, len: usize, page: usize) {
        let page = page.max(1);
        self.offset = self
            .offset
            .clamp((self.at + 1).saturating_sub(page), self.at)
            .min(len.saturating_sub(page));
    }
}

/// Where `motion` leads from `at`, with `page` lines on the screen; past the end means the end.
pub(crate) fn moved(at: usize, motion: Motion, page: usize) -> usize {
    match motion {
        Motion::Up => at.saturating_sub(1),
        Motion::Down => at + 1,
        Motion::PageUp => at.saturating_sub(page),
        Motion::PageDown => at + page,
        Motion::HalfUp => at.saturating_sub(page / 2),
        Motion::HalfDown => at + page / 2,
        Motion::First => 0,
        Motion::Last => usize::MAX,
        Motion::WheelUp => at.saturating_sub(NOTCH),
        Motion::WheelDown => at + NOTCH,
    }
}
