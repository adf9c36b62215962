//! Whether and how metrics are sent by OTLP.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use super::setting::{Invalid, Setting, duration};

/// Where a receiver takes metrics, unless the address has a path.
const PATH: &str = "/v1/metrics";

/// Address of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    /// With its path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0
    }

    /// TLS is spoken there.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl Setting for Endpoint {
    const ALLOWED: &'static str =
        "an http or https address such as \"http://127.0.0.1:4318\", without a name or password";
}

impl FromStr for Endpoint {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let rest = text
            .strip_prefix("http://")
            .or_else(|| text.strip_prefix("https://"));
        let is_plain = |rest: &&str| {
            rest.bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'@' && byte != b'#')
        };
        let rest = rest.filter(is_plain).ok_or_else(|| Self::refuse(text))?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() || host.contains(['?', '"', '\\']) {
            return Err(Self::refuse(text));
        }
        Ok(Self(if path.is_empty() {
            format!("{}{PATH}", text.trim_end_matches('/'))
        } else {
            text.to_owned()
        }))
    }
}

/// From one message to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtlpInterval(Duration);

impl OtlpInterval {
    /// The same as std's type.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl Default for OtlpInterval {
    fn default() -> Self {
        Self(Duration::from_secs(60))
    }
}

impl Setting for OtlpInterval {
    const ALLOWED: &'static str = "a duration from 1s to 1h, such as \"15s\" or \"1m\"";
}

impl FromStr for OtlpInterval {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        duration(text)
            .filter(|given| (Duration::from_secs(1)..=Duration::from_secs(3_600)).contains(given))
            .map(Self)
            .ok_or_else(|| Self::refuse(text))
    }
}

/// What the file's `[otlp]` or the flags say of it.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[command(next_help_heading = "OTLP")]
pub struct OtlpSaid {
    /// Send the metrics there too, as OTLP over HTTP; the path is /v1/metrics unless there is one
    #[arg(long = "otlp.endpoint", value_name = "URL")]
    endpoint: Option<Endpoint>,
    /// How often [default: 60s]
    // The tick's is called so, too.
    #[arg(id = "otlp-interval", long = "otlp.interval", value_name = "TIME")]
    interval: Option<OtlpInterval>,
    /// File with a header of each request a line, `Name: value`
    #[arg(long = "otlp.headers-file", value_name = "FILE")]
    headers_file: Option<PathBuf>,
    /// File with the certificates, as PEM, by which that of an https receiver must be signed [default: those the system trusts]
    #[arg(long = "otlp.ca-file", value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

/// How metrics are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    /// Where to.
    pub endpoint: Endpoint,
    /// How often.
    pub interval: OtlpInterval,
    /// Headers of each request.
    pub headers_file: Option<PathBuf>,
    /// Who signs the receiver's certificate.
    pub ca_file: Option<PathBuf>,
}

impl Otlp {
    /// Flags win over the file; `None` unless one of them says where to.
    pub(super) fn merge(file: OtlpSaid, flags: OtlpSaid) -> Option<Self> {
        Some(Self {
            endpoint: flags.endpoint.or(file.endpoint)?,
            interval: flags.interval.or(file.interval).unwrap_or_default(),
            headers_file: flags.headers_file.or(file.headers_file),
            ca_file: flags.ca_file.or(file.ca_file),
        })
    }
}

/// The headers of a file's text, by name: a line each, empty ones and those that begin with `#` left out.
///
/// # Errors
/// Naming the file and the line that is no header; never its text, which may be a key.
pub fn headers(path: &Path, text: &str) -> Result<Vec<(String, String)>, String> {
    let mut headers = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!(
                "{}:{}: this is no header: write `Name: value`",
                path.display(),
                at + 1
            ));
        };
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_a_path_and_no_password() {
        let url = |text: &str| text.parse::<Endpoint>().map(|endpoint| endpoint.0).ok();
        for (text, is) in [
            ("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/metrics")),
            (
                "https://otlp.example.com/",
                Some("https://otlp.example.com/v1/metrics"),
            ),
            (
                "http://[::1]:9090/api/v1/otlp/v1/metrics",
                Some("http://[::1]:9090/api/v1/otlp/v1/metrics"),
            ),
            ("127.0.0.1:4318", None),
            ("grpc://127.0.0.1:4317", None),
            ("http://", None),
            ("http:///v1/metrics", None),
            ("https://key@otlp.example.com", None),
            ("http://a b", None),
        ] {
            assert_eq!(url(text).as_deref(), is, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_no_header_is_named_and_not_shown() {
        let path = Path::new("headers");
        let text = "# for the collector\nAuthorization: Bearer a:b\n\n X-Scope-OrgID:7 \n";
        let read = headers(path, text).unwrap();
        let pairs: Vec<(&str, &str)> = read
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(pairs, [("Authorization", "Bearer a:b"), ("X-Scope-OrgID", "7")]);
        let error = headers(path, "A: b\nsecret\n").unwrap_err();
        assert_eq!(error, "headers:2: this is no header: write `Name: value`");
    }
}
