//! One scrape, written family by family.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, MetricEncoder, NativeHistogram, NativeHistogramBuckets, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::CounterWithExemplar;
use prometheus_client::registry::Unit as RegistryUnit;

use super::Format;
use super::family::{Family, Kind, Octaves, Reading, Sample, Unit, Value, families};
use crate::snapshot::{Distribution, Witness};

/// What is told, and how.
#[derive(Debug)]
pub(super) struct Page {
    pub reading: Reading,
    pub format: Format,
    pub classic_histograms: bool,
}

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in families() {
            let mut samples = Vec::new();
            (family.read)(&self.reading, &mut samples);
            if !samples.is_empty() {
                self.write(&mut encoder, family, &samples)?;
            }
        }
        Ok(())
    }
}

impl Page {
    fn write(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        family: &Family,
        samples: &[Sample<'_>],
    ) -> Result<(), fmt::Error> {
        let unit = match family.unit {
            Unit::Seconds => Some(RegistryUnit::Seconds),
            Unit::Bytes => Some(RegistryUnit::Bytes),
            Unit::Count(_) => None,
        };
        let kind = match family.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Info => MetricType::Info,
            Kind::Histogram(_) => MetricType::Histogram,
        };
        let mut metric = encoder.encode_descriptor(family.name, &family.help_text(), unit.as_ref(), kind)?;
        for Sample { labels, value } in samples {
            let pairs: Vec<(&str, &str)> = family
                .labels
                .iter()
                .copied()
                .zip(labels.iter().map(AsRef::as_ref))
                .collect();
            if family.kind == Kind::Info {
                metric.encode_info(&pairs)?;
            } else {
                self.write_value(metric.encode_family(&pairs)?, family.kind, value)?;
            }
        }
        Ok(())
    }

    fn write_value(
        &self,
        mut metric: MetricEncoder<'_>,
        kind: Kind,
        value: &Value<'_>,
    ) -> Result<(), fmt::Error> {
        match (kind, value) {
            (Kind::Counter, Value::Count(count)) => metric.encode_counter::<NoLabelSet, _, u64>(count, None),
            (Kind::Counter, Value::Witnessed(count, witness)) => {
                let holder = exemplar(witness);
                metric.encode_counter(count, holder.get().1.as_ref())
            }
            (Kind::Counter, Value::Real(real)) => metric.encode_counter::<NoLabelSet, _, u64>(real, None),
            (Kind::Gauge, Value::Count(count)) => metric.encode_gauge(count),
            (Kind::Gauge, Value::Real(real)) => metric.encode_gauge(real),
            (Kind::Histogram(octaves), Value::Spread(spread)) => self.write_spread(metric, octaves, spread),
            // A family whose values are not of its kind is found by the tests, which read every one.
            _ => Err(fmt::Error),
        }
    }

    /// Native buckets where the format has them. Classic ones are told on request: without, text says count and sum alone.
    fn write_spread(
        &self,
        mut metric: MetricEncoder<'_>,
        octaves: Octaves,
        spread: &Distribution,
    ) -> Result<(), fmt::Error> {
        let mut classic = Vec::new();
        let mut below = 0;
        if self.classic_histograms {
            for octave in octaves.bounds() {
                let up_to = spread.up_to_octave(octave);
                classic.push((f64::from(octave).exp2(), up_to - below));
                below = up_to;
            }
        }
        if self.classic_histograms || self.format != Format::Protobuf {
            classic.push((f64::INFINITY, spread.count() - below));
        }
        let (first, buckets) = spread.buckets();
        let mut before = 0;
        let deltas: Vec<i64> = buckets
            .iter()
            .map(|count| {
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                let delta = count - before;
                before = count;
                delta
            })
            .collect();
        // Prometheus numbers a bucket by its upper bound, as we do; a span of no buckets marks a histogram as native.
        let spans = [(first, u32::try_from(buckets.len()).unwrap_or(0))];
        metric.encode_histogram_with_native::<NoLabelSet>(
            spread.sum(),
            spread.count(),
            &classic,
            None,
            NativeHistogram {
                schema: Distribution::SCHEMA,
                zero_threshold: Distribution::zero_threshold(),
                zero_count: spread.zero(),
                negative: NativeHistogramBuckets {
                    spans: &[],
                    deltas: &[],
                },
                positive: NativeHistogramBuckets {
                    spans: &spans,
                    deltas: &deltas,
                },
                created: None,
            },
        )
    }
}

/// The connection by its identity, which tells nothing to who may not ask the API for it; never by its addresses. The library
/// makes exemplars only as part of a counter of its own.
fn exemplar(witness: &Witness) -> CounterWithExemplar<Vec<(&'static str, String)>> {
    let labels = vec![
        ("connection_id", witness.key.cookie.to_string()),
        ("netns", witness.key.netns.to_string()),
    ];
    let holder = CounterWithExemplar::default();
    holder.inc_by(witness.not_moved, Some(labels), None);
    holder
}
