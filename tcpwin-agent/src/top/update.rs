//! The only place where the state changes. No clock, no terminal.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::action::{Action, Effect, Motion, Play};
use super::chooser::{self, Choose};
use super::column::Column;
use super::history::{Closeup, Point};
use super::keys::{self, Mode};
use super::order::{self, Sort};
use super::preset;
use super::prompt::{Edit, Prompt};
use super::screen;
use super::state::{Behind, FeedState, Identity, Opened, State, View};
use crate::query::Filter;
use crate::snapshot::{Connection, Snapshot};

/// Intervals that `+` and `-` step through, milliseconds.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];
/// Rows that one notch of the wheel moves.
const NOTCH: usize = 3;

/// What a key means now.
pub(crate) fn key_action(state: &State, key: KeyEvent) -> Action {
    let mode = match state.view {
        _ if state.prompt.is_some() => Mode::Prompt,
        _ if state.chooser.is_some() => Mode::Chooser,
        View::Overview => Mode::Overview,
        View::Detail => Mode::Detail,
        View::Help(_) => Mode::Help,
    };
    keys::action(mode, state.prefix.as_deref(), key)
}

/// What the mouse means.
pub(crate) fn mouse_action(mouse: MouseEvent) -> Action {
    match mouse.kind {
        MouseEventKind::ScrollUp => Action::Move(Motion::WheelUp),
        MouseEventKind::ScrollDown => Action::Move(Motion::WheelDown),
        MouseEventKind::Down(MouseButton::Left) => Action::Click(mouse.column, mouse.row),
        _ => Action::Nothing,
    }
}

/// Takes `action` in.
pub(crate) fn update(state: &mut State, action: Action) -> Effect {
    if let Action::Prefix(key) = action {
        state.prefix = Some(key);
        return Effect::None;
    }
    let data = matches!(
        action,
        Action::Snapshot(_) | Action::FeedLost(_) | Action::Watching(_) | Action::Resize(..)
    );
    let mut effect = Effect::Draw;
    if !data {
        state.prefix = None;
        if state.message.take().is_none() && matches!(action, Action::Nothing) {
            effect = Effect::None;
        }
    }
    match action {
        Action::Snapshot(snapshot) => take(state, snapshot),
        Action::FeedLost(cause) => {
            let tries = if let FeedState::Lost { tries, .. } = state.feed {
                tries.saturating_add(1)
            } else {
                1
            };
            state.feed = FeedState::Lost { cause, tries };
            state.show_cursor();
        }
        Action::Resize(width, height) => {
            state.size.width = width;
            state.size.height = height;
            state.show_cursor();
            scroll_to(state, usize::from(state.scroll));
        }
        Action::Move(Motion::WheelUp) if state.chooser.is_some() => chooser::choose(state, Choose::Up),
        Action::Move(Motion::WheelDown) if state.chooser.is_some() => chooser::choose(state, Choose::Down),
        Action::Move(motion) if state.view == View::Overview => move_rows(state, motion),
        Action::Move(motion) => move_lines(state, motion),
        Action::Click(x, y) => click(state, Position { x, y }),
        Action::Open => open(state),
        Action::Back => back(state),
        Action::Help => help(state),
        Action::SortNext => sort(state, state.sort.next()),
        Action::SortLeft => sort_beside(state, -1),
        Action::SortRight => sort_beside(state, 1),
        Action::SortInvert => sort(
            state,
            Sort {
                inverted: !state.sort.inverted,
                ..state.sort
            },
        ),
        Action::FilterStart => {
            state.view = View::Overview;
            state.opened = None;
            let mut prompt = Prompt::new(state.filter.clone());
            prompt.look(state.snapshot.as_deref());
            state.prompt = Some(prompt);
            state.show_cursor();
        }
        Action::FilterEdit(edit) => edit_filter(state, edit),
        Action::FilterComplete => complete(state),
        Action::FilterPaste(text) => {
            if let Some(prompt) = &mut state.prompt {
                let so_far = prompt.paste(&text);
                prompt.look(state.snapshot.as_deref());
                filter(state, so_far);
            }
        }
        Action::FilterAccept => {
            if state.prompt.as_ref().is_some_and(|prompt| prompt.error.is_none()) {
                state.prompt = None;
                state.show_cursor();
            }
        }
        Action::FilterCancel => {
            if let Some(prompt) = state.prompt.take() {
                filter(state, prompt.before);
            }
        }
        Action::FilterClear if state.filter.is_empty() => state.unselect(),
        Action::FilterClear => filter(state, Filter::default()),
        Action::Play(play) => effect = steer(state, play),
        Action::PresetNext => preset::next(state),
        Action::Said(message) => state.message = Some(message),
        Action::ChooserStart => chooser::start(state),
        Action::Choose(choose) => chooser::choose(state, choose),
        Action::WriteColumns => return Effect::WriteColumns(state.chosen.clone()),
        Action::SickOnly => {
            state.sick_only = !state.sick_only;
            state.rearrange();
        }
        Action::Freeze => {
            state.frozen = !state.frozen;
            if let Some(snapshot) = state.kept_back.take() {
                show(state, snapshot);
            }
        }
        Action::Slower => return interval(state, |now| INTERVALS_MS.into_iter().find(|ms| *ms > now)),
        Action::Faster => return interval(state, |now| INTERVALS_MS.into_iter().rev().find(|ms| *ms < now)),
        Action::Watching(watched) => {
            state.watched = watched;
            return Effect::None;
        }
        Action::ZoomIn => state.charts.zoom_in(),
        Action::ZoomOut => state.charts.zoom_out(),
        Action::ChartNext => {
            state.charts.next();
            scroll_to(state, usize::from(state.scroll));
        }
        Action::DetailPage => {
            state.charts.turn_page();
            state.scroll = 0;
        }
        Action::Copy => return copy(state, 1),
        Action::CopyNumber(number) => return copy(state, number),
        Action::Mouse => {
            state.mouse = !state.mouse;
            let now = if state.mouse {
                "the mouse is tcpwin's"
            } else {
                "the mouse is the terminal's: select and copy"
            };
            state.message = Some(now.to_owned());
            return Effect::Mouse;
        }
        Action::Redraw => return Effect::Redraw,
        Action::Suspend => return Effect::Suspend,
        Action::Quit => return Effect::Quit,
        Action::Prefix(_) | Action::Nothing => return effect,
    }
    effect
}

/// A snapshot from the feed.
fn take(state: &mut State, snapshot: Arc<Snapshot>) {
    let before = state.kept_back.as_ref().or(state.snapshot.as_ref());
    let repeated =
        before.is_some_and(|before| before.tick == snapshot.tick && before.at_ns == snapshot.at_ns);
    let was_lost = !matches!(state.feed, FeedState::Live);
    state.feed = FeedState::Live;
    if repeated {
        // The screen asks more often than the agent ticks.
        if was_lost {
            state.show_cursor();
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
fn show(state: &mut State, snapshot: Arc<Snapshot>) {
    // It only grows: columns that come and go with single connections are a nuisance.
    state.widest = state.widest.union(order::widest(&snapshot));
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
    let page = state.offset..(state.offset + state.page_rows()).min(rows.len());
    let seen = rows.get(page).unwrap_or_default();
    let near = rows.get(state.offset.min(rows.len())..).unwrap_or_default();
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

fn move_rows(state: &mut State, motion: Motion) {
    let page = state.page_rows();
    let row = state.cursor;
    let to = match motion {
        Motion::Up => row.saturating_sub(1),
        Motion::Down => row + 1,
        Motion::PageUp => row.saturating_sub(page),
        Motion::PageDown => row + page,
        Motion::HalfUp => row.saturating_sub(page / 2),
        Motion::HalfDown => row + page / 2,
        Motion::First => return state.unselect(),
        Motion::Last => usize::MAX,
        Motion::WheelUp => row.saturating_sub(NOTCH),
        Motion::WheelDown => row + NOTCH,
    };
    state.select(to);
}

fn move_lines(state: &mut State, motion: Motion) {
    let page = usize::from(state.page().body.height).max(1);
    let line = usize::from(state.scroll);
    let line = match motion {
        Motion::Up => line.saturating_sub(1),
        Motion::Down => line + 1,
        Motion::PageUp => line.saturating_sub(page),
        Motion::PageDown => line + page,
        Motion::HalfUp => line.saturating_sub(page / 2),
        Motion::HalfDown => line + page / 2,
        Motion::First => 0,
        Motion::Last => usize::MAX,
        Motion::WheelUp => line.saturating_sub(NOTCH),
        Motion::WheelDown => line + NOTCH,
    };
    scroll_to(state, line);
}

/// Scrolls detail or help, never past its end.
fn scroll_to(state: &mut State, line: usize) {
    let last = screen::lines(state).saturating_sub(usize::from(state.page().body.height));
    state.scroll = u16::try_from(line.min(last)).unwrap_or(u16::MAX);
}

fn click(state: &mut State, at: Position) {
    if state.view != View::Overview || state.prompt.is_some() || state.chooser.is_some() {
        return;
    }
    let regions = state.overview();
    if regions.head.contains(at) {
        let column = state
            .columns()
            .into_iter()
            .find(|place| (place.x..place.x + place.width).contains(&at.x));
        if let Some(place) = column {
            sort(state, state.sort.by(place.column));
        }
    } else if regions.rows.contains(at) {
        let row = state.offset + usize::from(at.y - regions.rows.y);
        if row < state.rows.len() {
            let again = row == state.cursor;
            state.select(row);
            if again {
                open(state);
            }
        }
    }
}

fn open(state: &mut State) {
    let Some(connection) = state.row(state.cursor).map(Arc::clone) else {
        return;
    };
    let Some(snapshot) = state.snapshot.as_ref().map(Arc::clone) else {
        return;
    };
    state.select(state.cursor);
    let mut closeup = Closeup::new(state.history.of(&connection));
    closeup.push(Point::of(&connection, &snapshot));
    state.opened = Some(Opened {
        connection,
        closed: false,
        closeup,
    });
    state.view = View::Detail;
    state.scroll = 0;
}

fn back(state: &mut State) {
    state.view = match state.view {
        View::Help(Behind::Detail) => View::Detail,
        _ => View::Overview,
    };
    if state.view == View::Overview {
        state.opened = None;
    }
    state.scroll = 0;
    state.show_cursor();
}

fn help(state: &mut State) {
    state.view = match state.view {
        View::Help(_) => return back(state),
        View::Overview => View::Help(Behind::Overview),
        View::Detail => View::Help(Behind::Detail),
    };
    state.scroll = 0;
}

/// The feed is asked at once, so that the reader sees where he is.
fn steer(state: &mut State, play: Play) -> Effect {
    let Some(playback) = &state.playback else {
        state.message = Some("this is live: time is steered in a recording, see --replay".to_owned());
        return Effect::Draw;
    };
    match play {
        Play::Pause => playback.pause(),
        Play::Faster => playback.faster(),
        Play::Slower => playback.slower(),
        Play::Jump(jump) => playback.jump(jump),
    }
    Effect::Interval
}

fn sort(state: &mut State, sort: Sort) {
    state.sort = sort;
    state.rearrange();
}

/// Sorts by the column on the screen `step` to the right of the one sorted by.
fn sort_beside(state: &mut State, step: isize) {
    let shown: Vec<Column> = state.columns().iter().map(|place| place.column).collect();
    let at = shown
        .iter()
        .position(|column| *column == state.sort.column)
        .unwrap_or(0);
    let to = at.saturating_add_signed(step).min(shown.len().saturating_sub(1));
    if let Some(column) = shown.get(to).filter(|column| **column != state.sort.column) {
        sort(
            state,
            Sort {
                column: *column,
                inverted: false,
            },
        );
    }
}

fn edit_filter(state: &mut State, edit: Edit) {
    if let Some(prompt) = &mut state.prompt {
        let so_far = prompt.edit(edit);
        prompt.look(state.snapshot.as_deref());
        filter(state, so_far);
    }
}

fn complete(state: &mut State) {
    let Some(prompt) = &mut state.prompt else { return };
    if let Some(so_far) = prompt.complete() {
        if prompt.offer.candidates().len() == 1 {
            prompt.look(state.snapshot.as_deref());
        }
        filter(state, so_far);
    }
}

fn filter(state: &mut State, filter: Filter) {
    if state.filter == filter {
        state.show_cursor();
        return;
    }
    state.filter = filter;
    state.rearrange();
}

fn interval(state: &mut State, next: impl Fn(u64) -> Option<u64>) -> Effect {
    let now = u64::try_from(state.interval.as_millis()).unwrap_or(u64::MAX);
    let Some(ms) = next(now) else { return Effect::None };
    state.interval = Duration::from_millis(ms);
    Effect::Interval
}

fn copy(state: &mut State, number: u8) -> Effect {
    let remedies = state
        .opened
        .as_ref()
        .map_or(&[][..], |opened| &opened.connection.remedies);
    let Some(remedy) = remedies.get(usize::from(number).wrapping_sub(1)) else {
        state.message = Some(match remedies.len() {
            0 => "there is no remedy to copy".to_owned(),
            1 => "there is one remedy: 1 copies it".to_owned(),
            several => format!("there are {several} remedies: 1 to {several} copy them"),
        });
        return Effect::Draw;
    };
    let text = super::text::clean(&remedy.change, false).into_owned();
    state.message = Some(format!("to the clipboard, where the terminal allows it: {text}"));
    Effect::Copy(text)
}
