//! Which source runs, and why not a better one.

use crate::config::{Config, SourceChoice};
use crate::source::Source;
use crate::source::ebpf::{EbpfSource, LoadOptions};
use crate::source::sock_diag::SockDiag;

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
    let now = super::monotonic();
    let probes = |reason: fn(&str) -> String| -> Result<Opened, OpenError> {
        let slots = u32::try_from(config.max_connections.count()).unwrap_or(u32::MAX);
        match EbpfSource::open(&LoadOptions { slots }, now) {
            Ok(source) => Ok(Opened {
                source: Box::new(source),
                reason: None,
            }),
            Err(error) => Err(OpenError::Kernel(reason(&error.to_string()))),
        }
    };
    let netlink = |reason: Option<String>| -> Result<Opened, OpenError> {
        let source = SockDiag::new().map_err(|error| OpenError::Kernel(error.to_string()))?;
        Ok(Opened {
            source: Box::new(source),
            reason,
        })
    };
    match choice {
        SourceChoice::Ebpf => probes(|cause| format!("source ebpf: {cause}")),
        SourceChoice::SockDiag => netlink(Some("asked for by --source".to_owned())),
        SourceChoice::Auto => probes(str::to_owned).or_else(|error| netlink(Some(error.to_string()))),
    }
}
