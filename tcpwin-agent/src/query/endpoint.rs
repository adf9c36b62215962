//! Addresses and ports as people name them.

use std::fmt;
use std::net::SocketAddr;

use crate::observation::Prefix;

/// Which endpoints are meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Endpoint {
    /// `203.0.113.9:443`, `[2001:db8::1]:443`.
    Whole(SocketAddr),
    /// `203.0.113.0/24`, or an address alone.
    Within(Prefix),
    /// `:443`.
    Port(u16),
    /// The start of an address up to a dot or colon: `203.0.113`, `2001:db8:`. Lower case, without a bracket.
    Start(String),
}

impl Endpoint {
    /// What may be written, for people.
    pub(super) const EXAMPLE: &'static str =
        "an address, address:port, :port, a prefix such as 203.0.113.0/24, or the start of an address";

    pub(super) fn read(text: &str) -> Option<Self> {
        if let Some(port) = text.strip_prefix(':').and_then(|port| port.parse().ok()) {
            return Some(Self::Port(port));
        }
        if let Ok(whole) = text.parse() {
            return Some(Self::Whole(whole));
        }
        let start = text.strip_prefix('[').unwrap_or(text);
        if let Ok(prefix) = start.strip_suffix(']').unwrap_or(start).parse() {
            return Some(Self::Within(prefix));
        }
        let of_address = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
        // `:99999` is no port, `[:443` and `[192.0.2.1:443` are no start of an address.
        let is_other =
            (start.starts_with(':') && !start.starts_with("::")) || start.parse::<SocketAddr>().is_ok();
        (!start.is_empty() && !is_other && start.chars().all(of_address))
            .then(|| Self::Start(start.to_ascii_lowercase()))
    }

    /// If `text`, which is `parsed`, is one of them.
    pub(super) fn is(&self, text: &str, parsed: SocketAddr) -> bool {
        match self {
            Self::Whole(whole) => {
                whole.port() == parsed.port() && whole.ip().to_canonical() == parsed.ip().to_canonical()
            }
            Self::Within(prefix) => prefix.contains(parsed.ip()),
            Self::Port(port) => *port == parsed.port(),
            Self::Start(start) => {
                let address = text.strip_prefix('[').unwrap_or(text);
                let separates = |byte: &u8| matches!(byte, b'.' | b':' | b']');
                address.strip_prefix(start.as_str()).is_some_and(|rest| {
                    start.ends_with(['.', ':']) || rest.as_bytes().first().is_none_or(separates)
                })
            }
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(formatter),
            Self::Within(prefix) => prefix.fmt(formatter),
            Self::Port(port) => write!(formatter, ":{port}"),
            Self::Start(start) => formatter.write_str(start),
        }
    }
}
