//! The metrics: OpenMetrics and Prometheus' text format from the latest snapshot, bounded labels only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit as RegistryUnit};
use tokio::sync::watch;

use crate::snapshot::Snapshot;

mod family;

pub use family::{Family, Kind, Unit, families};
use family::{Reading, Sample, Value};

/// A text format of the exposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format 0.0.4, which every reader takes.
    Classic,
    /// OpenMetrics 1.0, with units.
    OpenMetrics,
}

impl Format {
    /// From the Accept header: OpenMetrics only for who asks for it.
    #[must_use]
    pub fn negotiate(accept: Option<&str>) -> Self {
        let asked = |media: &str| {
            let mut parts = media.split(';').map(str::trim);
            parts.next() == Some("application/openmetrics-text") && !parts.any(|part| part == "q=0")
        };
        match accept {
            Some(accept) if accept.split(',').any(asked) => Self::OpenMetrics,
            _ => Self::Classic,
        }
    }

    /// The Content-Type of the answer.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Classic => prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Gives the metrics of the latest snapshot; cheap to clone.
#[derive(Clone, Debug)]
pub struct Exporter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    latest: watch::Receiver<Arc<Snapshot>>,
    scrapes: AtomicU64,
    scrape_ns: AtomicU64,
}

impl Exporter {
    /// Of what is laid in the channel.
    #[must_use]
    pub fn new(latest: watch::Receiver<Arc<Snapshot>>) -> Self {
        Self(Arc::new(Shared {
            latest,
            scrapes: AtomicU64::new(0),
            scrape_ns: AtomicU64::new(0),
        }))
    }

    /// The metrics as text.
    ///
    /// # Errors
    /// Never in practice: writing to a string cannot fail.
    pub fn scrape(&self, format: Format) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Page(Reading {
            snapshot: Arc::clone(&self.0.latest.borrow()),
            scrapes: self.0.scrapes.load(Ordering::Relaxed),
            scrape_ns: self.0.scrape_ns.load(Ordering::Relaxed),
        })));
        let mut page = String::with_capacity(16 << 10);
        match format {
            Format::Classic => prometheus_text::encode(&mut page, &registry)?,
            Format::OpenMetrics => text::encode(&mut page, &registry)?,
        }
        Ok(page)
    }

    /// A scrape was answered; it took this long.
    pub fn note_scrape(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.scrapes.fetch_add(1, Ordering::Relaxed);
        self.0.scrape_ns.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// One scrape.
#[derive(Debug)]
struct Page(Reading);

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for family in families() {
            let mut samples = Vec::new();
            (family.read)(&self.0, &mut samples);
            if !samples.is_empty() {
                write_family(&mut encoder, family, &samples)?;
            }
        }
        Ok(())
    }
}

fn write_family(
    encoder: &mut DescriptorEncoder<'_>,
    family: &Family,
    samples: &[Sample<'_>],
) -> Result<(), std::fmt::Error> {
    let unit = match family.unit {
        Unit::Seconds => Some(RegistryUnit::Seconds),
        Unit::Bytes => Some(RegistryUnit::Bytes),
        Unit::Count(_) => None,
    };
    let kind = match family.kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
        Kind::Info => MetricType::Info,
    };
    let mut metric = encoder.encode_descriptor(family.name, &family.help_text(), unit.as_ref(), kind)?;
    for Sample { labels, value } in samples {
        let pairs: Vec<(&str, &str)> = family
            .labels
            .iter()
            .copied()
            .zip(labels.iter().map(AsRef::as_ref))
            .collect();
        match (family.kind, value) {
            (Kind::Info, _) => metric.encode_info(&pairs)?,
            (Kind::Counter, Value::Count(count)) => {
                metric
                    .encode_family(&pairs)?
                    .encode_counter::<NoLabelSet, _, u64>(count, None)?;
            }
            (Kind::Counter, Value::Real(real)) => {
                metric
                    .encode_family(&pairs)?
                    .encode_counter::<NoLabelSet, _, u64>(real, None)?;
            }
            (Kind::Gauge, Value::Count(count)) => metric.encode_family(&pairs)?.encode_gauge(count)?,
            (Kind::Gauge, Value::Real(real)) => metric.encode_family(&pairs)?.encode_gauge(real)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
