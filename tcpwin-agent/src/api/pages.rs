//! The pages that tell of the agent and of all connections together.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::time::Instant;

use crate::exporter::Format;
use crate::snapshot::Health;

use super::{App, Refusal};

pub(super) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let began = Instant::now();
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    let format = Format::negotiate(accept);
    let response = match app.exporter.scrape(format) {
        Ok(page) => ([(header::CONTENT_TYPE, format.content_type())], page).into_response(),
        Err(error) => Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    };
    app.exporter.note_scrape(began.elapsed());
    response
}

/// Answered at all: the process lives.
pub(super) async fn healthy() -> &'static str {
    "tcpwin is healthy.\n"
}

pub(super) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, String) {
    let snapshot = app.handle.summary();
    let source = &snapshot.health.source;
    if snapshot.tick == 0 {
        let why = format!("tcpwin is not ready: the first interval of source {source} has not ended yet.\n");
        return (StatusCode::SERVICE_UNAVAILABLE, why);
    }
    (StatusCode::OK, format!("tcpwin is ready, source {source}.\n"))
}

/// What the agent says of itself.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Healthz {
    /// Always `tcpwin`: by this an agent is recognised.
    service: &'static str,
    /// `starting`, `ok`, or `degraded`: not the best source, or a hook is missing.
    status: &'static str,
    /// Ticks so far.
    tick: u64,
    #[serde(flatten)]
    health: Health,
}

pub(super) async fn healthz(State(app): State<Arc<App>>) -> Json<Healthz> {
    let snapshot = app.handle.summary();
    let health = snapshot.health.clone();
    let hook_missing = health.hooks.iter().any(|hook| hook.missing.is_some());
    let status = match snapshot.tick {
        0 => "starting",
        _ if hook_missing || health.source_reason.is_some() => "degraded",
        _ => "ok",
    };
    Json(Healthz {
        service: "tcpwin",
        status,
        tick: snapshot.tick,
        health,
    })
}
