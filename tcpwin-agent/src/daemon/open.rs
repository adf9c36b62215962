//! Which source runs, and why not a better one.

use crate::config::{Config, SourceChoice};
use crate::kernel::{self, Choice, KernelError, LackKind, SourceKind};
use crate::source::ebpf::{EbpfSource, LoadOptions};
use crate::source::sock_diag::SockDiag;
use crate::source::{Source, whole};

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
    /// The kernel or the privileges do not allow it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// It should run here, but did not start.
    #[error("source {kind} did not start: {cause}; `--source auto` takes another where one works")]
    Start {
        /// Which.
        kind: SourceKind,
        /// What was said.
        cause: String,
    },
}

impl OpenError {
    /// If starting tcpwin with more privileges would help.
    #[must_use]
    pub fn is_privilege(&self) -> bool {
        matches!(self, Self::Kernel(error) if error.kind() == LackKind::Privilege)
    }
}

/// Opens the source that is asked for, or the best one there is.
///
/// # Errors
/// When the one asked for cannot run, or none can.
pub fn open_source(choice: SourceChoice, config: &Config) -> Result<Opened, OpenError> {
    let requested = match choice {
        SourceChoice::Auto => None,
        SourceChoice::Ebpf => Some(SourceKind::Ebpf),
        SourceChoice::SockDiag => Some(SourceKind::SockDiag),
    };
    let Choice { kind, reason } = kernel::choose(requested)?;
    match start(kind, config) {
        Ok(source) => Ok(Opened { source, reason }),
        // What the look at the kernel did not foresee, a verifier's refusal say, is no reason to see nothing.
        Err(OpenError::Start { cause, .. }) if kind == SourceKind::Ebpf && requested.is_none() => {
            Ok(Opened {
                source: start(SourceKind::SockDiag, config)?,
                reason: Some(format!("the probes did not start: {cause}")),
            })
        }
        Err(error) => Err(error),
    }
}

fn start(kind: SourceKind, config: &Config) -> Result<Box<dyn Source>, OpenError> {
    let failed = |cause: String| OpenError::Start { kind, cause };
    match kind {
        SourceKind::Ebpf => {
            let slots = u32::try_from(config.max_connections.count()).unwrap_or(u32::MAX);
            let source = EbpfSource::open(&LoadOptions { slots });
            Ok(Box::new(source.map_err(|error| failed(whole(&error)))?))
        }
        SourceKind::SockDiag => {
            let source = SockDiag::new();
            Ok(Box::new(source.map_err(|error| failed(whole(&error)))?))
        }
    }
}
