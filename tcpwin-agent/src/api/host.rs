//! What is true of the host beside its connections.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::snapshot::{HostFacts, Listener};

use super::{App, Refusal, connections};

/// The answer of `/api/v1/listeners`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listeners {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// In every network namespace that can be entered.
    listeners: Vec<Listener>,
}

pub(super) async fn listeners(State(app): State<Arc<App>>) -> Result<Json<Listeners>, Refusal> {
    let (full, _permit) = connections::large(&app).await?;
    Ok(Json(Listeners {
        at_ns: full.at_ns,
        listeners: full.listeners.clone(),
    }))
}

/// The answer of `/api/v1/host`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Host {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// Host name.
    host: String,
    /// Kernel release.
    kernel: String,
    #[serde(flatten)]
    facts: HostFacts,
}

/// As of the last tick: no connection has to be rendered for it.
pub(super) async fn host(State(app): State<Arc<App>>) -> Json<Host> {
    let snapshot = app.handle.summary();
    Json(Host {
        at_ns: snapshot.at_ns,
        host: snapshot.health.host.clone(),
        kernel: snapshot.health.kernel.clone(),
        facts: snapshot.facts.clone(),
    })
}
