//! Which source runs, and why not a better one.

use crate::config::{Config, SourceChoice};
use crate::source::ebpf::{EbpfSource, LoadError, LoadOptions};
use crate::source::sock_diag::SockDiag;
use crate::source::{Source, SourceError, kernel_clock};

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
    // MERGE: `kernel::choose(choice)` decides and gives the reason; what it chose is constructed by the two below.
    match choice {
        SourceChoice::Ebpf => open_ebpf(config)
            .map(best)
            .map_err(|cause| refused(format!("--source ebpf: {}", whole(&cause)))),
        SourceChoice::SockDiag => open_sock_diag()
            .map(|source| Opened {
                source,
                reason: Some("asked for by --source".to_owned()),
            })
            .map_err(|cause| refused(format!("--source sock_diag: {}", whole(&cause)))),
        SourceChoice::Auto => match open_ebpf(config) {
            Ok(source) => Ok(best(source)),
            Err(ebpf) => match open_sock_diag() {
                Ok(source) => Ok(Opened {
                    source,
                    reason: Some(format!("kernel probes: {}", whole(&ebpf))),
                }),
                Err(sock_diag) => Err(refused(format!(
                    "no source of socket data works here: kernel probes: {}; sock_diag: {}",
                    whole(&ebpf),
                    whole(&sock_diag)
                ))),
            },
        },
    }
}

fn best(source: Box<dyn Source>) -> Opened {
    Opened { source, reason: None }
}

fn open_ebpf(config: &Config) -> Result<Box<dyn Source>, LoadError> {
    let slots = u32::try_from(config.max_connections.count()).unwrap_or(u32::MAX);
    Ok(Box::new(EbpfSource::open(
        &LoadOptions { slots },
        kernel_clock(),
    )?))
}

fn open_sock_diag() -> Result<Box<dyn Source>, SourceError> {
    Ok(Box::new(SockDiag::new()?))
}

/// The whole error with its causes, each said once.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// Without root it is the privilege that is missing, as far as can be told here.
fn refused(why: String) -> OpenError {
    if rustix::process::geteuid().is_root() {
        OpenError::Kernel(why)
    } else {
        OpenError::Privilege(format!("{why}; run as root, or with CAP_BPF and CAP_PERFMON"))
    }
}
