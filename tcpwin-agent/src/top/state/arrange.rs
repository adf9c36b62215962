//! Puts together what the view shows, and nothing else.

use super::State;
use crate::snapshot::figures;
use crate::snapshot::{Connection, Finding, Snapshot};
use crate::top::grid::GridSort;
use crate::top::group::Sums;
use crate::top::lists::{FINDINGS, LISTENERS};
use crate::top::order;
use crate::top::text::width;
use crate::top::tree;
use crate::top::view::View;

impl State {
    /// Puts what the view shows together anew; the selection stays with what it is on. Nothing else is worked out.
    pub(crate) fn rearrange(&mut self) {
        let Some(snapshot) = self.snapshot.clone() else {
            return;
        };
        let connections = &snapshot.connections;
        self.rows.clear();
        self.branches.clear();
        self.listed.clear();
        match self.view {
            View::Overview | View::Finding => {
                let shown = |connection: &Connection| self.shows(connection);
                self.rows = order::arrange(&snapshot, shown, &self.sort);
                if self.is_narrowed() {
                    let of_rows = self.rows.iter().filter_map(|at| connections.get(*at as usize));
                    self.sums = Sums::of(of_rows.map(|connection| &**connection));
                }
                self.list_findings(&snapshot, GridSort::default());
            }
            View::Groups(by) => {
                let members: Vec<u32> = connections
                    .iter()
                    .zip(0..)
                    .filter(|(connection, _)| self.shows(connection))
                    .map(|(_, at)| at)
                    .collect();
                let tree = &self.trees[by as usize];
                let shape = tree::Shape {
                    by,
                    unfolded: &tree.unfolded,
                    sort: tree.sort,
                };
                self.branches = tree::rows(connections, &members, shape);
                let cells = |row: &tree::Row| width(&(tree::FIELDS[0].text)(row, self.theme));
                self.grow_text(self.branches.iter().map(cells).max());
            }
            View::Listeners => {
                let all = &snapshot.listeners;
                self.listed = arranged(all.len(), |a, b| {
                    let (a, b) = (&all[a], &all[b]);
                    self.listeners
                        .sort
                        .cmp(LISTENERS, a, b)
                        .then_with(|| (a.netns, &a.local, &a.id).cmp(&(b.netns, &b.local, &b.id)))
                });
                self.grow_text(all.iter().map(|listener| width(&listener.local)).max());
            }
            View::Findings => {
                self.list_findings(&snapshot, self.findings.sort);
                let cells = |finding: &Finding| finding.peer.as_deref().map_or(0, width);
                self.grow_text(snapshot.findings.iter().map(cells).max());
            }
            View::Host | View::Detail | View::Help => {}
        }
        self.follow();
    }

    /// If a connection passes all that narrows the view.
    fn shows(&self, connection: &Connection) -> bool {
        (!self.sick_only || figures::is_sick(connection))
            && self.scope.holds(connection)
            && self.filter.matches(connection)
    }

    fn list_findings(&mut self, snapshot: &Snapshot, sort: GridSort) {
        let all = &snapshot.findings;
        // As they come, what gives most is first.
        let as_they_come = |a: usize, b: usize| match sort {
            GridSort {
                field: None,
                inverted: true,
            } => b.cmp(&a),
            _ => a.cmp(&b),
        };
        self.listed = arranged(all.len(), |a, b| {
            sort.cmp(FINDINGS, &all[a], &all[b])
                .then_with(|| as_they_come(a, b))
        });
    }

    /// Columns that grow and shrink with every row that comes and goes are a nuisance.
    fn grow_text(&mut self, widest: Option<usize>) {
        let widest = u16::try_from(widest.unwrap_or(0)).unwrap_or(u16::MAX);
        self.widest_text = self.widest_text.max(widest);
    }
}

/// Indices up to `len` in an order.
fn arranged(len: usize, mut compare: impl FnMut(usize, usize) -> std::cmp::Ordering) -> Vec<u32> {
    let mut all: Vec<usize> = (0..len).collect();
    all.sort_by(|a, b| compare(*a, *b));
    all.into_iter().filter_map(|at| u32::try_from(at).ok()).collect()
}
