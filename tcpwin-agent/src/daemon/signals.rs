//! What the operator says by signal.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP: read the configuration again.
#[derive(Debug)]
pub struct Hangup(Option<Signal>);

impl Hangup {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the handler cannot be installed.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(Some(signal(SignalKind::hangup())?)))
    }

    /// Never comes.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// The next one. Cancel-safe.
    pub async fn next(&mut self) {
        let came = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if came.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Ready at the first SIGINT or SIGTERM.
///
/// # Errors
/// When a handler cannot be installed.
pub fn interrupted() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        let name = tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        };
        tracing::info!("{name}: ending");
    })
}
