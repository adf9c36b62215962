//! Who may see single connections: this host, and who has shown who he is.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{App, Refusal};

/// The other end of the HTTP connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Peer {
    Tcp(SocketAddr),
    /// Whom the socket's permissions let in.
    Unix,
}

impl Peer {
    /// Its address, if it has one; an IPv4 address is told as such however it came.
    pub(super) fn address(self) -> Option<IpAddr> {
        match self {
            Self::Tcp(peer) => Some(peer.ip().to_canonical()),
            Self::Unix => None,
        }
    }

    /// What one host has to itself: its IPv4 address, or the prefix of its IPv6 network (RFC 4291, section 2.5.1).
    pub(super) fn neighbourhood(self) -> Option<IpAddr> {
        self.address().map(|address| match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => IpAddr::from(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        })
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub peer: Peer,
    /// A password or a verified certificate was shown.
    pub authenticated: bool,
}

/// Lets requests through that may see single connections.
pub(super) async fn known_or_this_host(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let caller = request.extensions().get::<Caller>().copied();
    match check(caller, request.headers(), &app.allowed_hosts) {
        Ok(()) => next.run(request).await,
        Err(why) => Refusal(StatusCode::FORBIDDEN, why.to_owned()).into_response(),
    }
}

fn check(caller: Option<Caller>, headers: &HeaderMap, allowed_hosts: &[String]) -> Result<(), &'static str> {
    let Some(caller) = caller else {
        return Err(OTHERS);
    };
    let Some(address) = caller.peer.address() else {
        // No web page reaches a unix socket, whatever the host is called.
        return Ok(());
    };
    if is_of_another_site(headers) {
        return Err(
            "single connections and /-/reload are not for pages of other sites: open the address itself",
        );
    }
    if caller.authenticated {
        return Ok(());
    }
    if !address.is_loopback() {
        return Err(OTHERS);
    }
    // What a proxy says of its client is not believed, but that there is one makes it another host's request.
    if FORWARDED.iter().any(|name| headers.contains_key(*name)) {
        return Err(
            "this request came through a proxy, so that who asks is unknown: single connections are shown to this host, \
             or with a password or client certificate (--web.config.file, see docs/web-config.md)",
        );
    }
    // A web page may point a name of its own at 127.0.0.1 and read with the user's browser (DNS rebinding).
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(|host| !names_this_host(host, allowed_hosts)) {
        return Err(
            "single connections are shown only under an address or `localhost`, not under another name, \
             so that no web page can read them through a browser; --web.allowed-host allows a name",
        );
    }
    Ok(())
}

const OTHERS: &str = "single connections tell who talks with whom, and this listener does not ask who you are: ask over \
     127.0.0.1, [::1] or a unix socket on the host itself, or give the agent passwords or client certificates with \
     --web.config.file (docs/web-config.md); the metrics are open to every address listened on";

/// What proxies add.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// By what browsers say of whose page asks (W3C Fetch Metadata; RFC 6454). Following a link to us is not a page reading us.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let followed = text("sec-fetch-mode") == Some("navigate") && text("sec-fetch-dest") == Some("document");
    let site = text("sec-fetch-site");
    if !followed && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return true;
    }
    let origin = text("origin").map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    origin.is_some_and(|origin| Some(origin) != text("host"))
}

fn names_this_host(host: &str, allowed_hosts: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok()
        || allowed_hosts
            .iter()
            .any(|allowed| name.eq_ignore_ascii_case(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = given
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        pairs.collect()
    }

    fn caller(peer: &str, authenticated: bool) -> Option<Caller> {
        Some(Caller {
            peer: Peer::Tcp(peer.parse().unwrap()),
            authenticated,
        })
    }

    fn asked(peer: &str, host: &'static str) -> Result<(), &'static str> {
        let allowed = ["tcpwin.internal".to_owned()];
        check(caller(peer, false), &headers(&[("host", host)]), &allowed)
    }

    #[test]
    fn loopback_may_ask() {
        assert!(asked("127.0.0.1:4000", "127.0.0.1:10430").is_ok());
        assert!(asked("[::1]:4000", "[::1]:10430").is_ok());
        assert!(asked("[::ffff:127.0.0.1]:4000", "localhost:10430").is_ok());
        assert!(asked("127.0.0.9:4000", "localhost").is_ok());
        assert!(asked("127.0.1.1:4000", "TCPwin.internal:10430").is_ok());
        let unix = Some(Caller {
            peer: Peer::Unix,
            authenticated: false,
        });
        assert!(check(unix, &headers(&[("host", "example.com")]), &[]).is_ok());
    }

    #[test]
    fn others_may_not_unless_they_show_who_they_are() {
        for peer in ["192.0.2.7:4000", "[2001:db8::7]:4000", "[::ffff:192.0.2.7]:4000"] {
            let why = asked(peer, "127.0.0.1:10430").unwrap_err();
            assert!(why.contains("--web.config.file"), "{peer}: {why}");
            let known = check(caller(peer, true), &headers(&[("host", "tcpwin.example")]), &[]);
            assert!(known.is_ok(), "{peer}");
        }
        assert!(check(None, &HeaderMap::new(), &[]).is_err());
    }

    #[test]
    fn what_a_proxy_says_lets_nobody_in() {
        for name in FORWARDED {
            let of = headers(&[("host", "127.0.0.1:10430"), (name, "127.0.0.1")]);
            let near = check(caller("127.0.0.1:4000", false), &of, &[]).unwrap_err();
            assert!(near.contains("proxy"), "{name}: {near}");
            assert!(
                check(caller("192.0.2.7:4000", false), &of, &[]).is_err(),
                "{name}"
            );
            assert!(check(caller("127.0.0.1:4000", true), &of, &[]).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_rebound_name_may_not() {
        for host in [
            "example.com",
            "example.com:10430",
            "localhost.example.com",
            "127.0.0.1.example.com:80",
            "tcpwin.internal.example.com",
        ] {
            assert!(
                asked("127.0.0.1:4000", host).unwrap_err().contains("browser"),
                "{host}"
            );
        }
    }

    #[test]
    fn pages_of_other_sites_may_not() {
        let host = ("host", "127.0.0.1:10430");
        let refused: [&[_]; 6] = [
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
            &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
            &[
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ],
            &[("origin", "http://example.com")],
            &[("origin", "null")],
            &[
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
                ("origin", "http://127.0.0.1:3000"),
            ],
        ];
        for given in refused {
            let all = headers(&[given, &[host]].concat());
            for authenticated in [false, true] {
                let why = check(caller("127.0.0.1:4000", authenticated), &all, &[]).unwrap_err();
                assert!(why.contains("other sites"), "{given:?}: {why}");
            }
        }
        let taken: [&[_]; 4] = [
            &[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
            &[
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ],
            &[("origin", "http://127.0.0.1:10430")],
        ];
        for given in taken {
            let all = headers(&[given, &[host]].concat());
            assert_eq!(
                check(caller("127.0.0.1:4000", false), &all, &[]),
                Ok(()),
                "{given:?}"
            );
        }
    }
}
