//! HTTP: metrics, health, and the JSON API. The room of axum and hyper.
//!
//! | path | answers |
//! |---|---|
//! | `/` | the page for people: all of this in a browser; its files are below `/page/` |
//! | the telemetry path | the metrics |
//! | `/-/healthy`, `/-/ready` | 200, or 503 with the reason |
//! | `/healthz` | source, hooks and losses as JSON |
//! | `/api/v1/openapi.json` | what can be asked and what is answered, as OpenAPI |
//! | `/api/v1/overview` | counts over all connections, and the agent itself |
//! | `/api/v1/bounds` | what held connections over the last hour |
//! | `/api/v1/live` | each tick's overview and findings, as server-sent events |
//! | `/api/v1/connections` | connections with their verdicts: `filter`, `sort` (both docs/filter.md), `fields`, `offset`, `count` |
//! | `/api/v1/connections/{id}` | one of them |
//! | `/api/v1/findings` | what is worth telling of many connections at once, what gives most first |
//! | `/api/v1/listeners` | listening sockets with their accept queues |
//! | `/api/v1/host` | counters of the host: Fast Open, TCP's memory, softirq, interfaces |
//! | `/api/v1/snapshot` | everything, for `top`; with `?watch=ID&netns=N` the samples of a connection; with `?since=N` (first 0, then the last answer's `changes.generation`) of the connections only those that have changed since |
//! | `/api/v1/events` | what happens, as server-sent events: `filter` |
//! | `/api/v1/recording` | what goes into the table from now on, as a recording |
//! | `/-/reload` | `POST`: reads the configuration again, where that is enabled |
//!
//! What tells of single connections, and `/-/reload`, is for this host and for who has shown who he is.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use crate::exporter::Exporter;
use crate::snapshot::feed::Handle;

mod access;
mod bind;
mod connections;
mod crowd;
mod events;
mod fields;
mod gate;
mod host;
mod lifecycle;
mod live;
mod openapi;
mod overview;
mod page;
mod pages;
mod parameters;
mod recording;
mod select;
mod serve;
mod stall;
mod web;

pub use bind::{BindError, Listener, Place, bind};
pub use lifecycle::{ReloadAnswer, ReloadDoor, ReloadRequests};
pub use serve::{Server, serve};
pub use web::{Web, WebError};

/// Large answers given at once; more are asked to come again, so that memory stays bounded.
const LARGE_ANSWERS: usize = 4;

/// Answers with few connections worked out at once; more wait their turn, which is short.
const SMALL_ANSWERS: usize = 2;

/// Readers of events at once.
const EVENT_READERS: usize = 16;

/// Readers of ticks at once.
const LIVE_READERS: usize = 16;

/// What the handlers share.
#[derive(Debug)]
struct App {
    handle: Handle,
    exporter: Exporter,
    telemetry_path: String,
    large_answers: Arc<Semaphore>,
    small_answers: Semaphore,
    event_readers: Arc<Semaphore>,
    allowed_hosts: Vec<String>,
    reload: Option<ReloadDoor>,
    live_readers: Arc<Semaphore>,
    live: live::Rendered,
}

/// What the operator says of the site.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Path of the metrics.
    pub telemetry_path: String,
    /// Names, beside `localhost`, under which this host's own readers may see single connections.
    pub allowed_hosts: Vec<String>,
    /// Where requests to reload go; they are refused without it.
    pub reload: Option<ReloadDoor>,
}

/// Every path and who answers it.
pub fn routes(handle: Handle, exporter: Exporter, site: Site) -> Router {
    let telemetry_path = site.telemetry_path.clone();
    let app = Arc::new(App {
        handle,
        exporter,
        telemetry_path: site.telemetry_path,
        large_answers: Arc::new(Semaphore::new(LARGE_ANSWERS)),
        small_answers: Semaphore::new(SMALL_ANSWERS),
        event_readers: Arc::new(Semaphore::new(EVENT_READERS)),
        allowed_hosts: site.allowed_hosts,
        reload: site.reload,
        live_readers: Arc::new(Semaphore::new(LIVE_READERS)),
        live: live::Rendered::default(),
    });
    let of_connections = Router::new()
        .route("/api/v1/connections", get(connections::list))
        .route("/api/v1/connections/{id}", get(connections::one))
        .route("/api/v1/findings", get(connections::findings))
        .route("/api/v1/listeners", get(host::listeners))
        .route("/api/v1/host", get(host::host))
        .route("/api/v1/snapshot", get(connections::snapshot))
        .route("/api/v1/live", get(live::stream))
        .route("/api/v1/events", get(events::stream))
        .route("/api/v1/recording", get(recording::stream))
        .route("/-/reload", post(lifecycle::reload).put(lifecycle::reload))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            access::known_or_this_host,
        ));
    Router::new()
        .route("/", get(page::index))
        .route("/page/{file}", get(page::file))
        .route(&telemetry_path, get(pages::metrics))
        .route("/-/healthy", get(pages::healthy))
        .route("/-/ready", get(pages::ready))
        .route("/healthz", get(pages::healthz))
        .route("/api/v1/openapi.json", get(openapi::document))
        .route("/api/v1/overview", get(overview::overview))
        .route("/api/v1/bounds", get(overview::bounds))
        .merge(of_connections)
        .fallback(|| async {
            Refusal(
                StatusCode::NOT_FOUND,
                "no such path; /api/v1/openapi.json lists them".to_owned(),
            )
        })
        .with_state(app)
}

/// An answer that is not what was asked for, with a sentence that says why.
#[derive(Debug)]
struct Refusal(StatusCode, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.0, axum::Json(serde_json::json!({ "error": self.1 }))).into_response();
        if self.0 == StatusCode::SERVICE_UNAVAILABLE {
            response.extensions_mut().insert(gate::Busy);
        }
        response
    }
}

impl Refusal {
    fn pipeline_gone(error: &crate::snapshot::FeedError) -> Self {
        Self(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }

    fn busy(what: &str) -> Self {
        Self(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("too many {what} at once: come again"),
        )
    }
}

#[cfg(test)]
mod tests;
