//! All that the screens show: the snapshot and what the reader chose. Pure data, changed only by `update`.

use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::Size;

use super::charts::Charts;
use super::chooser::Chooser;
use super::column::{Columns, Placed, Widest, plan};
use super::history::{Closeup, History, Pulse};
use super::layout::{self, Overview, Page};
use super::order::{self, Sort};
use super::preset::Presets;
use super::prompt::Prompt;
use super::theme::Theme;
use crate::query::Filter;
use crate::snapshot::playback::Playback;
use crate::snapshot::{Connection, Snapshot, Watch};

/// Which connection, whatever row it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Overview,
    Detail,
    /// Help, and what is behind it.
    Help(Behind),
}

/// What is behind the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    Overview,
    Detail,
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

/// All that the screens show.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) theme: Theme,
    pub(crate) size: Size,
    pub(crate) interval: Duration,
    pub(crate) view: View,
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
    /// Indices of the rows into the snapshot's connections.
    pub(crate) rows: Vec<u32>,
    pub(crate) widest: Widest,
    /// The columns that the reader chose.
    pub(crate) chosen: Columns,
    /// Looks with a name.
    pub(crate) presets: Presets,
    /// Columns are being chosen.
    pub(crate) chooser: Option<Chooser>,
    /// None while the reader has chosen no row: then the first one is, whatever it is.
    pub(crate) selected: Option<Identity>,
    /// Row of the selected connection.
    pub(crate) cursor: usize,
    /// First row on the screen.
    pub(crate) offset: usize,
    pub(crate) opened: Option<Opened>,
    /// Whose samples the snapshots bring, as the feed was told last.
    pub(crate) watched: Option<Watch>,
    /// What of the detail is shown, and how.
    pub(crate) charts: Charts,
    /// First line of detail or help on the screen.
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
            feed: FeedState::Waiting,
            snapshot: None,
            kept_back: None,
            frozen: false,
            sort: Sort::default(),
            filter: Filter::default(),
            sick_only: false,
            prompt: None,
            rows: Vec::new(),
            widest: Widest::default(),
            chosen: Columns::default(),
            presets: Presets::default(),
            chooser: None,
            selected: None,
            cursor: 0,
            offset: 0,
            opened: None,
            watched: None,
            charts: Charts::default(),
            scroll: 0,
            history: History::default(),
            pulse: Pulse::default(),
            prefix: None,
            message: None,
            playback: None,
            mouse: true,
        }
    }

    /// The connection in a row.
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

    /// Regions of the overview.
    pub(crate) fn overview(&self) -> Overview {
        layout::overview(self.size, super::notice::notices(self).len(), self.footer_lines())
    }

    /// Regions of the other views.
    pub(crate) fn page(&self) -> Page {
        layout::page(self.size, self.footer_lines())
    }

    fn footer_lines(&self) -> u16 {
        if self.prompt.is_some() { 3 } else { 1 }
    }

    /// Columns of the table.
    pub(crate) fn columns(&self) -> Vec<Placed> {
        plan(self.size.width, self.widest, &self.chosen)
    }

    /// Rows on the screen.
    pub(crate) fn page_rows(&self) -> usize {
        usize::from(self.overview().rows.height).max(1)
    }

    /// Filters and sorts anew; the selection stays with its connection.
    pub(crate) fn rearrange(&mut self) {
        let Some(snapshot) = &self.snapshot else { return };
        self.rows = order::arrange(snapshot, &self.filter, self.sick_only, self.sort);
        self.follow();
    }

    /// Finds the row of the selected connection. Gone, the one in its row takes its place.
    fn follow(&mut self) {
        if self.selected.is_none() {
            self.unselect();
            return;
        }
        let found = self.selected.as_ref().and_then(|selected| {
            (0..self.rows.len()).find(|row| self.row(*row).is_some_and(|connection| selected.is(connection)))
        });
        match found {
            Some(row) => self.cursor = row,
            None => self.select(self.cursor),
        }
        self.show_cursor();
    }

    /// Selects a row, or the last one before it.
    pub(crate) fn select(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        self.selected = self.row(self.cursor).map(|connection| Identity::of(connection));
        self.show_cursor();
    }

    /// Stays at the top, whatever comes there.
    pub(crate) fn unselect(&mut self) {
        (self.selected, self.cursor) = (None, 0);
        self.show_cursor();
    }

    /// Scrolls as little as needed for the selected row to be on the screen.
    pub(crate) fn show_cursor(&mut self) {
        let page = self.page_rows();
        let last = self.rows.len().saturating_sub(page);
        self.offset = self
            .offset
            .clamp((self.cursor + 1).saturating_sub(page), self.cursor)
            .min(last);
    }
}
