//! What is true of all connections together, now and over the last hour. It tells of no single one: everybody may read it,
//! as the metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::snapshot::{Health, HourPart, Snapshot, Summary};

use super::App;

/// The answer of `/api/v1/overview`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Overview {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// Length of the last interval, µs.
    interval_us: u64,
    /// Ticks so far.
    tick: u64,
    /// Of the agent itself.
    health: Health,
    /// Over all connections.
    summary: Summary,
}

impl Overview {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self {
            at_ns: snapshot.at_ns,
            interval_us: snapshot.interval_us,
            tick: snapshot.tick,
            health: snapshot.health.clone(),
            summary: snapshot.summary.clone(),
        }
    }
}

pub(super) async fn overview(State(app): State<Arc<App>>) -> Json<Overview> {
    Json(Overview::of(&app.handle.summary()))
}

/// The answer of `/api/v1/bounds`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Bounds {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// The last hour in parts of 10 s, the oldest first; fewer while the agent is younger.
    parts: Vec<HourPart>,
}

pub(super) async fn bounds(State(app): State<Arc<App>>) -> Json<Bounds> {
    let snapshot = app.handle.summary();
    Json(Bounds {
        at_ns: snapshot.at_ns,
        parts: snapshot.hour.parts(),
    })
}
