//! The pages that tell of the agent and of all connections together.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
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
pub(super) struct Healthz {
    /// Always `tcpwin`: by this an agent is recognised.
    service: &'static str,
    /// `starting`, `ok`, or `degraded`: not the best source, or a hook is missing.
    status: &'static str,
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

pub(super) async fn landing(State(app): State<Arc<App>>) -> Html<String> {
    let snapshot = app.handle.summary();
    let health = &snapshot.health;
    let connections: u64 = snapshot.summary.connections.values().sum();
    let links = [
        (app.telemetry_path.as_str(), "metrics for Prometheus"),
        ("/healthz", "source, hooks and losses"),
        (
            "/api/v1/connections?count=100",
            "connections with their verdicts (from this host only)",
        ),
        (
            "/api/v1/findings",
            "what is worth doing, over all connections (from this host only)",
        ),
        (
            "/api/v1/listeners",
            "listening sockets with their accept queues (from this host only)",
        ),
        (
            "/api/v1/host",
            "counters of the host that matter to TCP (from this host only)",
        ),
        ("/api/v1/events", "events as they happen (from this host only)"),
    ];
    let items: String = links
        .map(|(path, what)| format!("<li><a href=\"{path}\">{path}</a>: {what}</li>\n"))
        .concat();
    let reason = health
        .source_reason
        .as_deref()
        .map(|why| format!(" ({})", escaped(why)));
    Html(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tcpwin on {host}</title>\n\
         <style>body{{font:1rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:45rem;padding:0 1rem}}\
         :root{{color-scheme:light dark}}</style></head>\n<body><h1>tcpwin</h1>\n\
         <p>What limits every TCP connection of {host}.</p>\n\
         <p>Version {version}, source {source}{reason}, {connections} connections open.</p>\n\
         <ul>\n{items}</ul></body></html>\n",
        host = escaped(&health.host),
        version = escaped(&health.version),
        source = escaped(&health.source),
        reason = reason.unwrap_or_default(),
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
