//! Where an agent is, as people write it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Where an agent is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `http://host:port` or `https://host:port`.
    Http(String),
    /// The path of its socket.
    Unix(PathBuf),
}

/// Time for a connection on this host.
const NEAR: Duration = Duration::from_millis(500);
/// And over a network, one lost packet included (RFC 6298, section 2).
const FAR: Duration = Duration::from_secs(4);

/// Neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoPlace;

impl Place {
    /// What stands before a path of the API.
    pub(super) fn base(&self) -> &str {
        match self {
            Self::Http(url) => url,
            // Nobody resolves it; it is only the name of the host in the request.
            Self::Unix(_) => "http://127.0.0.1",
        }
    }

    pub(super) fn is_tls(&self) -> bool {
        self.base().starts_with("https://")
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        let host = self.base().split_once("://").map_or("", |(_, host)| host);
        let is_near = ["127.", "[::1]", "localhost"]
            .iter()
            .any(|near| host.starts_with(near));
        if is_near { NEAR } else { FAR }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(url) => formatter.write_str(url),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Place {
    type Err = NoPlace;

    /// `host:port`, `http://host:port/`, `https://host:port/`, `:port` or `unix:/path`.
    fn from_str(text: &str) -> Result<Self, NoPlace> {
        if let Some(path) = text.strip_prefix("unix:") {
            // `unix:///path` is written by people used to URLs.
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.starts_with('/') {
                Ok(Self::Unix(path.into()))
            } else {
                Err(NoPlace)
            };
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (scheme, rest),
            Some(_) => return Err(NoPlace),
            None => ("http", text),
        };
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            return Err(NoPlace);
        }
        let here = if host.starts_with(':') { "127.0.0.1" } else { "" };
        Ok(Self::Http(format!("{scheme}://{here}{host}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        for (text, shown) in [
            ("127.0.0.1:10430", "http://127.0.0.1:10430"),
            ("http://[::1]:1/", "http://[::1]:1"),
            (":1", "http://127.0.0.1:1"),
            ("https://host:1/", "https://host:1"),
            ("unix:/run/tcpwin.sock", "unix:/run/tcpwin.sock"),
            ("unix:///run/tcpwin.sock", "unix:/run/tcpwin.sock"),
        ] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), shown);
        }
        for wrong in [
            "ftp://host",
            "http://host/path",
            "",
            "http://",
            "a b",
            "user@host",
            "unix:",
            "unix:relative.sock",
        ] {
            assert_eq!(wrong.parse::<Place>(), Err(NoPlace), "{wrong}");
        }
    }
}
