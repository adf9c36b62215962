//! The line in which the filter is written.

mod offer;

use self::offer::Offer;

use crate::query::{Filter, FilterError};
use crate::snapshot::Snapshot;

/// Text with a cursor, and what it means so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    chars: Vec<char>,
    cursor: usize,
    /// The filter in force before, for Esc.
    pub(crate) before: Filter,
    /// What is wrong with the text.
    pub(crate) error: Option<FilterError>,
    /// What may be written next.
    pub(crate) offer: Offer,
}

/// Longest filter that can be written, characters.
const LONGEST: usize = 500;

/// A change of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Insert(char),
    Backspace,
    Delete,
    /// The word before the cursor.
    DeleteWord,
    /// All before the cursor.
    DeleteStart,
    Left,
    Right,
    Start,
    End,
}

impl Prompt {
    /// Over the filter in force.
    pub(crate) fn new(before: Filter) -> Self {
        let chars: Vec<char> = before.text().chars().collect();
        Self {
            cursor: chars.len(),
            chars,
            before,
            error: None,
            offer: Offer::default(),
        }
    }

    pub(crate) fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// Characters before the cursor.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Makes the change. What the text means now, up to its first fault.
    pub(crate) fn edit(&mut self, edit: Edit) -> Filter {
        self.change(edit);
        self.read()
    }

    /// Inserts all of `text`.
    pub(crate) fn paste(&mut self, text: &str) -> Filter {
        for c in text.chars() {
            self.change(Edit::Insert(c));
        }
        self.read()
    }

    /// Puts the next candidate before the cursor; `None` if there is none.
    pub(crate) fn complete(&mut self) -> Option<Filter> {
        let (from, text) = self.offer.next()?;
        let mut chars: Vec<char> = text.chars().collect();
        // Nothing is to be chosen: on to what comes next.
        if self.offer.is_only() && self.chars.get(self.cursor) != Some(&' ') {
            chars.push(' ');
        }
        let from = from.min(self.cursor);
        if self.chars.len() - (self.cursor - from) + chars.len() > LONGEST {
            return None;
        }
        self.chars.splice(from..self.cursor, chars.iter().copied());
        self.cursor = from + chars.len();
        Some(self.read())
    }

    /// Looks for what may be written next.
    pub(crate) fn look(&mut self, snapshot: Option<&Snapshot>) {
        self.offer = Offer::new(&self.text(), self.cursor, snapshot);
    }

    fn read(&mut self) -> Filter {
        let (filter, error) = Filter::so_far(&self.text());
        self.error = error;
        filter
    }

    fn change(&mut self, edit: Edit) {
        match edit {
            Edit::Insert(c) if self.chars.len() < LONGEST && !c.is_control() => {
                self.chars.insert(self.cursor, c);
                self.cursor += 1;
            }
            Edit::Insert(_) => {}
            Edit::Backspace => self.cut(self.cursor.saturating_sub(1)),
            Edit::Delete => {
                if self.cursor < self.chars.len() {
                    self.chars.remove(self.cursor);
                }
            }
            Edit::DeleteWord => {
                let before = &self.chars[..self.cursor];
                let end = before.iter().rposition(|c| *c != ' ').map_or(0, |at| at + 1);
                self.cut(
                    before[..end]
                        .iter()
                        .rposition(|c| *c == ' ')
                        .map_or(0, |at| at + 1),
                );
            }
            Edit::DeleteStart => self.cut(0),
            Edit::Left => self.cursor = self.cursor.saturating_sub(1),
            Edit::Right => self.cursor = (self.cursor + 1).min(self.chars.len()),
            Edit::Start => self.cursor = 0,
            Edit::End => self.cursor = self.chars.len(),
        }
    }

    /// Removes what stands between `from` and the cursor.
    fn cut(&mut self, from: usize) {
        self.chars.drain(from..self.cursor);
        self.cursor = from;
    }
}
