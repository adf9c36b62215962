//! `/-/reload`: what SIGHUP does, for who cannot send signals.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use tokio::sync::{mpsc, oneshot};

use super::{App, Refusal};

/// Reloads that wait for the one before them.
const WAITING: usize = 4;

/// What the daemon is asked: to read its configuration again, and to say why not.
pub type ReloadAnswer = oneshot::Sender<Result<(), String>>;

/// Where requests to reload come from.
#[derive(Debug)]
pub struct ReloadRequests(Option<mpsc::Receiver<ReloadAnswer>>);

/// Where they go; given to [`routes`](super::routes).
#[derive(Clone, Debug)]
pub struct ReloadDoor(mpsc::Sender<ReloadAnswer>);

impl ReloadRequests {
    /// None come.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// They come through the door.
    #[must_use]
    pub fn through_a_door() -> (ReloadDoor, Self) {
        let (ask, asked) = mpsc::channel(WAITING);
        (ReloadDoor(ask), Self(Some(asked)))
    }

    /// The next one. Cancel-safe.
    pub async fn next(&mut self) -> ReloadAnswer {
        let came = match &mut self.0 {
            Some(asked) => asked.recv().await,
            None => None,
        };
        match came {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

pub(super) async fn reload(State(app): State<Arc<App>>) -> Result<&'static str, Refusal> {
    let Some(door) = &app.reload else {
        let why =
            "the lifecycle API is not enabled: start the agent with --web.enable-lifecycle, or send SIGHUP";
        return Err(Refusal(StatusCode::FORBIDDEN, why.to_owned()));
    };
    let ended = || Refusal(StatusCode::SERVICE_UNAVAILABLE, "the agent is ending".to_owned());
    let (answer, answered) = oneshot::channel();
    door.0.send(answer).await.map_err(|_| ended())?;
    match answered.await.map_err(|_| ended())? {
        Ok(()) => Ok("read again\n"),
        Err(why) => Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, why)),
    }
}
