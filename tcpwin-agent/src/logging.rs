//! The log: standard error, text or JSON, its level changeable while running.

use std::io::IsTerminal as _;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, reload};

use crate::config::{Log, LogFormat, LogLevel};

/// Changes the level of the running log.
#[derive(Clone, Debug)]
pub struct LevelHandle(reload::Handle<Targets, Registry>);

/// Starts the log of this process. Only the first call has an effect.
pub fn start(log: Log) -> LevelHandle {
    let (filter, handle) = reload::Layer::new(targets(log.level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    let lines = match log.format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // A second start, as in tests, keeps the first log.
    let _ = Registry::default().with(filter).with(lines).try_init();
    LevelHandle(handle)
}

impl LevelHandle {
    /// Logs at `level` from now on.
    pub fn set(&self, level: LogLevel) {
        // Fails only when the log is gone, and then there is nothing to change.
        let _ = self.0.reload(targets(level));
    }
}

/// Our own lines at the level, those of libraries only from warnings up.
fn targets(level: LogLevel) -> Targets {
    let ours = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    Targets::new()
        .with_default(ours.min(LevelFilter::WARN))
        .with_target("tcpwin", ours)
}
