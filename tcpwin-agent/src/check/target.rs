//! Whom to check, as people write it: a host, with a port or not, or the address of a page.

use std::net::Ipv6Addr;
use std::str::FromStr;

/// A server and what to ask it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// TLS is spoken there.
    pub tls: bool,
    /// What to ask for, with its slash.
    pub path: String,
}

/// What is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no server: write example.org, example.org:8443, [2001:db8::1]:443, https://example.org/page or http://example.org"
)]
pub struct TargetError(String);

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError(text.to_owned());
        let (scheme, rest) = match text.split_once("://") {
            Some(("https", rest)) => (Some(443), rest),
            Some(("http", rest)) => (Some(80), rest),
            Some(_) => return Err(wrong()),
            None => (None, text),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let (host, port) = host_and_port(authority).ok_or_else(wrong)?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._:".contains(letter);
        if host.is_empty() || !host.chars().all(is_name) || path.chars().any(|letter| letter <= ' ') {
            return Err(wrong());
        }
        let port = port.or(scheme).unwrap_or(443);
        Ok(Self {
            host: host.to_owned(),
            port,
            tls: match scheme {
                Some(scheme) => scheme == 443,
                None => port != 80,
            },
            path: path.to_owned(),
        })
    }
}

fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        let port = match after {
            "" => None,
            _ => Some(port(after.strip_prefix(':')?)?),
        };
        return Some((host, port));
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Some((text, None));
    }
    match text.split_once(':') {
        Some((host, given)) => Some((host, Some(port(given)?))),
        None => Some((text, None)),
    }
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn what_people_write_is_read() {
        for (text, host, port, tls, path) in [
            ("example.org", "example.org", 443, true, "/"),
            ("example.org:8443", "example.org", 8443, true, "/"),
            ("192.0.2.1:80", "192.0.2.1", 80, false, "/"),
            ("::1", "::1", 443, true, "/"),
            ("[2001:db8::1]:444", "2001:db8::1", 444, true, "/"),
            ("[2001:db8::1]", "2001:db8::1", 443, true, "/"),
            ("https://a.example/b?c", "a.example", 443, true, "/b?c"),
            ("http://a.example:8080", "a.example", 8080, false, "/"),
            ("https://a.example:80/", "a.example", 80, true, "/"),
            ("example.org/big", "example.org", 443, true, "/big"),
        ] {
            let target = Target {
                host: host.to_owned(),
                port,
                tls,
                path: path.to_owned(),
            };
            assert_eq!(text.parse(), Ok(target), "{text}");
        }
    }

    #[test]
    fn what_is_no_server_is_refused() {
        for text in [
            "",
            ":443",
            "a b",
            "a:0",
            "a:70000",
            "[::1",
            "[x]:1",
            "ftp://a",
            "a/b\r\nX: y",
            "a:1:2",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
