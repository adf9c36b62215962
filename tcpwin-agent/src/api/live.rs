//! Each tick as it comes, as server-sent events: the overview and the findings. All readers are given the same bytes.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::{Mutex, OwnedSemaphorePermit, watch};

use crate::snapshot::{Finding, Snapshot};

use super::overview::Overview;
use super::{App, Refusal};

/// `data` of the event `tick`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Tick {
    #[serde(flatten)]
    overview: Overview,
    /// What is worth telling of many connections at once, what gives most first.
    findings: Vec<Finding>,
}

/// The last tick that anybody asked for, written out once.
#[derive(Debug, Default)]
pub(super) struct Rendered(Mutex<Option<(u64, Bytes)>>);

impl Rendered {
    /// A tick not older than `tick`, and its number.
    async fn since(&self, tick: u64, app: &App) -> Option<(u64, Bytes)> {
        // Held while it is written: those who come meanwhile wait for the same bytes.
        let mut last = self.0.lock().await;
        if let Some((number, bytes)) = &*last
            && *number >= tick
        {
            return Some((*number, bytes.clone()));
        }
        let full = app.handle.full().await.ok()?;
        let written = (full.tick, written(&full)?);
        *last = Some(written.clone());
        Some(written)
    }
}

fn written(full: &Snapshot) -> Option<Bytes> {
    let tick = Tick {
        overview: Overview::of(full),
        findings: full.findings.clone(),
    };
    let json = serde_json::to_string(&tick).ok()?;
    Some(format!("event: tick\ndata: {json}\n\n").into())
}

pub(super) async fn stream(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let permit = Arc::clone(&app.live_readers).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("readers of ticks"))?;
    let mut ticks = app.handle.watch();
    // What is there already comes at once.
    ticks.mark_changed();
    let reader = Reader {
        app,
        ticks,
        told: None,
        _permit: permit,
    };
    let body = stream::unfold(reader, |mut reader| async move {
        let bytes = reader.next().await?;
        Some((Ok::<_, Infallible>(bytes), reader))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((kind, Body::from_stream(body)).into_response())
}

struct Reader {
    app: Arc<App>,
    ticks: watch::Receiver<Arc<Snapshot>>,
    /// Number of the last tick that it was told.
    told: Option<u64>,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    /// The next tick, or the newest one where it is behind; `None` once the pipeline has ended.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.ticks.changed().await.ok()?;
            let tick = self.ticks.borrow_and_update().tick;
            if tick == 0 || self.told.is_some_and(|told| tick <= told) {
                continue;
            }
            let (number, bytes) = self.app.live.since(tick, &self.app).await?;
            let missed = self.told.map_or(0, |told| number.saturating_sub(told + 1));
            self.told = Some(number);
            if missed == 0 {
                return Some(bytes);
            }
            let said = format!("event: missed\ndata: {{\"event\":\"missed\",\"count\":{missed}}}\n\n");
            return Some([said.as_bytes(), &bytes].concat().into());
        }
    }
}
