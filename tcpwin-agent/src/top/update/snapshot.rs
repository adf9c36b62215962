//! Snapshots as they come: shown, or kept back while the screen is frozen, and remembered for the charts.

use std::sync::Arc;

use crate::snapshot::{Connection, Snapshot};
use crate::top::history::Point;
use crate::top::order;
use crate::top::state::{FeedState, Identity, State};

use super::{navigate, scroll_to};

/// A snapshot from the feed.
pub(super) fn take(state: &mut State, snapshot: Arc<Snapshot>) {
    let before = state.kept_back.as_ref().or(state.snapshot.as_ref());
    let repeated =
        before.is_some_and(|before| before.tick == snapshot.tick && before.at_ns == snapshot.at_ns);
    let was_lost = !matches!(state.feed, FeedState::Live);
    state.feed = FeedState::Live;
    if repeated {
        // The screen asks more often than the agent ticks.
        if was_lost {
            state.follow();
        }
        return;
    }
    state.pulse.push(before.map(|before| &**before), &snapshot);
    if state.frozen && state.snapshot.is_some() {
        remember(state, &snapshot);
        state.kept_back = Some(snapshot);
    } else {
        show(state, snapshot);
    }
}

/// Puts a snapshot on the screen.
pub(super) fn show(state: &mut State, snapshot: Arc<Snapshot>) {
    // It only grows: columns that come and go with single connections are a nuisance.
    state.widest = order::widest(state.widest, &snapshot);
    navigate::refresh_finding(state, &snapshot);
    state.snapshot = Some(Arc::clone(&snapshot));
    state.rearrange();
    remember(state, &snapshot);
    if let Some(opened) = &mut state.opened {
        match find(&snapshot, &Identity::of(&opened.connection)) {
            Some(connection) => (opened.connection, opened.closed) = (Arc::clone(connection), false),
            None => opened.closed = true,
        }
    }
    scroll_to(state, usize::from(state.scroll));
}

/// Takes a snapshot into the memory that sparklines and charts are drawn from, shown or kept back.
fn remember(state: &mut State, snapshot: &Arc<Snapshot>) {
    let shown = state
        .snapshot
        .as_ref()
        .is_some_and(|shown| Arc::ptr_eq(shown, snapshot));
    let rows: &[u32] = if shown { &state.rows } else { &[] };
    let connection = |index: &u32| {
        snapshot
            .connections
            .get(*index as usize)
            .map(|connection| &**connection)
    };
    let height = usize::from(state.overview().rows.height);
    let page = state.table.offset..(state.table.offset + height).min(rows.len());
    let seen = rows.get(page).unwrap_or_default();
    let near = rows.get(state.table.offset.min(rows.len())..).unwrap_or_default();
    state.history.push(
        snapshot,
        seen.iter().filter_map(connection),
        near.iter().chain(rows).filter_map(connection),
    );
    let Some(opened) = &mut state.opened else { return };
    let identity = Identity::of(&opened.connection);
    if let Some(connection) = find(snapshot, &identity) {
        opened.closeup.push(Point::of(connection, snapshot));
    }
    // What was asked for before another connection was opened may still be on its way.
    if state
        .watched
        .as_ref()
        .is_some_and(|watched| identity.is_watched(watched))
    {
        opened.closeup.absorb(&snapshot.samples);
    }
}

fn find<'a>(snapshot: &'a Snapshot, identity: &Identity) -> Option<&'a Arc<Connection>> {
    snapshot
        .connections
        .iter()
        .find(|connection| identity.is(connection))
}
