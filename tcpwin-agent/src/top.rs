//! `tcpwin top`: the live screen.
//!
//! Threads bring in events (`events`): snapshots from a [`Feed`], keys and mouse, signals. Each becomes an `Action`
//! (`keys` has the one table), `update` changes the `State`, and the regions under `screen` draw it. Screens see
//! snapshots and nothing of sources; ratatui and crossterm appear in this room only.

mod action;
mod charts;
mod chooser;
mod column;
mod command;
mod cursor;
mod events;
mod grid;
mod group;
mod history;
mod keys;
mod layout;
mod lists;
mod notice;
mod order;
mod picture;
mod preset;
mod prompt;
mod screen;
mod settings;
mod state;
mod tabs;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod trail;
mod tree;
mod update;
mod view;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossterm::event::Event as TerminalEvent;

pub use self::column::{Column, Columns, ColumnsError, UnknownColumn};

pub use self::picture::{BadSize, Picture, PictureSize, UnknownKey};
pub use self::preset::Preset;
pub use self::settings::{Palette, Settings, SettingsError, UnknownPalette, WriteError};
pub use self::theme::ColourMode;
use crate::query::{Filter, Sort};
use crate::snapshot::Feed;
use crate::snapshot::playback::Playback;

use self::action::{Action, Effect};
use self::events::{Event, Events};
use self::state::State;
use self::terminal::Screen;
use self::theme::Theme;
use self::update::{key_action, mouse_action, update};

/// The shortest interval.
const SHORTEST: Duration = Duration::from_millis(100);

/// How the screen starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time between snapshots, 100 ms at least.
    pub interval: Duration,
    /// Colours; NO_COLOR counts unless a mode is asked for.
    pub colour: ColourMode,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// Order of the table.
    pub sort: Sort,
    /// Columns of the table; by default those that fit the screen.
    pub columns: Columns,
    /// What is shown.
    pub filter: Filter,
    /// Only connections held by a window, loss or this host.
    pub sick_only: bool,
    /// Steers the recording that is played, if one is.
    pub playback: Option<Playback>,
    /// Colours, where there are any.
    pub palette: Palette,
    /// Looks with a name.
    pub presets: Vec<Preset>,
    /// Where columns are written to.
    pub settings_file: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            colour: ColourMode::Auto,
            ascii: false,
            sort: Sort::default(),
            columns: Columns::default(),
            filter: Filter::default(),
            sick_only: false,
            playback: None,
            palette: Palette::default(),
            presets: Vec::new(),
            settings_file: None,
        }
    }
}

/// Why the screen could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TopError {
    /// Output goes to a file or pipe.
    #[error(
        "tcpwin top needs a terminal; for output to a file or pipe use `tcpwin trace`, or /api/v1/connections of the agent"
    )]
    NoTerminal,
    /// The terminal failed.
    #[error("{operation} the terminal: {cause}")]
    Terminal {
        /// What was being done.
        operation: &'static str,
        /// What the kernel said.
        cause: io::Error,
    },
    /// A thread of the screen could not be started.
    #[error("starting the threads of the screen: {0}")]
    Threads(io::Error),
    /// A thread of the screen panicked; its message is on standard error.
    #[error("a thread of the screen died; this is a defect of tcpwin")]
    Died,
}

impl TopError {
    fn terminal(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Terminal { operation, cause }
    }
}

/// Shows the screen until the reader quits, a signal ends it or the terminal is lost; blocks. The terminal is given back
/// in every case, the feed is dropped before this returns (unless it hangs), and SIGTERM, SIGHUP and SIGINT end the
/// screen, not the process.
///
/// # Errors
/// Without a terminal, or when it fails.
pub fn run(feed: Box<dyn Feed>, options: Options) -> Result<(), TopError> {
    if !io::stdout().is_terminal() {
        return Err(TopError::NoTerminal);
    }
    let theme = Theme::new(options.colour, options.ascii, |name| std::env::var(name).ok());
    let theme = theme.with_palette(options.palette);
    let mut screen = Screen::take(true).map_err(TopError::terminal("taking"))?;
    let size = screen.size().map_err(TopError::terminal("measuring"))?;
    let interval = options.interval.max(SHORTEST);
    let mut state = State::new(theme, size, interval);
    state.sort = options.sort;
    state.chosen = options.columns;
    state.presets.all = options.presets;
    state.filter = options.filter;
    state.sick_only = options.sick_only;
    state.playback = options.playback;
    let events = Events::start(feed, interval).map_err(TopError::Threads)?;
    screen.draw(&state).map_err(TopError::terminal("drawing on"))?;
    let mut watched = None;
    while let Ok(first) = events.receiver.recv() {
        let mut draw = false;
        // All that has come: a burst of keys is drawn once.
        for event in std::iter::once(first).chain(events.receiver.try_iter()) {
            let effects = match event {
                Event::End => return Ok(()),
                Event::Died => return Err(TopError::Died),
                Event::TerminalLost(cause) => {
                    return Err(TopError::Terminal {
                        operation: "reading",
                        cause,
                    });
                }
                Event::Continued => {
                    screen.retake().map_err(TopError::terminal("taking back"))?;
                    vec![Effect::Redraw]
                }
                event => actions(&state, event)
                    .into_iter()
                    .map(|action| update(&mut state, action))
                    .collect(),
            };
            for effect in effects {
                match effect {
                    Effect::None => continue,
                    Effect::Draw => {}
                    Effect::Quit => return Ok(()),
                    Effect::Redraw => screen.clear().map_err(TopError::terminal("clearing"))?,
                    Effect::Interval => events.pace(state.interval),
                    Effect::Mouse => screen
                        .mouse(state.mouse)
                        .map_err(TopError::terminal("writing to"))?,
                    Effect::WriteColumns(columns) => {
                        let said = write_columns(options.settings_file.as_deref(), &columns);
                        update(&mut state, Action::Said(said));
                    }
                    Effect::Copy(text) => screen.copy(&text).map_err(TopError::terminal("writing to"))?,
                    Effect::Suspend => {
                        screen.suspend().map_err(TopError::terminal("taking back"))?;
                        let size = screen.size().map_err(TopError::terminal("measuring"))?;
                        update(&mut state, Action::Resize(size.width, size.height));
                    }
                }
                draw = true;
            }
        }
        // However a detail was opened or left.
        let wanted = state.wants_watched();
        if wanted != watched {
            events.watch(wanted.clone());
            watched = wanted;
        }
        if draw {
            screen.draw(&state).map_err(TopError::terminal("drawing on"))?;
        }
    }
    Err(TopError::Died)
}

/// Writes the columns; what to say of it.
fn write_columns(path: Option<&Path>, columns: &Columns) -> String {
    let Some(path) = path else {
        return "there is no home directory to keep settings in: give --top.config.file".to_owned();
    };
    match settings::write_columns(path, columns) {
        Ok(()) => format!("columns written to {}", path.display()),
        Err(error) => error.to_string(),
    }
}

/// What an event means.
fn actions(state: &State, event: Event) -> Vec<Action> {
    match event {
        Event::Feed(Ok(snapshot)) => vec![Action::Snapshot(snapshot)],
        Event::Watching(connection) => vec![Action::Watching(connection)],
        Event::Feed(Err(error)) => vec![Action::FeedLost(error.to_string())],
        Event::Terminal(TerminalEvent::Key(key)) => vec![key_action(state, key)],
        Event::Terminal(TerminalEvent::Mouse(mouse)) => vec![mouse_action(mouse)],
        Event::Terminal(TerminalEvent::Resize(width, height)) => vec![Action::Resize(width, height)],
        Event::Terminal(TerminalEvent::Paste(text)) => vec![Action::FilterPaste(text)],
        _ => Vec::new(),
    }
}
