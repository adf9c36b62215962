//! Choosing columns: which, in which order, how wide. The table shows each change at once.

use super::column::{Chosen, Column, Columns, Placed, SPECS};
use super::state::State;

/// A column in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) column: Column,
    pub(crate) shown: bool,
    pub(crate) width: Option<u16>,
}

/// The list as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    pub(crate) entries: Vec<Entry>,
    pub(crate) cursor: usize,
    /// What was chosen before, for Esc.
    before: Columns,
}

/// What is done in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choose {
    Up,
    Down,
    First,
    Last,
    /// Shows the column or hides it.
    Toggle,
    /// Moves it, one to the left in the table.
    Earlier,
    /// One to the right.
    Later,
    Wider,
    Narrower,
    /// Back to the columns that the screen's width decides.
    Automatic,
    Accept,
    Cancel,
}

/// Cells a column grows or shrinks by at once.
const STEP: u16 = 1;

impl Chooser {
    /// Over what is chosen: that first, in its order. Where the screen's width decides, over what it shows now.
    pub(crate) fn new(columns: &Columns, placed: &[Placed]) -> Self {
        let entry = |column: Column, shown: bool| Entry {
            column,
            shown,
            width: None,
        };
        let entries = if columns.is_automatic() {
            let is_placed = |column: Column| placed.iter().any(|place| place.column == column);
            let all = SPECS
                .iter()
                .map(|spec| entry(spec.column, is_placed(spec.column)));
            all.collect()
        } else {
            let chosen = columns.chosen();
            let shown = chosen.iter().map(|chosen| Entry {
                column: chosen.column,
                shown: true,
                width: chosen.width,
            });
            let hidden = SPECS
                .iter()
                .filter(|spec| chosen.iter().all(|chosen| chosen.column != spec.column));
            shown
                .chain(hidden.map(|spec| entry(spec.column, false)))
                .collect()
        };
        Self {
            entries,
            cursor: 0,
            before: columns.clone(),
        }
    }

    /// What the list says; none while nothing is shown.
    pub(crate) fn columns(&self) -> Option<Columns> {
        let chosen = self.entries.iter().filter(|entry| entry.shown);
        let chosen = chosen.map(|entry| Chosen {
            column: entry.column,
            width: entry.width,
        });
        Columns::new(chosen.collect()).ok()
    }

    /// Makes a change to the list; if the columns changed with it.
    fn change(&mut self, choose: Choose) -> bool {
        let last = self.entries.len() - 1;
        match choose {
            Choose::Up => self.cursor = self.cursor.saturating_sub(1),
            Choose::Down => self.cursor = (self.cursor + 1).min(last),
            Choose::First => self.cursor = 0,
            Choose::Last => self.cursor = last,
            Choose::Earlier if self.cursor > 0 => {
                self.entries.swap(self.cursor, self.cursor - 1);
                self.cursor -= 1;
                return true;
            }
            Choose::Later if self.cursor < last => {
                self.entries.swap(self.cursor, self.cursor + 1);
                self.cursor += 1;
                return true;
            }
            _ => {
                let entry = &mut self.entries[self.cursor];
                let width = entry.width.unwrap_or(entry.column.spec().width);
                match choose {
                    Choose::Toggle => entry.shown = !entry.shown,
                    Choose::Wider => entry.width = Some((width + STEP).min(Columns::MOST)),
                    Choose::Narrower => entry.width = Some(width.saturating_sub(STEP).max(Columns::LEAST)),
                    _ => return false,
                }
                return true;
            }
        }
        false
    }
}

/// Opens the list.
pub(crate) fn start(state: &mut State) {
    state.chooser = Some(Chooser::new(&state.chosen, &state.columns()));
}

/// Does what is asked in the list.
pub(crate) fn choose(state: &mut State, choose: Choose) {
    let Some(mut chooser) = state.chooser.take() else {
        return;
    };
    match choose {
        // A table without a column is none: what was there before stays.
        Choose::Accept => return,
        Choose::Cancel => {
            state.chosen = chooser.before;
            return;
        }
        Choose::Automatic => {
            state.chosen = Columns::default();
            chooser = Chooser {
                before: chooser.before,
                ..Chooser::new(&state.chosen, &state.columns())
            };
        }
        choose => {
            if chooser.change(choose) {
                if let Some(columns) = chooser.columns() {
                    state.chosen = columns;
                } else {
                    state.message = Some("the table needs at least one column".to_owned());
                }
            }
        }
    }
    state.chooser = Some(chooser);
}
