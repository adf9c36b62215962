//! What a receiver is sent is what a scrape of the same moment tells: every series, with the same value.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use prost::Message as _;

use super::*;
use crate::exporter::Format;
use crate::exporter::tests::{exporter, snapshot};

/// Series of a text page by name and labels; of a histogram its count and sum.
fn scraped(page: &str) -> BTreeMap<String, f64> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    let series = lines.filter(|line| !line.contains("_bucket{"));
    series
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

/// The same of a message, named as a Prometheus that takes OTLP names them.
fn sent(request: &ExportMetricsServiceRequest) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    for metric in &request.resource_metrics[0].scope_metrics[0].metrics {
        let mut tell = |suffix: &str, attributes: &[KeyValue], value: f64| {
            let name = format!("{}{suffix}{}", metric.name, labels(attributes));
            assert_eq!(series.insert(name, value), None, "{} is told twice", metric.name);
        };
        match metric.data.as_ref().unwrap() {
            metric::Data::Sum(sum) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
                for point in &sum.data_points {
                    tell("_total", &point.attributes, value(point));
                }
            }
            metric::Data::Gauge(gauge) => {
                for point in &gauge.data_points {
                    tell("", &point.attributes, value(point));
                }
            }
            metric::Data::ExponentialHistogram(histogram) => {
                for point in &histogram.data_points {
                    tell("_count", &point.attributes, point.count as f64);
                    tell("_sum", &point.attributes, point.sum.unwrap());
                    let counts = &point.positive.as_ref().unwrap().bucket_counts;
                    assert_eq!(point.zero_count + counts.iter().sum::<u64>(), point.count);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    series
}

fn labels(attributes: &[KeyValue]) -> String {
    let pairs: Vec<String> = attributes
        .iter()
        .map(|pair| {
            let Some(any_value::Value::StringValue(text)) = &pair.value.as_ref().unwrap().value else {
                panic!("{pair:?}");
            };
            let text = text
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            format!("{}=\"{text}\"", pair.key)
        })
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", pairs.join(","))
    }
}

fn value(point: &NumberDataPoint) -> f64 {
    match point.value.unwrap() {
        number_data_point::Value::AsDouble(value) => value,
        number_data_point::Value::AsInt(value) => value as f64,
    }
}

#[test]
fn a_bucket_has_the_number_of_its_lower_bound() {
    let exporter = exporter(snapshot());
    let request = message(&exporter.reading(), Times { start: 1, now: 2 });
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let srtt = metrics
        .iter()
        .find(|metric| metric.name == "tcpwin_srtt_seconds")
        .unwrap();
    assert_eq!(srtt.unit, "s");
    let Some(metric::Data::ExponentialHistogram(histogram)) = &srtt.data else {
        panic!("{srtt:?}");
    };
    let point = &histogram.data_points[0];
    assert_eq!(
        (point.start_time_unix_nano, point.time_unix_nano, point.scale),
        (1, 2, 2)
    );
    // 30 and 31 ms are above 2^(-21/4) s and not above 2^(-20/4) s.
    let buckets = point.positive.as_ref().unwrap();
    assert_eq!((buckets.offset, buckets.bucket_counts[0]), (-21, 2));
    // What the kernel counts is older than the agent.
    let drops = metrics
        .iter()
        .find(|metric| metric.name == "tcpwin_listen_drops")
        .unwrap();
    let Some(metric::Data::Sum(sum)) = &drops.data else {
        panic!("{drops:?}");
    };
    assert_eq!(sum.data_points[0].start_time_unix_nano, 0);
}

#[test]
fn who_tells_is_said_once() {
    let exporter = exporter(snapshot());
    let request = message(&exporter.reading(), Times { start: 1, now: 2 });
    let resource = request.resource_metrics[0].resource.as_ref().unwrap();
    assert_eq!(
        labels(&resource.attributes),
        "{service.name=\"tcpwin\",service.version=\"0.1.0\",service.instance.id=\"host\",host.name=\"host\"}"
    );
}

/// Takes one request after another, answers each with the next of these, and hands on what came: head and body.
fn receiver(answers: Vec<Vec<u8>>) -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut answers = answers.into_iter();
        while let Ok((mut stream, _)) = listener.accept() {
            while let Some(request) = request(&mut stream) {
                let Some(answer) = answers.next() else { return };
                stream.write_all(&answer).unwrap();
                if tell.send(request).is_err() {
                    return;
                }
            }
        }
    });
    (url, told)
}

/// One request with a length; `None` at the end of the connection.
fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    loop {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = head {
            let head = String::from_utf8(bytes[..at].to_vec()).unwrap().to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap()
                .parse::<usize>()
                .unwrap();
            if bytes.len() >= at + 4 + length {
                return Some((head, bytes[at + 4..].to_vec()));
            }
        }
        match stream.read(&mut room) {
            Ok(0) | Err(_) => return None,
            Ok(more) => bytes.extend_from_slice(&room[..more]),
        }
    }
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn target(url: String) -> Target {
    Target {
        url,
        interval: Duration::from_millis(1),
        headers: vec![("Authorization".to_owned(), "Bearer secret".to_owned())],
        authorities: Vec::new(),
    }
}

#[test]
fn every_series_arrives_with_its_value_whatever_the_receiver_says() {
    let rejecting = ExportMetricsServiceResponse {
        partial_success: Some(ExportMetricsPartialSuccess {
            rejected_data_points: 3,
            error_message: "too old".to_owned(),
        }),
    };
    let (url, told) = receiver(vec![
        answer("503 Service Unavailable", b""),
        answer("200 OK", &rejecting.encode_to_vec()),
        answer("200 OK", b""),
    ]);
    let exporter = exporter(snapshot());
    let target = target(url);
    assert!(!format!("{target:?}").contains("secret"));
    let push = Push::start(exporter.clone(), target).unwrap();
    let page = exporter.scrape(Format::Classic).unwrap();
    let scraped = scraped(std::str::from_utf8(&page).unwrap());
    assert!(scraped.len() > 200);
    let told: Vec<(String, Vec<u8>)> = told.iter().take(3).collect();
    drop(push);
    for (at, (head, body)) in told.iter().enumerate() {
        assert!(head.starts_with("post /v1/metrics http/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
        assert!(head.contains("authorization: bearer secret"), "{head}");
        let mut sent = sent(&ExportMetricsServiceRequest::decode(body.as_slice()).unwrap());
        // What became of those before it is the only thing that moves.
        let mut expected = scraped.clone();
        let outcomes = [
            ("failed", at.min(1)),
            ("partly", at.saturating_sub(1).min(1)),
            ("sent", 0),
        ];
        for (outcome, count) in outcomes {
            let name = format!("tcpwin_otlp_exports_total{{outcome=\"{outcome}\"}}");
            assert_eq!(sent.remove(&name), Some(count as f64), "{name}");
            assert!(expected.remove(&name).is_some(), "{name}");
        }
        assert_eq!(sent, expected);
    }
}

#[test]
fn headers_and_certificates_that_are_none_are_refused_at_once() {
    let exporter = exporter(snapshot());
    let mut bad = target("http://127.0.0.1:1/v1/metrics".to_owned());
    bad.headers[0].1 = "secret\nline".to_owned();
    let error = Push::start(exporter.clone(), bad).unwrap_err().to_string();
    assert!(
        error.contains("`Authorization`") && !error.contains("secret"),
        "{error}"
    );
    let https = target("https://127.0.0.1:1/v1/metrics".to_owned());
    let error = Push::start(exporter, https).unwrap_err().to_string();
    assert!(error.contains("--otlp.ca-file"), "{error}");
}
