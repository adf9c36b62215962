//! What goes into the table, from now on, as the bytes of a recording.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::{App, Refusal};

pub(super) async fn stream(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let recording = app.handle.record().await;
    let parts = recording
        .map_err(|error| Refusal::pipeline_gone(&error))?
        .ok_or_else(|| Refusal::busy("readers of the recording"))?;
    let bytes = stream::unfold(parts, |mut parts| async move {
        let part = parts.recv().await?;
        Some((Ok::<_, Infallible>(Bytes::copy_from_slice(&part)), parts))
    });
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, Body::from_stream(bytes)).into_response())
}
