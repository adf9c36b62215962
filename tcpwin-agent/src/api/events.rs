//! Events as they happen, as server-sent events: `event` is the kind, `data` the object that `trace --json` prints.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::Uri;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde::Deserialize;

use crate::query::Filter;
use crate::snapshot::feed::Told;

use super::parameters::{self, Refused};
use super::{App, Refusal};

/// A sign of life for readers while nothing happens.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The query of `/api/v1/events`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    /// Only events that pass: docs/filter.md.
    filter: Option<String>,
}

pub(super) async fn stream(
    State(app): State<Arc<App>>,
    uri: Uri,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refused> {
    let Query { filter } = parameters::read(&uri)?;
    let filter: Filter = parameters::parsed("filter", filter)?.unwrap_or_default();
    let permit = Arc::clone(&app.event_readers).try_acquire_owned();
    let permit = permit.map_err(|_| Refusal::busy("readers of events"))?;
    let events = app
        .handle
        .subscribe()
        .await
        .map_err(|error| Refusal::pipeline_gone(&error))?;
    let told = stream::unfold(
        (events, filter, permit),
        |(mut events, filter, permit)| async move {
            loop {
                match events.next().await? {
                    Told::Event(event) if !filter.matches_event(&event) => {}
                    told => return Some((Ok(to_sse(&told)), (events, filter, permit))),
                }
            }
        },
    );
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn to_sse(told: &Told) -> Event {
    match told {
        Told::Event(event) => {
            let named = Event::default().event(event.name());
            named
                .json_data(event)
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
