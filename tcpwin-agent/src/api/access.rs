//! Who may see single connections: this host.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Refusal;

/// The other end of the HTTP connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Peer {
    Tcp(SocketAddr),
    /// Whom the socket's permissions let in.
    Unix,
}

/// Lets requests of this host through.
pub(super) async fn this_host_only(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied();
    match check(peer, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => Refusal(StatusCode::FORBIDDEN, why.to_owned()).into_response(),
    }
}

fn check(peer: Option<Peer>, headers: &HeaderMap) -> Result<(), &'static str> {
    match peer {
        // No web page reaches it, whatever the host is called.
        Some(Peer::Unix) => return Ok(()),
        Some(Peer::Tcp(peer)) if peer.ip().to_canonical().is_loopback() => {}
        _ => {
            return Err(
                "single connections are shown to this host alone, since they tell who talks with whom: \
                 ask over 127.0.0.1, [::1] or a unix socket; the metrics are open to every address listened on",
            );
        }
    }
    // A web page may point a name of its own at 127.0.0.1 and read with the user's browser (DNS rebinding).
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(|host| !names_this_host(host)) {
        return Err(
            "single connections are shown only under an address or `localhost`, not under another name, \
             so that no web page can read them through a browser",
        );
    }
    Ok(())
}

fn names_this_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn asked(peer: &str, host: &'static str) -> Result<(), &'static str> {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
        check(Some(Peer::Tcp(peer.parse().unwrap())), &headers)
    }

    #[test]
    fn loopback_may_ask() {
        assert!(asked("127.0.0.1:4000", "127.0.0.1:10430").is_ok());
        assert!(asked("[::1]:4000", "[::1]:10430").is_ok());
        assert!(asked("[::ffff:127.0.0.1]:4000", "localhost:10430").is_ok());
        assert!(asked("127.0.0.9:4000", "localhost").is_ok());
        let any = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("example.com"))]);
        assert!(check(Some(Peer::Unix), &any).is_ok());
    }

    #[test]
    fn others_may_not() {
        for peer in ["192.0.2.7:4000", "[2001:db8::7]:4000", "[::ffff:192.0.2.7]:4000"] {
            assert!(
                asked(peer, "127.0.0.1:10430")
                    .unwrap_err()
                    .contains("this host alone"),
                "{peer}"
            );
        }
        assert!(check(None, &HeaderMap::new()).is_err());
    }

    #[test]
    fn a_rebound_name_may_not() {
        for host in [
            "example.com",
            "example.com:10430",
            "localhost.example.com",
            "127.0.0.1.example.com:80",
        ] {
            assert!(
                asked("127.0.0.1:4000", host).unwrap_err().contains("browser"),
                "{host}"
            );
        }
    }
}
