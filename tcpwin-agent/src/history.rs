//! The flight recorder: what held connections in the last hours, minute by minute, on disk.
//!
//! One SQLite file an hour (UTC), so that what is too old goes by deleting files, and what an agent leaves behind when it
//! dies can be read by anybody. Each minute has the connections that were held, the costliest first, as many as fit into the
//! minute's share of the bound; the others are told by program and limit, and how many were cut is counted.

mod ask;
mod schema;
mod show;
mod store;
#[cfg(test)]
mod tests;
mod when;

pub use ask::{Answer, By, Line, Question, ask};
pub use show::text;
pub use store::{Limits, Minute, Store, Writer};
pub use when::{NoTime, moment};

use std::path::PathBuf;

/// Why the history cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder cannot be used.
    #[error("cannot use the history in {}: {cause}", .path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        cause: std::io::Error,
    },
    /// A file of it cannot be used.
    #[error("cannot use {}: {cause}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What SQLite said.
        cause: rusqlite::Error,
    },
    /// A file is of another version.
    #[error("{} is a history of format {found}, this tcpwin knows format {} only: use the tcpwin that made it, or delete it", .path.display(), schema::VERSION)]
    Version {
        /// Which.
        path: PathBuf,
        /// Of which.
        found: i64,
    },
}
