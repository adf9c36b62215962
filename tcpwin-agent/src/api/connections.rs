//! Single connections with their verdicts.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;

use crate::snapshot::{Connection, Finding, Snapshot, Watch};

use super::fields::Fields;
use super::parameters::{self, Refused};
use super::select::Select;
use super::{App, Refusal};

/// Connections written at a time: an answer is never in memory as a whole.
const CHUNK: usize = 64;

/// Most connections of a small answer.
pub(super) const FEW: usize = 200;

pub(super) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Refused> {
    let select = Select::read(&uri)?;
    if select.most().is_some_and(|most| most <= FEW) {
        // The answer keeps few connections alive, not the whole snapshot: only working it out has to wait its turn.
        let _turn = app.small_answers.acquire().await;
        let snapshot = full(&app).await?;
        return Ok(answer(&select, &snapshot, None));
    }
    let (snapshot, permit) = large(&app).await?;
    Ok(answer(&select, &snapshot, Some(permit)))
}

fn answer(select: &Select, snapshot: &Snapshot, permit: Option<OwnedSemaphorePermit>) -> Response {
    let (connections, matched) = select.apply(&snapshot.connections);
    let total = snapshot.connections.len();
    let head = format!(
        "{{\"at_ns\":{},\"total\":{total},\"matched\":{matched},\"connections\":[",
        snapshot.at_ns
    );
    json_list(head, connections, select.fields.clone(), permit)
}

pub(super) async fn one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Arc<Connection>>, Refusal> {
    let snapshot = full(&app).await?;
    let found = snapshot.connections.iter().find(|each| each.id == id);
    found.map(|each| Json(Arc::clone(each))).ok_or_else(|| {
        let why =
            format!("no open connection has the id `{id}`; /api/v1/connections lists those that are open");
        Refusal(StatusCode::NOT_FOUND, why)
    })
}

/// What `/api/v1/snapshot` may be asked.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The generation of the asker's copy: what has changed since is the answer. 0 without a copy.
    since: Option<u64>,
    /// Id of a connection whose samples shall come with it; `netns` says where it is.
    watch: Option<u64>,
    /// Its network namespace.
    netns: Option<u32>,
}

impl Asked {
    fn watch(&self) -> Result<Option<Watch>, Refusal> {
        match (self.watch, self.netns) {
            (Some(id), Some(netns)) => Ok(Some(Watch {
                id: id.to_string(),
                netns,
            })),
            (None, None) => Ok(None),
            _ => {
                let why = "`watch` (the connection's id) and `netns` go together".to_owned();
                Err(Refusal(StatusCode::BAD_REQUEST, why))
            }
        }
    }
}

pub(super) async fn snapshot(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Refused> {
    let asked: Asked = parameters::read(&uri)?;
    let watch = asked.watch()?;
    let permit = large_permit(&app)?;
    let answer = match asked.since {
        Some(since) => app.handle.changed(since, watch).await,
        None => app.handle.full_watching(watch).await.map(|full| (*full).clone()),
    };
    let mut answer = answer.map_err(|error| Refusal::pipeline_gone(&error))?;
    let connections = std::mem::take(&mut answer.connections);
    let head = serde_json::to_string(&answer)
        .map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    // `connections` is the last field, so the list goes where the empty one is.
    match head.strip_suffix("]}") {
        Some(open) => Ok(json_list(open.to_owned(), connections, None, Some(permit))),
        None => Ok(Json(Snapshot {
            connections,
            ..answer
        })
        .into_response()),
    }
}

/// The answer of `/api/v1/findings`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Findings {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// What gives most first.
    findings: Vec<Finding>,
}

pub(super) async fn findings(State(app): State<Arc<App>>) -> Result<Json<Findings>, Refusal> {
    let (full, _permit) = large(&app).await?;
    Ok(Json(Findings {
        at_ns: full.at_ns,
        findings: full.findings.clone(),
    }))
}

pub(super) async fn large(app: &App) -> Result<(Arc<Snapshot>, OwnedSemaphorePermit), Refusal> {
    let permit = large_permit(app)?;
    Ok((full(app).await?, permit))
}

async fn full(app: &App) -> Result<Arc<Snapshot>, Refusal> {
    let full = app.handle.full().await;
    full.map_err(|error| Refusal::pipeline_gone(&error))
}

fn large_permit(app: &App) -> Result<OwnedSemaphorePermit, Refusal> {
    let permit = Arc::clone(&app.large_answers).try_acquire_owned();
    permit.map_err(|_| Refusal::busy("large answers"))
}

/// `head`, the connections, `]}`.
fn json_list(
    head: String,
    connections: Vec<Arc<Connection>>,
    fields: Option<Fields>,
    permit: Option<OwnedSemaphorePermit>,
) -> Response {
    let chunks = connections.len().div_ceil(CHUNK);
    let body = (0..chunks).map(move |chunk| {
        let _held_to_the_end = &permit;
        let from = chunk * CHUNK;
        let part = &connections[from..connections.len().min(from + CHUNK)];
        let mut text = Vec::with_capacity(part.len() * 1_024);
        for (offset, connection) in part.iter().enumerate() {
            if from + offset > 0 {
                text.push(b',');
            }
            // Strings, numbers and maps with string keys: writing them to memory cannot fail.
            let _ = match &fields {
                Some(fields) => serde_json::to_writer(&mut text, &fields.of(connection)),
                None => serde_json::to_writer(&mut text, connection),
            };
        }
        Bytes::from(text)
    });
    let whole = std::iter::once(Bytes::from(head))
        .chain(body)
        .chain([Bytes::from_static(b"]}\n")]);
    let body = Body::from_stream(stream::iter(whole.map(Ok::<_, Infallible>)));
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
