//! The same metrics as OpenTelemetry's messages (OTLP 1.x): what is told to who has no Prometheus.
//!
//! Counters are cumulative sums and histograms exponential ones, both since the agent's start; what the host's kernel counted
//! is older than that, and has no start. Names are those of /metrics without `_total`, which receivers of Prometheus add.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::exponential_histogram_data_point::Buckets;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Metric,
    NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::family::{Family, Kind, Reading, Sample, Unit, Value, families};
use crate::snapshot::{Distribution, Health};

mod push;
mod tls;

pub use push::{Push, PushError, Target};

/// When the figures began and when they were read, ns since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub start: u64,
    pub now: u64,
}

/// Everything that is told now.
pub(super) fn message(reading: &Reading, times: Times) -> ExportMetricsServiceRequest {
    let health = &reading.snapshot.health;
    let metrics = families().filter_map(|family| metric(family, reading, times));
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource(health)),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(InstrumentationScope {
                    name: "tcpwin".to_owned(),
                    version: health.version.clone(),
                    ..InstrumentationScope::default()
                }),
                metrics: metrics.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// Who tells, in the words of OpenTelemetry's semantic conventions.
fn resource(health: &Health) -> Resource {
    Resource {
        attributes: vec![
            attribute("service.name", "tcpwin"),
            attribute("service.version", &health.version),
            attribute("service.instance.id", &health.host),
            attribute("host.name", &health.host),
        ],
        ..Resource::default()
    }
}

/// `None` where there is nothing to tell.
fn metric(family: &Family, reading: &Reading, times: Times) -> Option<Metric> {
    let mut samples = Vec::new();
    (family.read)(reading, &mut samples);
    if samples.is_empty() {
        return None;
    }
    let times = Times {
        // Zero is OTLP's word for a start that is not known.
        start: if family.is_since_boot() { 0 } else { times.start },
        ..times
    };
    let numbers = || {
        samples
            .iter()
            .filter_map(|sample| number(family, sample, times))
            .collect()
    };
    let temporality = AggregationTemporality::Cumulative as i32;
    let data = match family.kind {
        Kind::Counter => metric::Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: temporality,
            is_monotonic: true,
        }),
        Kind::Gauge | Kind::Info => metric::Data::Gauge(Gauge {
            data_points: numbers(),
        }),
        Kind::Histogram(_) => metric::Data::ExponentialHistogram(ExponentialHistogram {
            data_points: samples
                .iter()
                .filter_map(|sample| spread(family, sample, times))
                .collect(),
            aggregation_temporality: temporality,
        }),
    };
    Some(Metric {
        name: name(family),
        description: format!("{}.", family.help),
        unit: unit(family.unit),
        data: Some(data),
        ..Metric::default()
    })
}

fn name(family: &Family) -> String {
    let name = family.full_name();
    match family.kind {
        Kind::Counter => name.strip_suffix("_total").map_or(name.clone(), str::to_owned),
        _ => name,
    }
}

/// As UCUM writes it; things that are counted stand in braces.
fn unit(unit: Unit) -> String {
    match unit {
        Unit::Seconds => "s".to_owned(),
        Unit::Bytes => "By".to_owned(),
        Unit::Count("ratio") => "1".to_owned(),
        Unit::Count(things) => format!("{{{things}}}"),
    }
}

fn number(family: &Family, sample: &Sample<'_>, times: Times) -> Option<NumberDataPoint> {
    // OTLP's whole numbers end at 2^63.
    let count = |count: u64| match i64::try_from(count) {
        Ok(whole) => number_data_point::Value::AsInt(whole),
        Err(_) => number_data_point::Value::AsDouble(count as f64),
    };
    let value = match sample.value {
        Value::Count(value) | Value::Witnessed(value, _) => count(value),
        Value::Real(value) => number_data_point::Value::AsDouble(value),
        Value::Spread(_) => return None,
    };
    Some(NumberDataPoint {
        attributes: attributes(family, sample),
        start_time_unix_nano: if family.kind == Kind::Counter {
            times.start
        } else {
            0
        },
        time_unix_nano: times.now,
        value: Some(value),
        ..NumberDataPoint::default()
    })
}

fn spread(family: &Family, sample: &Sample<'_>, times: Times) -> Option<ExponentialHistogramDataPoint> {
    let Value::Spread(spread) = sample.value else {
        return None;
    };
    let (first, counts) = spread.buckets();
    Some(ExponentialHistogramDataPoint {
        attributes: attributes(family, sample),
        start_time_unix_nano: times.start,
        time_unix_nano: times.now,
        count: spread.count(),
        sum: Some(spread.sum()),
        scale: Distribution::SCHEMA,
        zero_count: spread.zero(),
        zero_threshold: Distribution::zero_threshold(),
        // A bucket has its lower bound's number here, where Prometheus and we number it by its upper one.
        positive: Some(Buckets {
            offset: first - 1,
            bucket_counts: counts.to_vec(),
        }),
        ..ExponentialHistogramDataPoint::default()
    })
}

fn attributes(family: &Family, sample: &Sample<'_>) -> Vec<KeyValue> {
    let pairs = family.labels.iter().zip(&sample.labels);
    pairs.map(|(key, value)| attribute(key, value)).collect()
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(any_value::Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

#[cfg(test)]
mod tests;
