//! Which regions the view has, and the columns in them.

use super::{Focus, State};
use crate::top::column::{Placed, plan};
use crate::top::grid::{self, GridSort, Spot};
use crate::top::layout::{self, Page, Regions, Wanted};
use crate::top::lists::{FINDINGS, LISTENERS};
use crate::top::notice::notices;
use crate::top::screen;
use crate::top::tree;
use crate::top::view::View;

/// Most lines of findings under the table, without their title.
const FINDINGS_SHOWN: u16 = 5;

/// Lines in which the list of findings shows the selected one.
const PREVIEW: u16 = 7;

impl State {
    /// Regions of a view with a list.
    pub(crate) fn overview(&self) -> Regions {
        layout::regions(self.size, self.wanted())
    }

    fn wanted(&self) -> Wanted {
        let notices = layout::notices_shown(self.size, notices(self).len());
        let height = self.size.height;
        let header = match self.view {
            View::Overview | View::Finding if self.is_narrowed() => 1,
            View::Overview => notices + layout::header_lines(self.size, self.has_facts()),
            _ if height >= layout::TALL => notices + layout::header_lines(self.size, self.has_facts()),
            _ => notices.min(1),
        };
        let text = match self.view {
            View::Finding => {
                // The text gives way to the connections, up to two fifths of the screen.
                let room = height.saturating_sub(header + 3);
                let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
                let table = rows.saturating_add(1).min(room * 2 / 5).max(4);
                let lines = u16::try_from(screen::lines(self)).unwrap_or(u16::MAX);
                lines.min(room.saturating_sub(table))
            }
            _ => 0,
        };
        let told = self
            .snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.findings.len());
        let told = u16::try_from(told).unwrap_or(u16::MAX);
        let findings = match self.view {
            _ if told == 0 || height < layout::ROOMY => 0,
            View::Overview if !self.is_narrowed() => {
                let most = if height >= layout::TALL {
                    2 * FINDINGS_SHOWN
                } else {
                    FINDINGS_SHOWN - 1
                };
                most.min(told) + 1
            }
            View::Findings => PREVIEW,
            _ => 0,
        };
        Wanted {
            header,
            text,
            head: u16::from(self.view != View::Host),
            why: match self.view {
                View::Overview if height >= layout::ROOMY => layout::why_lines(self.size),
                _ => 0,
            },
            findings,
            footer: self.footer_lines(),
        }
    }

    /// Regions of the views that are text alone.
    pub(crate) fn page(&self) -> Page {
        layout::page(self.size, self.footer_lines())
    }

    /// Lines of text on the screen.
    pub(crate) fn page_lines(&self) -> usize {
        let height = match self.view {
            View::Host => self.overview().rows.height,
            View::Finding => self.overview().text.height,
            _ => self.page().body.height,
        };
        usize::from(height)
    }

    fn footer_lines(&self) -> u16 {
        match (&self.prompt, &self.command) {
            (Some(_), _) => 3,
            (None, Some(_)) => 2,
            (None, None) => 1,
        }
    }

    /// Columns of the table of connections.
    pub(crate) fn columns(&self) -> Vec<Placed> {
        plan(self.size.width, self.widest, &self.chosen)
    }

    /// Columns of the list that fills the view, where it is another one.
    pub(crate) fn spots(&self) -> Vec<Spot> {
        let (width, widest) = (self.size.width, self.widest_text);
        match self.view {
            View::Groups(_) => grid::plan(tree::FIELDS, width, widest),
            View::Listeners => grid::plan(LISTENERS, width, widest),
            View::Findings => grid::plan(FINDINGS, width, widest),
            _ => Vec::new(),
        }
    }

    /// The order of that list.
    pub(crate) fn grid_sort(&mut self) -> Option<&mut GridSort> {
        match self.view {
            View::Groups(by) => Some(&mut self.trees[by as usize].sort),
            View::Listeners => Some(&mut self.listeners.sort),
            View::Findings => Some(&mut self.findings.sort),
            _ => None,
        }
    }

    /// Rows on the screen of the list that has the focus.
    pub(crate) fn page_rows(&self) -> usize {
        let regions = self.overview();
        let height = match (self.view, self.focus) {
            (View::Overview, Focus::Aside) => regions.findings.height.saturating_sub(1),
            _ => regions.rows.height,
        };
        usize::from(height).max(1)
    }

    /// If the agent tells of its host what the header has a line for.
    fn has_facts(&self) -> bool {
        let facts = self.snapshot.as_ref().map(|snapshot| &snapshot.facts);
        facts.is_some_and(|facts| facts.fastopen.is_some() || facts.memory.is_some())
    }
}
