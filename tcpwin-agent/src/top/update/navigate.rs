//! From view to view: along the trail and back.

use std::sync::Arc;

use crate::query::Filter;
use crate::snapshot::{Connection, Snapshot};
use crate::top::history::{Closeup, Point};
use crate::top::state::{Focus, Listed, Opened, OpenedFinding, State};
use crate::top::trail::{FindingKey, FindingScope, Place, Scope};
use crate::top::tree::{Fold, Path};
use crate::top::view::{By, View};

/// To a view of its own: the trail begins anew.
pub(super) fn go(state: &mut State, view: View) {
    // What was narrowed on the way goes with the way.
    if let Some(root) = state.trail.first() {
        state.sick_only = root.sick_only;
        state.filter = root.filter.clone();
    }
    state.trail.clear();
    enter(state, view, Scope::All);
}

/// The table of connections under whatever is on the screen.
pub(super) fn to_connections(state: &mut State) {
    while matches!(state.view, View::Detail | View::Help) && !state.trail.is_empty() {
        back(state);
    }
    match state.view {
        View::Overview | View::Finding | View::Groups(_) => {}
        _ => go(state, View::Overview),
    }
    state.focus = Focus::Main;
}

fn enter(state: &mut State, view: View, scope: Scope) {
    if state.scope != scope {
        state.table.unselect();
    }
    state.view = view;
    state.scope = scope;
    state.focus = Focus::Main;
    state.scroll = 0;
    state.widest_text = 0;
    if view != View::Detail && view != View::Help {
        state.opened = None;
    }
    if !matches!(state.scope, Scope::Finding(_)) {
        state.opened_finding = None;
    }
    state.rearrange();
}

/// One step further along the trail.
fn step(state: &mut State, view: View, scope: Scope) {
    state.trail.push(Place {
        view: state.view,
        scope: state.scope.clone(),
        filter: state.filter.clone(),
        sick_only: state.sick_only,
        selected: state.table.selected.clone(),
    });
    enter(state, view, scope);
}

/// One step back along the trail.
pub(super) fn back(state: &mut State) {
    let Some(place) = state.trail.pop() else {
        return;
    };
    state.filter = place.filter;
    state.sick_only = place.sick_only;
    if state.scope != place.scope {
        state.table.selected = place.selected;
    }
    state.view = place.view;
    state.scope = place.scope;
    state.focus = Focus::Main;
    state.scroll = 0;
    state.widest_text = 0;
    if state.view != View::Detail {
        state.opened = None;
    }
    if !matches!(state.scope, Scope::Finding(_)) {
        state.opened_finding = None;
    }
    state.rearrange();
}

/// Out of the part that has the focus, then of the filter written here, then of the view, then of the selection.
pub(super) fn escape(state: &mut State) {
    if state.focus == Focus::Aside {
        state.focus = Focus::Main;
        return;
    }
    let before = state
        .trail
        .last()
        .map_or_else(Filter::default, |place| place.filter.clone());
    if state.filter != before {
        state.filter = before;
        state.rearrange();
    } else if !state.trail.is_empty() {
        back(state);
    } else {
        unselect(state);
    }
}

fn unselect(state: &mut State) {
    match state.listed() {
        Listed::Connections => state.table.unselect(),
        Listed::Groups(by) => state.trees[by as usize].cursor.unselect(),
        Listed::Listeners => state.listeners.cursor.unselect(),
        Listed::Findings => state.findings.cursor.unselect(),
        Listed::Text => state.scroll = 0,
    }
}

/// The help, and back from it.
pub(super) fn help(state: &mut State) {
    if state.view == View::Help {
        return back(state);
    }
    let scope = state.scope.clone();
    step(state, View::Help, scope);
}

/// Into the other part of the view.
pub(super) fn focus(state: &mut State) {
    let has_aside = match state.view {
        View::Overview => state.overview().findings.height > 0,
        View::Finding => true,
        _ => false,
    };
    state.focus = match state.focus {
        Focus::Main if has_aside => Focus::Aside,
        _ => Focus::Main,
    };
    let findings = state
        .snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.findings.len());
    if !has_aside && findings > 0 && !state.is_narrowed() {
        go(state, View::Findings);
    } else if !has_aside {
        state.message = Some("there are no findings now".to_owned());
    }
}

/// Opens what is selected.
pub(super) fn open(state: &mut State) {
    match state.listed() {
        Listed::Connections => {
            if let Some(connection) = state.row(state.table.at).map(Arc::clone) {
                state.select(state.table.at);
                open_connection(state, connection);
            }
        }
        Listed::Groups(by) => open_branch(state, by),
        Listed::Listeners => {
            let at = state.listeners.cursor.at;
            if let Some(scope) = state.listener(at).map(Scope::of_listener) {
                state.select(at);
                step(state, View::Overview, scope);
            }
        }
        Listed::Findings => {
            let at = state.findings.cursor.at;
            if let Some(finding) = state.finding(at).cloned() {
                state.select(at);
                let scope = Scope::Finding(FindingScope::of(&finding));
                state.opened_finding = Some(OpenedFinding { finding, gone: false });
                step(state, View::Finding, scope);
            }
        }
        Listed::Text => {}
    }
}

fn open_connection(state: &mut State, connection: Arc<Connection>) {
    let mut closeup = Closeup::new(state.history.of(&connection));
    if let Some(snapshot) = &state.snapshot {
        closeup.push(Point::of(&connection, snapshot));
    }
    state.opened = Some(Opened {
        connection,
        closed: false,
        closeup,
    });
    let scope = state.scope.clone();
    step(state, View::Detail, scope);
}

fn open_branch(state: &mut State, by: By) {
    let at = state.trees[by as usize].cursor.at;
    let Some(row) = state.branches.get(at) else {
        return;
    };
    let snapshot = state.snapshot.as_ref();
    let connection = row
        .connection
        .and_then(|at| snapshot?.connections.get(at as usize))
        .map(Arc::clone);
    let scope = Scope::Group(row.path.levels(by));
    state.select(at);
    match connection {
        Some(connection) => open_connection(state, connection),
        None => step(state, View::Overview, scope),
    }
}

/// Unfolds the selected group; unfolded, goes into it.
pub(super) fn unfold(state: &mut State) {
    let View::Groups(by) = state.view else { return };
    let at = state.trees[by as usize].cursor.at;
    let Some(row) = state.branches.get(at) else {
        return;
    };
    match row.fold {
        Fold::Closed => {
            let path = row.path.clone();
            state.trees[by as usize].unfolded.insert(path);
            state.select(at);
            state.rearrange();
        }
        Fold::Open => state.select(at + 1),
        Fold::Leaf => open(state),
    }
}

/// Folds the selected group; folded already, goes to the one around it.
pub(super) fn fold(state: &mut State) {
    let View::Groups(by) = state.view else { return };
    let tree = &mut state.trees[by as usize];
    let Some(row) = state.branches.get(tree.cursor.at) else {
        return;
    };
    if tree.unfolded.remove(&row.path) {
        tree.cursor.selected = Some(row.path.clone());
        return state.rearrange();
    }
    let parent: Option<Path> = row.path.parent();
    let at = parent.and_then(|parent| state.branches.iter().position(|row| row.path == parent));
    if let Some(at) = at {
        state.select(at);
    }
}

/// Takes the open finding's newest figures.
pub(super) fn refresh_finding(state: &mut State, snapshot: &Snapshot) {
    let Some(opened) = &mut state.opened_finding else {
        return;
    };
    let key = FindingKey::of(&opened.finding);
    match snapshot.findings.iter().find(|finding| key.is(finding)) {
        Some(finding) => {
            *opened = OpenedFinding {
                finding: finding.clone(),
                gone: false,
            };
            // Which connections it is of changes with it, on the trail as well.
            let scope = Scope::Finding(FindingScope::of(finding));
            for place in &mut state.trail {
                if matches!(place.scope, Scope::Finding(_)) {
                    place.scope = scope.clone();
                }
            }
            if matches!(state.scope, Scope::Finding(_)) {
                state.scope = scope;
            }
        }
        None => opened.gone = true,
    }
}
