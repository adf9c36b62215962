//! The metrics: Prometheus' protobuf and text formats and OpenMetrics from the latest snapshot, bounded labels only.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::{prometheus_protobuf, prometheus_text, text};
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use crate::snapshot::Snapshot;

mod document;
mod family;
mod format;
mod http;
pub mod otlp;
mod page;

pub use document::document;
pub use family::{Family, Kind, Octaves, Unit, families};
pub use format::Format;
pub use http::{HttpCounts, Refused};

use family::Reading;
use page::Page;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    /// A family's value is not of its kind.
    #[error("a metric's value is not of its kind: a defect of tcpwin")]
    Kind(#[from] std::fmt::Error),
    /// Protobuf could not be written.
    #[error("cannot write the metrics as protobuf: {0}")]
    Protobuf(#[from] prometheus_protobuf::EncodeError),
}

/// Gives the metrics of the latest snapshot; cheap to clone.
#[derive(Clone, Debug)]
pub struct Exporter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    latest: watch::Receiver<Arc<Snapshot>>,
    classic_histograms: bool,
    scrapes: AtomicU64,
    scrape_ns: AtomicU64,
    http: Arc<HttpCounts>,
    /// By [`Sent`]; nothing while nothing is sent.
    pushes: OnceLock<[AtomicU64; Sent::ALL.len()]>,
}

/// What became of a message by OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The receiver took it.
    Whole,
    /// The receiver took it, but for some points.
    Partly,
    /// It was refused, or nobody was there.
    Failed,
}

impl Sent {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Whole, Self::Partly, Self::Failed];

    /// As metrics call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "sent",
            Self::Partly => "partly",
            Self::Failed => "failed",
        }
    }
}

impl Exporter {
    /// Of what is laid in the channel; histograms have classic buckets too where that is asked for.
    #[must_use]
    pub fn new(latest: watch::Receiver<Arc<Snapshot>>, classic_histograms: bool) -> Self {
        Self::with_http(latest, classic_histograms, Arc::default())
    }

    /// The same, with what the HTTP side counts of itself.
    #[must_use]
    pub fn with_http(
        latest: watch::Receiver<Arc<Snapshot>>,
        classic_histograms: bool,
        http: Arc<HttpCounts>,
    ) -> Self {
        Self(Arc::new(Shared {
            latest,
            classic_histograms,
            scrapes: AtomicU64::new(0),
            scrape_ns: AtomicU64::new(0),
            http,
            pushes: OnceLock::new(),
        }))
    }

    /// What is told now.
    fn reading(&self) -> Reading {
        let pushes = self.0.pushes.get();
        Reading {
            snapshot: Arc::clone(&self.0.latest.borrow()),
            scrapes: self.0.scrapes.load(Ordering::Relaxed),
            scrape_ns: self.0.scrape_ns.load(Ordering::Relaxed),
            http: Arc::clone(&self.0.http),
            pushes: pushes.map(|counts| counts.each_ref().map(|count| count.load(Ordering::Relaxed))),
        }
    }

    /// The metrics in that format.
    ///
    /// # Errors
    /// Never in practice: writing to memory cannot fail, and the tests read every metric.
    pub fn scrape(&self, format: Format) -> Result<Vec<u8>, ScrapeError> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Page {
            reading: self.reading(),
            format,
            classic_histograms: self.0.classic_histograms,
        }));
        let mut page = String::with_capacity(32 << 10);
        match format {
            Format::Classic => prometheus_text::encode(&mut page, &registry)?,
            Format::OpenMetrics => text::encode(&mut page, &registry)?,
            Format::Protobuf => return Ok(prometheus_protobuf::encode_to_vec(&registry)?),
        }
        Ok(page.into_bytes())
    }

    /// A scrape was answered; it took this long.
    pub fn note_scrape(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.scrapes.fetch_add(1, Ordering::Relaxed);
        self.0.scrape_ns.fetch_add(nanos, Ordering::Relaxed);
    }

    /// From now on messages are sent: what becomes of them is told.
    fn note_pushes(&self) {
        self.0.pushes.get_or_init(Default::default);
    }

    /// What became of one.
    fn note_push(&self, sent: Sent) {
        if let Some(counts) = self.0.pushes.get() {
            counts[sent as usize].fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
