//! Events as they happen, as server-sent events: `event` is the kind, `data` the object that `trace --json` prints.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};

use crate::snapshot::TraceEvent;
use crate::snapshot::feed::Told;

use super::{App, Refusal};

/// A sign of life for readers while nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn stream(
    State(app): State<Arc<App>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let permit = Arc::clone(&app.event_readers).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("readers of events"))?;
    let events = app
        .handle
        .subscribe()
        .await
        .map_err(|error| Refusal::pipeline_gone(&error))?;
    let told = stream::unfold((events, permit), |(mut events, permit)| async move {
        let event = to_sse(&events.next().await?);
        Some((Ok(event), (events, permit)))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn to_sse(told: &Told) -> Event {
    match told {
        Told::Event(event) => {
            let kind = Event::default().event(kind(event));
            kind.json_data(event)
                .unwrap_or_else(|error| broken(&error.to_string()))
        }
        Told::Missed(missed) => Event::default()
            .event("missed")
            .data(format!("{{\"event\":\"missed\",\"count\":{missed}}}")),
        Told::Broken(why) => broken(why),
    }
}

fn broken(why: &str) -> Event {
    Event::default().comment(why.replace(['\n', '\r'], " "))
}

const fn kind(event: &TraceEvent) -> &'static str {
    match event {
        TraceEvent::Open { .. } => "open",
        TraceEvent::Close { .. } => "close",
        TraceEvent::Retransmit { .. } => "retransmit",
        TraceEvent::Cwnd { .. } => "cwnd",
        TraceEvent::Reset { .. } => "reset",
        TraceEvent::Verdict { .. } => "verdict",
    }
}
