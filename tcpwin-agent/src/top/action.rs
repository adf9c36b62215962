//! Everything that can happen to the screen.

use std::sync::Arc;

use super::chooser::Choose;
use super::column::Columns;
use super::prompt::Edit;
use super::view::View;
use crate::snapshot::playback::Jump;
use crate::snapshot::{Snapshot, Watch};

/// Something happened, or the reader wants something.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A snapshot came.
    Snapshot(Arc<Snapshot>),
    /// A snapshot could not be had, and why.
    FeedLost(String),
    /// Whose samples the snapshots from now on bring.
    Watching(Option<Watch>),
    /// Columns and lines of the terminal.
    Resize(u16, u16),
    Move(Motion),
    /// Column and line of the mouse.
    Click(u16, u16),
    /// Opens what is selected.
    Open,
    /// One step out.
    Back,
    /// One step out, or the end.
    Leave,
    /// Lets go of the filter, then of the view, then of the selection.
    Escape,
    /// To a view of its own.
    Go(View),
    /// Unfolds a group, or goes into it.
    Unfold,
    /// Folds a group, or goes to the one around.
    Fold,
    /// The keys move in the other part of the view.
    Focus,
    Help,
    CommandStart,
    CommandAccept,
    CommandCancel,
    CommandEdit(Edit),
    /// The next candidate, or the one before.
    CommandComplete(bool),
    SortNext,
    SortLeft,
    SortRight,
    SortInvert,
    FilterStart,
    FilterAccept,
    FilterCancel,
    FilterEdit(Edit),
    /// Puts the next of what may be written into the filter.
    FilterComplete,
    /// Text from the clipboard, whole.
    FilterPaste(String),
    /// Puts the next preset on.
    PresetNext,
    /// Puts the preset of this name on.
    Preset(String),
    /// Something that was asked for is done, or why not.
    Said(String),
    /// Opens the list of columns.
    ChooserStart,
    Choose(Choose),
    /// Writes the columns to the settings file.
    WriteColumns,
    SickOnly,
    Freeze,
    Slower,
    Faster,
    /// Steers the recording that is played.
    Play(Play),
    /// Puts the first remedy on the terminal's clipboard.
    Copy,
    /// Puts the remedy of this number there.
    CopyNumber(u8),
    /// The charts show less time, more closely.
    ZoomIn,
    /// The charts show more time.
    ZoomOut,
    /// The next chart alone, in the end all again.
    ChartNext,
    /// The other page of the detail.
    DetailPage,
    Mouse,
    Redraw,
    Suspend,
    Quit,
    /// The first key of a sequence.
    Prefix(String),
    /// A key that means nothing here.
    Nothing,
}

/// What can be done with a recording's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Play {
    Pause,
    Faster,
    Slower,
    Jump(Jump),
}

/// Movement in rows or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Up,
    Down,
    PageUp,
    PageDown,
    HalfUp,
    HalfDown,
    First,
    Last,
    WheelUp,
    WheelDown,
}

/// What the loop has to do after an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Nothing changed.
    None,
    /// The screen changed.
    Draw,
    /// The screen may be spoilt: draw all of it.
    Redraw,
    /// The interval of the feed changed.
    Interval,
    /// The mouse was taken or given back.
    Mouse,
    /// Columns for the settings file.
    WriteColumns(Columns),
    /// Text for the clipboard.
    Copy(String),
    Suspend,
    Quit,
}
