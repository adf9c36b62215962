//! Sends the metrics by HTTP, on a thread of its own: nothing waits for a receiver that is slow or gone.
//!
//! Nothing is kept to be sent later. Sums are cumulative: what one message would have told, the next one tells too.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use prost::Message as _;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Response};
use ureq::{Agent, Body};

use super::tls::tls;
use super::{Times, message};
use crate::exporter::{Exporter, Sent};

/// A receiver that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest pause between two attempts, unless the interval is longer or the receiver asks for more.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The longest that a receiver can ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3_600);
/// Largest answer read, bytes: one that is wanted has a few words.
const ANSWER_BYTES: u64 = 64 << 10;

/// Where to send, how often, and what to say beside the metrics.
#[derive(Clone)]
pub struct Target {
    /// The receiver's address, its path included.
    pub url: String,
    /// From one message to the next.
    pub interval: Duration,
    /// Headers of each request, by name. They may hold a key: nothing shows them.
    pub headers: Vec<(String, String)>,
    /// Certificates, as DER, by one of which the receiver's must be signed; of `https` alone.
    pub authorities: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Target({}, every {:?})", self.url, self.interval)
    }
}

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// A header that HTTP has no room for; its value may be a key and is not told.
    #[error(
        "the header `{name}` for {url} is none of HTTP: look into the file that --otlp.headers-file names"
    )]
    Header {
        /// Its name.
        name: String,
        /// For whom.
        url: String,
    },
    /// Not certificates.
    #[error(
        "there is no certificate by which to know {url}: look into the file that --otlp.ca-file names, \
             or install those that the system trusts (ca-certificates)"
    )]
    Authorities {
        /// Of whom.
        url: String,
    },
    /// The thread could not be started.
    #[error("cannot start the thread that sends metrics: {0}")]
    Thread(std::io::Error),
}

/// Sends until it is dropped.
#[derive(Debug)]
pub struct Push {
    // Dropped with this: the thread notices.
    _running: mpsc::Sender<()>,
}

impl Push {
    /// Starts to send what the exporter tells.
    ///
    /// # Errors
    /// When the headers or certificates are none, or there is no thread to be had.
    pub fn start(exporter: Exporter, target: Target) -> Result<Self, PushError> {
        let sender = Sender {
            headers: headers(&target)?,
            client: client(&target)?,
            start: unix_ns(),
            exporter,
            url: target.url,
        };
        sender.exporter.note_pushes();
        let (running, stopped) = mpsc::channel();
        std::thread::Builder::new()
            .name("otlp".to_owned())
            .spawn(move || sender.run(target.interval, &stopped))
            .map_err(PushError::Thread)?;
        Ok(Self { _running: running })
    }
}

struct Sender {
    exporter: Exporter,
    client: Agent,
    url: String,
    headers: HeaderMap,
    start: u64,
}

/// Why a message was not taken, and how long the receiver wants to be left alone.
struct Failure {
    why: String,
    asked: Duration,
}

impl Sender {
    fn run(&self, interval: Duration, stopped: &mpsc::Receiver<()>) {
        let mut failures = 0;
        let mut wait = interval;
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            match self.send() {
                Ok(sent) => {
                    if failures > 0 {
                        tracing::info!("{} takes the metrics again", self.url);
                    }
                    failures = 0;
                    wait = interval;
                    self.exporter.note_push(sent);
                }
                Err(Failure { why, asked }) => {
                    if failures == 0 {
                        tracing::warn!("{why}; tries again, and says so once it goes well");
                    }
                    failures += 1;
                    wait = pause(interval, failures).max(asked);
                    self.exporter.note_push(Sent::Failed);
                }
            }
        }
    }

    fn send(&self) -> Result<Sent, Failure> {
        let times = Times {
            start: self.start,
            now: unix_ns(),
        };
        let body = message(&self.exporter.reading(), times).encode_to_vec();
        let mut request = self
            .client
            .post(&self.url)
            .header("content-type", "application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        match request.send(&body) {
            Ok(answer) => self.read(answer),
            Err(error) => Err(Failure {
                why: format!("cannot send metrics to {}: {error}", self.url),
                asked: Duration::ZERO,
            }),
        }
    }

    fn read(&self, mut answer: Response<Body>) -> Result<Sent, Failure> {
        let status = answer.status();
        if !status.is_success() {
            return Err(Failure {
                why: format!("{} refuses the metrics: {status}", self.url),
                asked: asked(answer.headers()),
            });
        }
        let told = answer.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
        let partial = told
            .ok()
            .and_then(|bytes| ExportMetricsServiceResponse::decode(bytes.as_slice()).ok())
            .and_then(|response| response.partial_success)
            .filter(|partial| partial.rejected_data_points > 0);
        let Some(partial) = partial else {
            return Ok(Sent::Whole);
        };
        tracing::debug!(
            "{} rejected {} points: {}",
            self.url,
            partial.rejected_data_points,
            partial.error_message
        );
        Ok(Sent::Partly)
    }
}

/// Retry-After in seconds (RFC 9110, section 10.2.3); as a date it is not understood, and the pause grows by itself.
fn asked(headers: &HeaderMap) -> Duration {
    let seconds = headers
        .get("retry-after")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0)).min(LONGEST_ASKED)
}

/// Twice as long after each failure.
fn pause(interval: Duration, failures: u32) -> Duration {
    let doubled = interval.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX));
    doubled.min(LONGEST_PAUSE.max(interval))
}

fn headers(target: &Target) -> Result<HeaderMap, PushError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &target.headers {
        let none = || PushError::Header {
            name: name.clone(),
            url: target.url.clone(),
        };
        let key: HeaderName = name.parse().map_err(|_| none())?;
        let mut value: HeaderValue = value.parse().map_err(|_| none())?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

fn client(target: &Target) -> Result<Agent, PushError> {
    let mut config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("tcpwin/", env!("CARGO_PKG_VERSION")));
    if target.url.starts_with("https:") {
        let tls = tls(&target.authorities).ok_or_else(|| PushError::Authorities {
            url: target.url.clone(),
        })?;
        config = config.tls_config(tls);
    }
    Ok(config.build().into())
}

#[expect(
    clippy::disallowed_methods,
    reason = "OTLP dates its points by the time of day"
)]
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_fails_is_asked_less_and_less_often() {
        let second = Duration::from_secs(1);
        let pauses: Vec<u64> = (1..12)
            .map(|failures| pause(second, failures).as_secs())
            .collect();
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(pause(600 * second, 3), 600 * second);
        assert_eq!(pause(second, u32::MAX), LONGEST_PAUSE);
    }
}
