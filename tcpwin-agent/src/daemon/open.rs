//! Which source runs, and why not a better one.

use crate::config::{Config, SourceChoice};
use crate::source::Source;

/// A source that is ready.
#[derive(Debug)]
pub struct Opened {
    /// It.
    pub source: Box<dyn Source>,
    /// Why not a better one; `None` when the best runs.
    pub reason: Option<String>,
}

/// Why there is no source.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A privilege is missing.
    #[error("{0}")]
    Privilege(String),
    /// The kernel cannot.
    #[error("{0}")]
    Kernel(String),
}

/// Opens the source that is asked for, or the best one there is.
///
/// # Errors
/// When the one asked for cannot run, or none can.
pub fn open_source(choice: SourceChoice, config: &Config) -> Result<Opened, OpenError> {
    // MERGE: `kernel::choose(choice)` decides, then construct by its kind; map its error to the two above.
    let _ = config;
    Err(OpenError::Kernel(format!(
        "no source is built in yet ({choice:?})"
    )))
}
