//! Attaching to a running agent over its API.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::mpsc;
use ureq::Agent;
use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::DefaultResolver;

use crate::query::Filter;
use crate::snapshot::feed::{Events, Told};
use crate::snapshot::{Feed, FeedError, Mirror, Snapshot, TraceEvent, Watch};

mod error;
mod login;
mod place;
#[cfg(test)]
mod tests;
mod unix;

pub use self::error::AttachError;
pub use self::login::{Credentials, Login};
use self::place::Place;
use self::unix::UnixConnector;

/// Where an agent is looked for without `--connect`.
pub const DEFAULT_URL: &str = "http://127.0.0.1:10430";
/// Where it is looked for before that.
pub const DEFAULT_SOCKET: &str = "unix:/run/tcpwin/tcpwin.sock";

/// Time for a whole snapshot, 100,000 connections included.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Largest answer taken, bytes.
const ANSWER_BYTES: u64 = 1 << 30;

/// Events kept for a slow reader before the agent is left to notice.
const EVENTS_KEPT: usize = 1_024;

/// An agent that answers.
#[derive(Clone, Debug)]
pub struct Attached {
    place: Place,
    /// `place` as text.
    url: String,
    http: Agent,
    login: Arc<Login>,
    version: String,
    watched: Option<Watch>,
    /// What it told so far.
    mirror: Mirror,
    /// It is older than changes, and tells all each time.
    tells_all: bool,
}

#[derive(Deserialize)]
struct Greeting {
    service: String,
    version: String,
}

impl Attached {
    /// The agent at `url`, `host:port` or `unix:/path`.
    ///
    /// # Errors
    /// When nobody or somebody else answers, or the login is not taken.
    pub fn connect(url: &str, login: &Login) -> Result<Self, AttachError> {
        let (url, in_url) = login::split_url(url);
        let place: Place = url.parse().map_err(|_| AttachError::Url { url })?;
        let url = place.to_string();
        let mut login = login.clone();
        login.credentials = in_url.or(login.credentials);
        let http = client(&place, &login, Some(ANSWER_TIMEOUT))?;
        let greeting = match ask(&http, &login, place.base(), "/healthz") {
            Ok(bytes) => serde_json::from_slice::<Greeting>(&bytes).map_err(|error| error.to_string()),
            Err(Failure::Transport(cause)) => return Err(AttachError::Unreachable { url, cause }),
            Err(Failure::Status(401, _)) => {
                let tried = login.credentials.is_some();
                return Err(AttachError::Unauthorized { url, tried });
            }
            Err(Failure::Status(status, words)) => Err(format!("HTTP status {status}: {words}")),
        };
        match greeting {
            Ok(Greeting { service, version }) if service == "tcpwin" => Ok(Self {
                place,
                url,
                http,
                login: Arc::new(login),
                version,
                watched: None,
                mirror: Mirror::default(),
                tells_all: false,
            }),
            Ok(Greeting { service, .. }) => Err(AttachError::Stranger { url, what: service }),
            Err(what) => Err(AttachError::Stranger { url, what }),
        }
    }

    /// The agent at the default socket or address, if one runs there.
    #[must_use]
    pub fn find() -> Option<Self> {
        [DEFAULT_SOCKET, DEFAULT_URL]
            .into_iter()
            .find_map(|url| Self::connect(url, &Login::default()).ok())
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A sentence when the agent is of another version than this program.
    #[must_use]
    pub fn version_note(&self) -> Option<String> {
        let ours = env!("CARGO_PKG_VERSION");
        (self.version != ours).then(|| {
            format!(
                "the agent at {} is tcpwin {}, this is {ours}: fields that only one knows are left out",
                self.url, self.version
            )
        })
    }

    /// Its events from now on that pass `filter`; an agent that is older than filters tells all. They are read on a thread of
    /// their own that ends with the agent or the reader.
    ///
    /// # Errors
    /// When the agent is gone or refuses.
    pub fn events(&self, filter: &Filter) -> Result<Events, AttachError> {
        let endless = client(&self.place, &self.login, None)?;
        let mut path = "/api/v1/events".to_owned();
        if !filter.is_empty() {
            path.push_str("?filter=");
            path.push_str(&encoded(filter.text()));
        }
        let response =
            open(&endless, &self.login, self.place.base(), &path).map_err(|failure| self.refused(failure))?;
        let (tell, told) = mpsc::channel(EVENTS_KEPT);
        let lines = BufReader::new(response.into_body().into_reader());
        let reader = std::thread::Builder::new().name("tcpwin-events".to_owned());
        reader
            .spawn(move || read_events(lines, &tell))
            .map_err(|error| AttachError::Unreachable {
                url: self.url.clone(),
                cause: error.to_string(),
            })?;
        Ok(Events::from_channel(told))
    }

    /// What goes into its table from now on, as the bytes of a recording.
    ///
    /// # Errors
    /// When the agent is gone or refuses.
    pub fn recording(&self) -> Result<impl Read + Send + use<>, AttachError> {
        let endless = client(&self.place, &self.login, None)?;
        let response = open(&endless, &self.login, self.place.base(), "/api/v1/recording")
            .map_err(|failure| self.refused(failure))?;
        Ok(response.into_body().into_reader())
    }

    fn refused(&self, failure: Failure) -> AttachError {
        let url = self.url.clone();
        match failure {
            Failure::Transport(cause) => AttachError::Unreachable { url, cause },
            Failure::Status(401, _) => AttachError::Unauthorized {
                url,
                tried: self.login.credentials.is_some(),
            },
            Failure::Status(_, why) => AttachError::Refused { url, why },
        }
    }

    /// The path of the next snapshot.
    fn snapshot_path(&self) -> String {
        let since = (!self.tells_all).then(|| format!("since={}", self.mirror.since()));
        // Ids are decimal: nothing in them wants escaping.
        let watch = self.watched.as_ref();
        let watch = watch.map(|Watch { id, netns }| format!("watch={id}&netns={netns}"));
        let query: Vec<String> = since.into_iter().chain(watch).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("/api/v1/snapshot{mark}{}", query.join("&"))
    }

    fn ask(&self, path: &str) -> Result<Vec<u8>, Failure> {
        ask(&self.http, &self.login, self.place.base(), path)
    }

    fn malformed(&self, cause: &dyn std::fmt::Display) -> FeedError {
        FeedError::Malformed {
            at: self.url.clone(),
            cause: cause.to_string(),
        }
    }
}

impl Feed for Attached {
    fn latest(&mut self) -> Result<Arc<Snapshot>, FeedError> {
        let mut answer = self.ask(&self.snapshot_path());
        if let Err(Failure::Status(BAD_REQUEST, _)) = answer
            && !self.tells_all
        {
            self.tells_all = true;
            answer = self.ask(&self.snapshot_path());
        }
        let bytes = answer.map_err(|failure| FeedError::Unreachable {
            at: self.url.clone(),
            cause: match failure {
                Failure::Transport(cause) => cause,
                Failure::Status(_, why) => why,
            },
        })?;
        let told: Snapshot = serde_json::from_slice(&bytes).map_err(|error| self.malformed(&error))?;
        self.mirror.fold(told).map_err(|misfit| self.malformed(&misfit))
    }

    fn watch(&mut self, connection: Option<Watch>) {
        self.watched = connection;
    }
}

/// What an agent says to a parameter that it does not know.
const BAD_REQUEST: u16 = 400;

enum Failure {
    Transport(String),
    /// Not 200; with the agent's sentence.
    Status(u16, String),
}

fn client(place: &Place, login: &Login, timeout: Option<Duration>) -> Result<Agent, AttachError> {
    let tls = if place.is_tls() {
        login.tls()?
    } else {
        TlsConfig::default()
    };
    let config = Agent::config_builder()
        .timeout_connect(Some(place.connect_timeout()))
        .tls_config(tls)
        .timeout_recv_response(Some(ANSWER_TIMEOUT))
        .timeout_global(timeout)
        // What the environment says of proxies is not meant for an agent.
        .proxy(None)
        .http_status_as_error(false)
        .user_agent(concat!("tcpwin/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(match place {
        Place::Http(_) => config.into(),
        Place::Unix(path) => {
            let connector = UnixConnector(path.clone());
            Agent::with_parts(config, connector, DefaultResolver::default())
        }
    })
}

fn open(
    http: &Agent,
    login: &Login,
    base: &str,
    path: &str,
) -> Result<ureq::http::Response<ureq::Body>, Failure> {
    let mut request = http.get(format!("{base}{path}"));
    if let Some(credentials) = &login.credentials {
        request = request.header("Authorization", credentials.header());
    }
    let response = request.call().map_err(|error| {
        let cause = error.to_string();
        let remedy = login::remedy(&cause);
        Failure::Transport(cause + remedy)
    })?;
    let status = response.status().as_u16();
    if status == 200 {
        return Ok(response);
    }
    let mut text = String::new();
    let mut body = response.into_body().into_reader().take(4_096);
    // What could not be read of a refusal is only its words.
    let _ = body.read_to_string(&mut text);
    let words = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|value| value["error"].as_str().map(str::to_owned))
        .unwrap_or_else(|| match text.lines().next() {
            Some(line) if line.len() < 200 && !line.starts_with('<') => line.to_owned(),
            _ => format!("HTTP status {status}"),
        });
    Err(Failure::Status(status, words))
}

fn ask(http: &Agent, login: &Login, base: &str, path: &str) -> Result<Vec<u8>, Failure> {
    let body = open(http, login, base, path)?.into_body();
    let mut limited = body.into_with_config().limit(ANSWER_BYTES).reader();
    let mut bytes = Vec::new();
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Transport(error.to_string()))?;
    Ok(bytes)
}

/// As a value in a query (RFC 3986, section 2.1).
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Reads server-sent events (WHATWG HTML, section 9.2) until either end is gone.
fn read_events(mut lines: impl BufRead, tell: &mpsc::Sender<Told>) {
    let mut line = String::new();
    let mut kind = String::new();
    loop {
        line.clear();
        match lines.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let told = match line.trim_end_matches(['\r', '\n']).split_once(": ") {
            Some(("event", name)) => {
                name.clone_into(&mut kind);
                continue;
            }
            Some(("data", data)) => decode(&kind, data),
            _ => continue,
        };
        if tell.blocking_send(told).is_err() {
            return;
        }
    }
}

fn decode(kind: &str, data: &str) -> Told {
    #[derive(Deserialize)]
    struct Missed {
        count: u64,
    }
    let decoded = if kind == "missed" {
        serde_json::from_str(data).map(|Missed { count }| Told::Missed(count))
    } else {
        serde_json::from_str::<TraceEvent>(data).map(|event| Told::Event(Arc::new(event)))
    };
    decoded.unwrap_or_else(|error| Told::Broken(format!("an event `{kind}` cannot be read: {error}")))
}
