//! All that the screens show: the snapshot and what the reader chose. Pure data, changed only by `update`.

mod arrange;
mod cursors;
mod regions;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::Size;

use super::charts::Charts;
use super::chooser::Chooser;
use super::column::{Columns, Widest};
use super::command::CommandLine;
use super::cursor::Cursor;
use super::grid::GridSort;
use super::group::Sums;
use super::history::{Closeup, History, Pulse};
use super::lists;
use super::preset::Presets;
use super::prompt::Prompt;
use super::theme::Theme;
use super::trail::{FindingKey, Place, Scope};
use super::tree::{self, Path};
use super::view::{By, View};
use crate::query::{Filter, Sort};
use crate::snapshot::playback::Playback;
use crate::snapshot::{Connection, Finding, Listener, Snapshot, Watch};

/// Which connection, whatever row it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    id: Box<str>,
    netns: u32,
}

impl Identity {
    pub(crate) fn of(connection: &Connection) -> Self {
        Self {
            id: connection.id.as_str().into(),
            netns: connection.netns,
        }
    }

    pub(crate) fn is(&self, connection: &Connection) -> bool {
        self.netns == connection.netns && *self.id == *connection.id
    }

    pub(crate) fn is_watched(&self, watch: &Watch) -> bool {
        self.netns == watch.netns && *self.id == *watch.id
    }

    /// Cookies as numbers, without reading them as such.
    pub(crate) fn order(&self) -> (u32, usize, &str) {
        (self.netns, self.id.len(), &self.id)
    }
}

/// How it stands with the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FeedState {
    /// Nothing came yet.
    Waiting,
    Live,
    /// The last snapshots could not be had.
    Lost {
        cause: String,
        tries: u32,
    },
}

/// The connection whose detail is open.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Arc<Connection>,
    /// It is in the snapshot no more.
    pub(crate) closed: bool,
    /// Its last minutes, for the charts.
    pub(crate) closeup: Closeup,
}

/// The finding that is open.
#[derive(Clone, Debug)]
pub(crate) struct OpenedFinding {
    pub(crate) finding: Finding,
    /// It is in the snapshot no more.
    pub(crate) gone: bool,
}

/// What the keys move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Main,
    /// The findings under the table, or the text over it.
    Aside,
}

/// The list that has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    Connections,
    Groups(By),
    Listeners,
    Findings,
    /// Text that scrolls.
    Text,
}

/// How the reader left the tree of one way of gathering.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) cursor: Cursor<Path>,
    pub(crate) unfolded: HashSet<Path>,
    pub(crate) sort: GridSort,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            cursor: Cursor::default(),
            unfolded: HashSet::new(),
            sort: tree::WORST_FIRST,
        }
    }
}

/// How the reader left a list.
#[derive(Clone, Debug)]
pub(crate) struct List<K> {
    pub(crate) cursor: Cursor<K>,
    pub(crate) sort: GridSort,
}

impl<K> List<K> {
    fn new(sort: GridSort) -> Self {
        Self {
            cursor: Cursor::default(),
            sort,
        }
    }
}

/// All that the screens show.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) theme: Theme,
    pub(crate) size: Size,
    pub(crate) interval: Duration,
    pub(crate) view: View,
    /// The connections the view is about.
    pub(crate) scope: Scope,
    /// The views behind it, the root first.
    pub(crate) trail: Vec<Place>,
    pub(crate) focus: Focus,
    pub(crate) feed: FeedState,
    /// The one on the screen.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// The newest, kept back while the screen is frozen.
    pub(crate) kept_back: Option<Arc<Snapshot>>,
    pub(crate) frozen: bool,
    pub(crate) sort: Sort,
    pub(crate) filter: Filter,
    pub(crate) sick_only: bool,
    pub(crate) prompt: Option<Prompt>,
    pub(crate) command: Option<CommandLine>,
    /// Indices of the connections shown into the snapshot's; only kept for a view that shows them.
    pub(crate) rows: Vec<u32>,
    /// Over these, where the view is about some of the connections only.
    pub(crate) sums: Sums,
    pub(crate) widest: Widest,
    /// The columns that the reader chose.
    pub(crate) chosen: Columns,
    /// Looks with a name.
    pub(crate) presets: Presets,
    /// Columns are being chosen.
    pub(crate) chooser: Option<Chooser>,
    pub(crate) table: Cursor<Identity>,
    /// One for each way of gathering.
    pub(crate) trees: [Tree; By::ALL.len()],
    /// Rows of the tree on the screen.
    pub(crate) branches: Vec<tree::Row>,
    pub(crate) listeners: List<String>,
    pub(crate) findings: List<FindingKey>,
    /// Indices of the listeners or findings on the screen into the snapshot's.
    pub(crate) listed: Vec<u32>,
    /// Widest text of the growing column of the list on the screen.
    pub(crate) widest_text: u16,
    pub(crate) opened: Option<Opened>,
    /// Whose samples the snapshots bring, as the feed was told last.
    pub(crate) watched: Option<Watch>,
    /// What of the detail is shown, and how.
    pub(crate) charts: Charts,
    pub(crate) opened_finding: Option<OpenedFinding>,
    /// First line of a text on the screen.
    pub(crate) scroll: u16,
    pub(crate) history: History,
    pub(crate) pulse: Pulse,
    /// First key of a sequence.
    pub(crate) prefix: Option<String>,
    /// Said once in the footer, until the next key.
    pub(crate) message: Option<String>,
    /// The recording that is played, if one is.
    pub(crate) playback: Option<Playback>,
    /// If the mouse is ours; without it the terminal's own selection works.
    pub(crate) mouse: bool,
}

impl State {
    /// Before the first snapshot.
    pub(crate) fn new(theme: Theme, size: Size, interval: Duration) -> Self {
        Self {
            theme,
            size,
            interval,
            view: View::Overview,
            scope: Scope::All,
            trail: Vec::new(),
            focus: Focus::Main,
            feed: FeedState::Waiting,
            snapshot: None,
            kept_back: None,
            frozen: false,
            sort: Sort::default(),
            filter: Filter::default(),
            sick_only: false,
            prompt: None,
            command: None,
            rows: Vec::new(),
            sums: Sums::default(),
            widest: Widest::default(),
            chosen: Columns::default(),
            presets: Presets::default(),
            chooser: None,
            table: Cursor::default(),
            trees: Default::default(),
            branches: Vec::new(),
            listeners: List::new(lists::FULLEST_FIRST),
            findings: List::new(GridSort::default()),
            listed: Vec::new(),
            widest_text: 0,
            opened: None,
            watched: None,
            charts: Charts::default(),
            opened_finding: None,
            scroll: 0,
            history: History::default(),
            pulse: Pulse::default(),
            prefix: None,
            message: None,
            playback: None,
            mouse: true,
        }
    }

    /// The connection in a row of the table.
    pub(crate) fn row(&self, row: usize) -> Option<&Arc<Connection>> {
        let index = *self.rows.get(row)?;
        self.snapshot.as_ref()?.connections.get(index as usize)
    }

    /// The connection to be watched closely: the one whose detail is open, while it lives.
    pub(crate) fn wants_watched(&self) -> Option<Watch> {
        let opened = self.opened.as_ref().filter(|opened| !opened.closed)?;
        Some(Watch {
            id: opened.connection.id.clone(),
            netns: opened.connection.netns,
        })
    }

    /// The finding in a row of the list of findings.
    pub(crate) fn finding(&self, row: usize) -> Option<&Finding> {
        let index = *self.listed.get(row)?;
        self.snapshot.as_ref()?.findings.get(index as usize)
    }

    /// The listener in a row of the list of listeners.
    pub(crate) fn listener(&self, row: usize) -> Option<&Listener> {
        let index = *self.listed.get(row)?;
        self.snapshot.as_ref()?.listeners.get(index as usize)
    }

    /// Connections in the snapshot.
    pub(crate) fn total(&self) -> usize {
        self.snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.connections.len())
    }

    /// If what is shown is old because the feed is gone.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.feed, FeedState::Lost { .. })
    }

    /// If the connections on the screen are not all there are because of where the view is.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.scope != Scope::All
    }

    /// The list that has the focus.
    pub(crate) fn listed(&self) -> Listed {
        match (self.view, self.focus) {
            (View::Overview, Focus::Aside) => Listed::Findings,
            (View::Finding, Focus::Aside) => Listed::Text,
            (View::Overview | View::Finding, Focus::Main) => Listed::Connections,
            (View::Groups(by), _) => Listed::Groups(by),
            (View::Listeners, _) => Listed::Listeners,
            (View::Findings, _) => Listed::Findings,
            (View::Host | View::Detail | View::Help, _) => Listed::Text,
        }
    }
}
