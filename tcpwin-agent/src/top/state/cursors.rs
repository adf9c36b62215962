//! The selected rows: they stay with what they are on.

use super::{Focus, Identity, Listed, State};
use crate::top::cursor::{Cursor, Rows};
use crate::top::trail::FindingKey;
use crate::top::tree::Path;
use crate::top::view::{By, View};

impl State {
    /// Finds the selected rows after the lists or the regions changed, and has them on the screen.
    pub(crate) fn follow(&mut self) {
        if self.view == View::Overview && self.focus == Focus::Aside && self.overview().findings.height == 0 {
            self.focus = Focus::Main;
        }
        match self.view {
            View::Overview | View::Finding => {
                self.with_table(|cursor, rows| cursor.follow(rows));
                if self.view == View::Overview {
                    self.with_findings(|cursor, rows| cursor.follow(rows));
                }
            }
            View::Groups(by) => self.with_tree(by, |cursor, rows| cursor.follow(rows)),
            View::Listeners => self.with_listeners(|cursor, rows| cursor.follow(rows)),
            View::Findings => self.with_findings(|cursor, rows| cursor.follow(rows)),
            View::Host | View::Detail | View::Help => {}
        }
    }

    /// Selects a row of the list that has the focus, or the last one before it.
    pub(crate) fn select(&mut self, row: usize) {
        match self.listed() {
            Listed::Connections => self.with_table(|cursor, rows| cursor.select(row, rows)),
            Listed::Groups(by) => self.with_tree(by, |cursor, rows| cursor.select(row, rows)),
            Listed::Listeners => self.with_listeners(|cursor, rows| cursor.select(row, rows)),
            Listed::Findings => self.with_findings(|cursor, rows| cursor.select(row, rows)),
            Listed::Text => {}
        }
    }

    /// Row of the selected one in the list that has the focus, the first row on the screen, and how many rows there are.
    pub(crate) fn place(&self) -> (usize, usize, usize) {
        let of = |at: usize, offset: usize, len: usize| (at, offset, len);
        match self.listed() {
            Listed::Connections => of(self.table.at, self.table.offset, self.rows.len()),
            Listed::Groups(by) => {
                let cursor = &self.trees[by as usize].cursor;
                of(cursor.at, cursor.offset, self.branches.len())
            }
            Listed::Listeners => {
                let cursor = &self.listeners.cursor;
                of(cursor.at, cursor.offset, self.listed.len())
            }
            Listed::Findings => {
                let cursor = &self.findings.cursor;
                of(cursor.at, cursor.offset, self.listed.len())
            }
            Listed::Text => (0, 0, 0),
        }
    }

    /// Changes the table's cursor with its rows at hand.
    pub(crate) fn with_table(&mut self, change: impl FnOnce(&mut Cursor<Identity>, &Rows<'_, Identity>)) {
        let mut cursor = std::mem::take(&mut self.table);
        change(
            &mut cursor,
            &Rows {
                len: self.rows.len(),
                page: usize::from(self.overview().rows.height).max(1),
                key: &|row| self.row(row).map(|connection| Identity::of(connection)),
                is: &|key: &Identity, row| self.row(row).is_some_and(|connection| key.is(connection)),
            },
        );
        self.table = cursor;
    }

    /// Changes a tree's cursor with its rows at hand.
    pub(crate) fn with_tree(&mut self, by: By, change: impl FnOnce(&mut Cursor<Path>, &Rows<'_, Path>)) {
        let mut cursor = std::mem::take(&mut self.trees[by as usize].cursor);
        change(
            &mut cursor,
            &Rows {
                len: self.branches.len(),
                page: self.page_rows(),
                key: &|row| self.branches.get(row).map(|row| row.path.clone()),
                is: &|key, row| self.branches.get(row).is_some_and(|row| row.path == *key),
            },
        );
        self.trees[by as usize].cursor = cursor;
    }

    /// Changes the cursor of the listeners with their rows at hand.
    pub(crate) fn with_listeners(&mut self, change: impl FnOnce(&mut Cursor<String>, &Rows<'_, String>)) {
        let mut cursor = std::mem::take(&mut self.listeners.cursor);
        change(
            &mut cursor,
            &Rows {
                len: self.listed.len(),
                page: self.page_rows(),
                key: &|row| self.listener(row).map(|listener| listener.id.clone()),
                is: &|key, row| self.listener(row).is_some_and(|listener| listener.id == *key),
            },
        );
        self.listeners.cursor = cursor;
    }

    /// Changes the cursor of the findings with their rows at hand.
    pub(crate) fn with_findings(
        &mut self,
        change: impl FnOnce(&mut Cursor<FindingKey>, &Rows<'_, FindingKey>),
    ) {
        let mut cursor = std::mem::take(&mut self.findings.cursor);
        let regions = self.overview();
        let page = match self.view {
            View::Overview => regions.findings.height.saturating_sub(1),
            _ => regions.rows.height,
        };
        change(
            &mut cursor,
            &Rows {
                len: self.listed.len(),
                page: usize::from(page).max(1),
                key: &|row| self.finding(row).map(FindingKey::of),
                is: &|key, row| self.finding(row).is_some_and(|finding| key.is(finding)),
            },
        );
        self.findings.cursor = cursor;
    }
}
