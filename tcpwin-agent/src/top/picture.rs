//! The screen as a picture: what `tcpwin top` would show of some snapshots after some keys, as SVG.

mod glyph;
mod svg;
mod typed;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;

use crate::snapshot::Snapshot;

use super::action::Action;
use super::screen;
use super::state::State;
use super::theme::{ColourMode, Theme};
use super::update::{key_action, update};

pub use self::typed::UnknownKey;

/// Size of a screen, `150x40`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    columns: u16,
    rows: u16,
}

impl Default for PictureSize {
    fn default() -> Self {
        Self {
            columns: 150,
            rows: 40,
        }
    }
}

impl fmt::Display for PictureSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

/// Not a size, or not one of a screen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no size of a screen: write 150x40, at most 500x500")]
pub struct BadSize(String);

impl FromStr for PictureSize {
    type Err = BadSize;

    fn from_str(text: &str) -> Result<Self, BadSize> {
        let size = text.split_once('x').and_then(|(columns, rows)| {
            Some(Self {
                columns: columns.parse().ok()?,
                rows: rows.parse().ok()?,
            })
        });
        size.filter(|size| (1..=500).contains(&size.columns) && (1..=500).contains(&size.rows))
            .ok_or_else(|| BadSize(text.to_owned()))
    }
}

/// A screen that nobody sits before.
#[derive(Debug)]
pub struct Picture(State);

impl Picture {
    /// Of this size, in the palette that colour-blind people can tell apart.
    #[must_use]
    pub fn new(size: PictureSize) -> Self {
        let theme = Theme::new(ColourMode::Full, false, |_| None);
        let size = Size::new(size.columns, size.rows);
        Self(State::new(theme, size, Duration::from_secs(1)))
    }

    /// The next snapshot.
    pub fn take(&mut self, snapshot: Arc<Snapshot>) {
        update(&mut self.0, Action::Snapshot(snapshot));
    }

    /// Keys as they are typed; those without a sign of their own by name: `/nginx<Enter><Enter>`.
    ///
    /// # Errors
    /// When there is no key of that name. Those before it were typed.
    pub fn press(&mut self, keys: &str) -> Result<(), UnknownKey> {
        typed::keys(keys).try_for_each(|key| {
            let action = key_action(&self.0, key?);
            update(&mut self.0, action);
            Ok(())
        })
    }

    /// The screen as it is now.
    #[must_use]
    pub fn svg(&self) -> String {
        let backend = TestBackend::new(self.0.size.width, self.0.size.height);
        let Ok(mut terminal) = Terminal::new(backend);
        let Ok(drawn) = terminal.draw(|frame| screen::render(frame, &self.0));
        svg::of(drawn.buffer)
    }
}
