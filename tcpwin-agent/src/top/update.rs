//! The only place where the state changes. No clock, no terminal.

mod navigate;
mod snapshot;
mod sort;

use std::time::Duration;

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::action::{Action, Effect, Motion, Play};
use super::chooser::{self, Choose};
use super::command::CommandLine;
use super::cursor::moved;
use super::keys::{self, Mode};
use super::preset;
use super::prompt::{Edit, Prompt};
use super::screen;
use super::state::{FeedState, Focus, Listed, State};
use super::tabs;
use super::view::View;
use crate::query::Filter;

/// Intervals that `+` and `-` step through, milliseconds.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/// What a key means now.
pub(crate) fn key_action(state: &State, key: KeyEvent) -> Action {
    let mode = match state.view {
        _ if state.prompt.is_some() => Mode::Prompt,
        _ if state.chooser.is_some() => Mode::Chooser,
        _ if state.command.is_some() => Mode::Command,
        View::Overview => Mode::Overview,
        View::Groups(_) => Mode::Tree,
        View::Listeners | View::Findings => Mode::List,
        View::Finding => Mode::Finding,
        View::Host => Mode::Host,
        View::Detail => Mode::Detail,
        View::Help => Mode::Help,
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
        Action::Snapshot(snapshot) => snapshot::take(state, snapshot),
        Action::FeedLost(cause) => {
            let tries = if let FeedState::Lost { tries, .. } = state.feed {
                tries.saturating_add(1)
            } else {
                1
            };
            state.feed = FeedState::Lost { cause, tries };
            state.follow();
        }
        Action::Resize(width, height) => {
            state.size.width = width;
            state.size.height = height;
            state.follow();
            scroll_to(state, usize::from(state.scroll));
        }
        Action::Move(Motion::WheelUp) if state.chooser.is_some() => chooser::choose(state, Choose::Up),
        Action::Move(Motion::WheelDown) if state.chooser.is_some() => chooser::choose(state, Choose::Down),
        Action::Move(motion) => go(state, motion),
        Action::Click(x, y) => click(state, Position { x, y }),
        Action::Open => navigate::open(state),
        Action::Back => navigate::back(state),
        Action::Leave if state.trail.is_empty() => return Effect::Quit,
        Action::Leave => navigate::back(state),
        Action::Escape => navigate::escape(state),
        Action::Go(view) => navigate::go(state, view),
        Action::Unfold => navigate::unfold(state),
        Action::Fold => navigate::fold(state),
        Action::Focus => navigate::focus(state),
        Action::Help => navigate::help(state),
        Action::SortNext => sort::next(state),
        Action::SortLeft => sort::beside(state, -1),
        Action::SortRight => sort::beside(state, 1),
        Action::SortInvert => sort::inverted(state),
        Action::CommandStart => {
            state.command = Some(CommandLine::default());
            state.follow();
        }
        Action::CommandEdit(edit) => {
            if let Some(command) = &mut state.command {
                command.edit(edit);
            }
        }
        Action::CommandComplete(forward) => {
            if let Some(command) = &mut state.command {
                command.complete(forward);
            }
        }
        Action::CommandCancel => {
            state.command = None;
            state.follow();
        }
        Action::CommandAccept => {
            let action = state.command.as_ref().and_then(CommandLine::action);
            if let Some(action) = action {
                state.command = None;
                return update(state, action);
            }
        }
        Action::FilterStart => {
            navigate::to_connections(state);
            let mut prompt = Prompt::new(state.filter.clone());
            prompt.look(state.snapshot.as_deref());
            state.prompt = Some(prompt);
            state.follow();
        }
        Action::FilterEdit(edit) => edit_filter(state, edit),
        Action::FilterComplete => complete(state),
        Action::FilterPaste(text) => {
            if let Some(prompt) = &mut state.prompt {
                let so_far = prompt.paste(&text);
                prompt.look(state.snapshot.as_deref());
                filter(state, so_far);
            } else if let Some(command) = &mut state.command {
                text.chars().for_each(|c| command.edit(Edit::Insert(c)));
            }
        }
        Action::FilterAccept => {
            if state.prompt.as_ref().is_some_and(|prompt| prompt.error.is_none()) {
                state.prompt = None;
                state.follow();
            }
        }
        Action::FilterCancel => {
            if let Some(prompt) = state.prompt.take() {
                filter(state, prompt.before);
            }
        }
        Action::Play(play) => effect = steer(state, play),
        Action::PresetNext => preset::next(state),
        Action::Preset(name) => preset::named(state, &name),
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
                snapshot::show(state, snapshot);
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

fn go(state: &mut State, motion: Motion) {
    match state.listed() {
        Listed::Connections => state.with_table(|cursor, rows| cursor.go(motion, rows)),
        Listed::Groups(by) => state.with_tree(by, |cursor, rows| cursor.go(motion, rows)),
        Listed::Listeners => state.with_listeners(|cursor, rows| cursor.go(motion, rows)),
        Listed::Findings => state.with_findings(|cursor, rows| cursor.go(motion, rows)),
        Listed::Text => {
            let page = state.page_lines().max(1);
            scroll_to(state, moved(usize::from(state.scroll), motion, page));
        }
    }
}

/// Scrolls a text, never past its end.
fn scroll_to(state: &mut State, line: usize) {
    let last = screen::lines(state).saturating_sub(state.page_lines());
    state.scroll = u16::try_from(line.min(last)).unwrap_or(u16::MAX);
}

fn click(state: &mut State, at: Position) {
    let is_writing = state.prompt.is_some() || state.command.is_some() || state.chooser.is_some();
    if is_writing || matches!(state.view, View::Detail | View::Help) {
        return;
    }
    let regions = state.overview();
    if regions.tabs.contains(at) {
        match tabs::at(state, at.x) {
            Some(view) => navigate::go(state, view),
            None => navigate::back(state),
        }
    } else if regions.head.contains(at) {
        sort::at(state, at.x);
    } else if regions.rows.contains(at) {
        state.focus = Focus::Main;
        click_row(state, usize::from(at.y - regions.rows.y));
    } else if state.view == View::Overview && regions.findings.contains(at) && at.y > regions.findings.y {
        state.focus = Focus::Aside;
        click_row(state, usize::from(at.y - regions.findings.y - 1));
    } else if regions.text.contains(at) {
        state.focus = Focus::Aside;
    }
}

/// Selects the row so far below the first on the screen; opens it if it is selected already.
fn click_row(state: &mut State, below: usize) {
    let (selected, offset, len) = state.place();
    let row = offset + below;
    if row < len {
        state.select(row);
        if row == selected {
            navigate::open(state);
        }
    }
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
        state.follow();
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
    let remedies = match (&state.opened, &state.opened_finding) {
        (Some(opened), _) => &*opened.connection.remedies,
        (None, Some(opened)) => &*opened.finding.remedies,
        (None, None) => &[],
    };
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
