//! What the init system is told (sd_notify), and its watchdog.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::watch;

use crate::snapshot::Snapshot;
use crate::snapshot::feed::Handle;
use std::sync::Arc;

/// The service as systemd sees it; without systemd everything here does nothing.
#[derive(Debug)]
pub(super) struct Service {
    handle: Handle,
    ticks: watch::Receiver<Arc<Snapshot>>,
    ready: bool,
    watchdog: Option<Duration>,
    heartbeat: u64,
}

impl Service {
    pub(super) fn from_environment(handle: Handle) -> Self {
        Self {
            ticks: handle.watch(),
            handle,
            ready: false,
            // Half the period, as sd_watchdog_enabled(3) advises.
            watchdog: sd_notify::watchdog_enabled().map(|period| period / 2),
            heartbeat: 0,
        }
    }

    /// Until there is something to tell, and tells it. Cancel-safe.
    pub(super) async fn attend(&mut self) {
        if !self.ready {
            if self.ticks.wait_for(|snapshot| snapshot.tick > 0).await.is_ok() {
                self.ready = true;
                self.ready();
            } else {
                std::future::pending::<()>().await;
            }
            return;
        }
        let Some(every) = self.watchdog else {
            return std::future::pending().await;
        };
        tokio::time::sleep(every).await;
        // A pipeline that hangs must not be kept alive by the thread that does not.
        let heartbeat = self.handle.counters().heartbeat();
        if heartbeat != self.heartbeat {
            self.heartbeat = heartbeat;
            tell(&[NotifyState::Watchdog]);
        }
    }

    pub(super) fn ready(&self) {
        let source = &self.handle.summary().health.source;
        tell(&[
            NotifyState::Ready,
            NotifyState::Status(&format!("watching, source {source}")),
        ]);
    }

    pub(super) fn reloading(&self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => tell(&[NotifyState::Reloading, now]),
            Err(error) => tracing::warn!("sd_notify: {error}"),
        }
    }

    pub(super) fn stopping(&self) {
        tell(&[NotifyState::Stopping]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!("sd_notify: {error}");
    }
}
