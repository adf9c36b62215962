//! The web configuration file as it is written: YAML of Prometheus' exporter toolkit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Fault;
use super::secret::Secret;
use super::value::{BcryptHash, ClientAuth, Curve, GoDuration, HeaderText, Suite, Version};

/// All of it; every part may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub tls_server_config: Option<Tls>,
    pub http_server_config: Option<Http>,
    pub basic_auth_users: Option<BTreeMap<String, BcryptHash>>,
    pub rate_limit: Option<RateLimit>,
}

/// `tls_server_config`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tls {
    pub cert: Option<String>,
    pub key: Option<Secret>,
    pub client_ca: Option<String>,
    pub cert_file: Option<PathBuf>,
    pub key_file: Option<PathBuf>,
    pub client_ca_file: Option<PathBuf>,
    pub client_auth_type: Option<ClientAuth>,
    pub client_allowed_sans: Option<Vec<String>>,
    pub min_version: Option<Version>,
    pub max_version: Option<Version>,
    pub cipher_suites: Option<Vec<Suite>>,
    pub prefer_server_cipher_suites: Option<bool>,
    pub curve_preferences: Option<Vec<Curve>>,
}

/// `http_server_config`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Http {
    pub http2: Option<bool>,
    pub headers: Option<Headers>,
}

/// The headers that may be added to answers; no others, as in the toolkit.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Headers {
    #[serde(rename = "Content-Security-Policy")]
    pub content_security_policy: Option<HeaderText>,
    #[serde(rename = "X-Frame-Options")]
    pub x_frame_options: Option<FrameOptions>,
    #[serde(rename = "X-Content-Type-Options")]
    pub x_content_type_options: Option<NoSniff>,
    #[serde(rename = "X-XSS-Protection")]
    pub x_xss_protection: Option<HeaderText>,
    #[serde(rename = "Strict-Transport-Security")]
    pub strict_transport_security: Option<HeaderText>,
}

/// The values of `X-Frame-Options`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FrameOptions {
    Deny,
    SameOrigin,
}

/// The value of `X-Content-Type-Options`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NoSniff {
    NoSniff,
}

/// `rate_limit`: a bucket of `burst` requests that gains one each `interval`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateLimit {
    #[serde(default)]
    pub interval: GoDuration,
    #[serde(default)]
    pub burst: u32,
}

impl File {
    /// From the file's text; names of files in it become paths beside `path`.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Fault> {
        // A parser's excerpt of the file would put keys and hashes into the log.
        let options = serde_saphyr::options! { with_snippet: false };
        let read = serde_saphyr::from_str_with_options::<Option<Self>>(text, options);
        let mut file = read.map_err(|error| told(&error))?.unwrap_or_default();
        let directory = path.parent().unwrap_or(Path::new(""));
        if let Some(tls) = &mut file.tls_server_config {
            for named in [&mut tls.cert_file, &mut tls.key_file, &mut tls.client_ca_file] {
                *named = named
                    .take()
                    .filter(|name| !name.as_os_str().is_empty())
                    .map(|name| directory.join(name));
            }
        }
        Ok(file)
    }
}

impl Tls {
    /// The files it is made of.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.cert_file, &self.key_file, &self.client_ca_file]
            .into_iter()
            .flatten()
    }
}

/// The line and what is wrong there, in one sentence.
fn told(error: &serde_saphyr::Error) -> Fault {
    let line = error.location().map(|location| location.line());
    let whole = error.without_snippet().to_string();
    // The parser repeats where it is, and tells programmers of its options.
    let ends = [" at line ", ", set DuplicateKeyPolicy"];
    let sentence = ends
        .iter()
        .fold(whole.as_str(), |text, end| text.split(end).next().unwrap_or(text));
    Fault {
        line: line
            .and_then(|line| usize::try_from(line).ok())
            .filter(|line| *line > 0),
        message: sentence.lines().next().unwrap_or(sentence).trim().to_owned(),
    }
}
