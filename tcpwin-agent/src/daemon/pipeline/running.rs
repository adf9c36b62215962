//! A pipeline on its thread.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{oneshot, watch};

use crate::snapshot::Snapshot;
use crate::snapshot::feed::Handle;

/// A pipeline on its thread. Dropped, it ends by itself soon after.
#[derive(Debug)]
pub struct Running {
    pub(super) handle: Handle,
    pub(super) ended: watch::Receiver<Arc<Snapshot>>,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) thread: JoinHandle<()>,
}

impl Running {
    /// The exits' end.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ready when the loop has ended by itself. Cancel-safe.
    pub async fn ended(&self) {
        let mut ticks = self.ended.clone();
        while ticks.changed().await.is_ok() {}
    }

    /// Ends the loop and drops the source.
    ///
    /// # Errors
    /// When the thread panicked.
    pub fn stop(self) -> anyhow::Result<()> {
        // Fails only when the loop has ended already.
        let _ = self.stop.send(());
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("the pipeline's thread panicked; its message is above"))
    }
}
