//! How snapshots and events leave the pipeline: the daemon's loop holds the [`Inlet`], exits hold [`Handle`]s.
//!
//! The summary of every tick lies in a `watch`; the connections are built only when asked for; single events are told
//! only while somebody subscribes, and a reader that falls behind is told how many it missed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::{Feed, FeedError, Mirror, Snapshot, TraceEvent, Watch};

/// Events kept for readers that are behind: a second of 2,000 connections that open and close. A reader that does not read at all
/// holds every one of them, and that of a close is some 2 KB.
const EVENTS_KEPT: usize = 4_096;

/// Requests that may wait for the loop.
const REQUESTS_KEPT: usize = 64;

/// What exits ask of the loop; answered between ticks.
#[derive(Debug)]
pub enum Request {
    /// The latest snapshot with every connection, and with the samples of one that is watched.
    Full(Option<Watch>, oneshot::Sender<Arc<Snapshot>>),
    /// The same for a reader that keeps a copy: what has changed since the generation of its own (see [`Mirror`]).
    Changed(u64, Option<Watch>, oneshot::Sender<Snapshot>),
    /// The events from now on.
    Subscribe(oneshot::Sender<broadcast::Receiver<Arc<TraceEvent>>>),
    /// The bytes of a recording from now on; none where too many read them already.
    Record(oneshot::Sender<Option<mpsc::Receiver<Arc<[u8]>>>>),
    /// Tick at this interval from now on.
    Interval(Duration),
}

/// What the loop shares with its readers without a message.
#[derive(Debug, Default)]
pub struct Counters {
    missed: AtomicU64,
    heartbeat: AtomicU64,
}

impl Counters {
    /// Events that readers missed since they fell behind.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Grows as long as the loop goes round.
    #[must_use]
    pub fn heartbeat(&self) -> u64 {
        self.heartbeat.load(Ordering::Relaxed)
    }

    /// The loop went round.
    pub fn beat(&self) {
        self.heartbeat.fetch_add(1, Ordering::Relaxed);
    }
}

/// The loop's end.
#[derive(Debug)]
pub struct Inlet {
    /// Where each tick's snapshot, without connections, is laid.
    pub latest: watch::Sender<Arc<Snapshot>>,
    /// What exits ask.
    pub requests: mpsc::Receiver<Request>,
    /// Where events are told.
    pub events: broadcast::Sender<Arc<TraceEvent>>,
    /// Shared counts.
    pub counters: Arc<Counters>,
}

/// The exits' end; cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    latest: watch::Receiver<Arc<Snapshot>>,
    requests: mpsc::Sender<Request>,
    counters: Arc<Counters>,
    /// What this reader watches closely.
    watched: Option<Watch>,
    /// What it was told so far.
    mirror: Mirror,
}

/// Both ends; `first` is what readers see before the first tick.
#[must_use]
pub fn channel(first: Snapshot) -> (Inlet, Handle) {
    let (latest, latest_reader) = watch::channel(Arc::new(first));
    let (requests, asked) = mpsc::channel(REQUESTS_KEPT);
    let counters = Arc::new(Counters::default());
    let inlet = Inlet {
        latest,
        requests: asked,
        events: broadcast::Sender::new(EVENTS_KEPT),
        counters: Arc::clone(&counters),
    };
    let handle = Handle {
        latest: latest_reader,
        requests,
        counters,
        watched: None,
        mirror: Mirror::default(),
    };
    (inlet, handle)
}

impl Handle {
    /// The last tick's snapshot, without connections. Never waits.
    #[must_use]
    pub fn summary(&self) -> Arc<Snapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// The last ticks' snapshots as they come.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.latest.clone()
    }

    /// Shared counts.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The latest snapshot with every connection.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn full(&self) -> Result<Arc<Snapshot>, FeedError> {
        self.full_watching(None).await
    }

    /// The same, with the samples of a connection that is watched for some seconds from now on.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn full_watching(&self, watch: Option<Watch>) -> Result<Arc<Snapshot>, FeedError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Full(watch, answer))
            .await
            .map_err(|_| ended())?;
        answered.await.map_err(|_| ended())
    }

    /// For a reader that keeps a copy of the connections: what has changed since the generation of its own (see [`Mirror`]).
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn changed(&self, since: u64, watch: Option<Watch>) -> Result<Snapshot, FeedError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Changed(since, watch, answer))
            .await
            .map_err(|_| ended())?;
        answered.await.map_err(|_| ended())
    }

    /// The events from now on.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn subscribe(&self) -> Result<Events, FeedError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Subscribe(answer))
            .await
            .map_err(|_| ended())?;
        let reader = answered.await.map_err(|_| ended())?;
        Ok(Events(Inner::Local(reader, Arc::clone(&self.counters))))
    }

    /// The bytes of a recording from now on, whole frames; `None` where too many read them already.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn record(&self) -> Result<Option<mpsc::Receiver<Arc<[u8]>>>, FeedError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Record(answer))
            .await
            .map_err(|_| ended())?;
        answered.await.map_err(|_| ended())
    }

    /// Changes the tick's interval.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn set_interval(&self, interval: Duration) -> Result<(), FeedError> {
        let request = Request::Interval(interval);
        self.requests.send(request).await.map_err(|_| ended())
    }
}

/// For `top` in the same process; not to be called on an async runtime's thread.
impl Feed for Handle {
    fn latest(&mut self) -> Result<Arc<Snapshot>, FeedError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .blocking_send(Request::Changed(
                self.mirror.since(),
                self.watched.clone(),
                answer,
            ))
            .map_err(|_| ended())?;
        let changed = answered.blocking_recv().map_err(|_| ended())?;
        self.mirror.fold(changed).map_err(|misfit| FeedError::Malformed {
            at: HERE.to_owned(),
            cause: misfit.to_string(),
        })
    }

    fn watch(&mut self, connection: Option<Watch>) {
        self.watched = connection;
    }
}

/// What stands for an address where the pipeline is in this process.
const HERE: &str = "this process";

fn ended() -> FeedError {
    FeedError::Unreachable {
        at: HERE.to_owned(),
        cause: "the pipeline has ended; its log says why".to_owned(),
    }
}

/// What a reader of events is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Something happened.
    Event(Arc<TraceEvent>),
    /// The reader fell behind and missed this many.
    Missed(u64),
    /// The agent sent what cannot be used; the sentence says what.
    Broken(String),
}

/// A stream of events, from this process or from an agent.
#[derive(Debug)]
pub struct Events(Inner);

#[derive(Debug)]
enum Inner {
    Local(broadcast::Receiver<Arc<TraceEvent>>, Arc<Counters>),
    Remote(mpsc::Receiver<Told>),
}

impl Events {
    /// From whatever fills the channel.
    #[must_use]
    pub fn from_channel(told: mpsc::Receiver<Told>) -> Self {
        Self(Inner::Remote(told))
    }

    /// The next one; `None` when the pipeline or the agent has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<Told> {
        match &mut self.0 {
            Inner::Remote(told) => told.recv().await,
            Inner::Local(events, counters) => match events.recv().await {
                Ok(event) => Some(Told::Event(event)),
                Err(broadcast::error::RecvError::Closed) => None,
                Err(broadcast::error::RecvError::Lagged(missed)) => Some(note_missed(counters, missed)),
            },
        }
    }

    /// The next one if it is there already.
    pub fn try_next(&mut self) -> Option<Told> {
        match &mut self.0 {
            Inner::Remote(told) => told.try_recv().ok(),
            Inner::Local(events, counters) => match events.try_recv() {
                Ok(event) => Some(Told::Event(event)),
                Err(broadcast::error::TryRecvError::Lagged(missed)) => Some(note_missed(counters, missed)),
                Err(_) => None,
            },
        }
    }
}

fn note_missed(counters: &Counters, missed: u64) -> Told {
    counters.missed.fetch_add(missed, Ordering::Relaxed);
    Told::Missed(missed)
}
