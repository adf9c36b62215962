//! The one table of connections: bounded, written by the daemon's loop alone.

use std::sync::Arc;

use crate::snapshot::{Connection, Summary, TraceEvent};
use crate::source::Update;
use crate::units::Instant;

/// Bounds of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableConfig {
    /// Most connections kept; beyond it the longest idle ones go, and are counted.
    pub capacity: usize,
}

/// All connections that are open now.
#[derive(Debug)]
pub struct Table {
    config: TableConfig,
    summary: Summary,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(config: TableConfig) -> Self {
        Self {
            config,
            summary: Summary::default(),
        }
    }

    /// Folds one update in. What is worth telling at once is pushed to `events`.
    pub fn apply(&mut self, update: Update, events: &mut Vec<TraceEvent>) {
        let _ = (update, events, self.config);
    }

    /// Ends the interval of every connection that changed: classifies it and adds it to the summary.
    pub fn tick(&mut self, now: Instant, events: &mut Vec<TraceEvent>) {
        let _ = (now, events);
    }

    /// Connections open now.
    #[must_use]
    pub fn len(&self) -> usize {
        0
    }

    /// If there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries thrown out to stay within the bound.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        0
    }

    /// Counts over all connections.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Every connection as exits show it; built when asked for, since most ticks nobody looks.
    #[must_use]
    pub fn connections(&self, now: Instant) -> Vec<Arc<Connection>> {
        let _ = now;
        Vec::new()
    }
}
