//! What every request passes before it is answered: its size, the rate, the password.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::exporter::{HttpCounts, Refused};

use super::Refusal;
use super::access::{Caller, Peer};
use super::web::{Active, Judged, Web};

/// Longest path and query, bytes.
const URI_BYTES: usize = 8 << 10;

/// The gate of one connection.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    web: Web,
    caller: Caller,
    counts: Arc<HttpCounts>,
}

impl Gate {
    pub(super) fn new(web: Web, caller: Caller) -> Self {
        let counts = web.counts();
        Self { web, caller, counts }
    }

    /// Lets the request through, with what is known of its sender; else the answer.
    pub(super) async fn admit<B: hyper::body::Body>(
        &self,
        request: &mut Request<B>,
    ) -> Result<(), Box<Response>> {
        let active = self.web.current();
        let mut caller = self.caller;
        let outcome = self.judge(&active, &mut caller, request).await;
        request.extensions_mut().insert(caller);
        outcome.map_err(|refusal| {
            let (unauthorized, too_large) = (
                refusal.0 == StatusCode::UNAUTHORIZED,
                refusal.0 == StatusCode::PAYLOAD_TOO_LARGE,
            );
            let mut response = refusal.into_response();
            if unauthorized {
                let scheme = HeaderValue::from_static("Basic realm=\"tcpwin\", charset=\"UTF-8\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            if too_large {
                // What it would send is not read.
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            Box::new(response)
        })
    }

    async fn judge<B: hyper::body::Body>(
        &self,
        active: &Active,
        caller: &mut Caller,
        request: &Request<B>,
    ) -> Result<(), Refusal> {
        if !request.body().is_end_stream() {
            let why = "no path takes a body: send the request without one";
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, why.to_owned()));
        }
        let asked = request
            .uri()
            .path_and_query()
            .map_or(0, |asked| asked.as_str().len());
        if asked > URI_BYTES {
            let why = format!("the path and query are longer than {URI_BYTES} bytes");
            return Err(Refusal(StatusCode::URI_TOO_LONG, why));
        }
        // Whom the socket's permissions let in has shown who he is.
        let Some(from) = caller.peer.neighbourhood() else {
            return Ok(());
        };
        if !active.lets_one_through() {
            let why = "more requests than `rate_limit` of the web configuration file allows: come again";
            return Err(Refusal(StatusCode::TOO_MANY_REQUESTS, why.to_owned()));
        }
        if active.wants_password() {
            self.ask_password(active, from, request.headers()).await?;
            caller.authenticated = true;
        }
        Ok(())
    }

    async fn ask_password(&self, active: &Active, from: IpAddr, headers: &HeaderMap) -> Result<(), Refusal> {
        let unauthorized = |why: &str| Refusal(StatusCode::UNAUTHORIZED, why.to_owned());
        let Some((user, password)) = headers.get(header::AUTHORIZATION).and_then(credentials) else {
            return Err(unauthorized(
                "a user and password are wanted (HTTP basic authentication)",
            ));
        };
        match self.web.judge(active, &user, &password, Some(from)).await {
            Judged::Right => Ok(()),
            Judged::Wrong => Err(unauthorized(
                "this is not the password of a user who is known here",
            )),
            Judged::Busy => Err(Refusal(
                StatusCode::TOO_MANY_REQUESTS,
                "too many passwords wait to be looked at: come again".to_owned(),
            )),
        }
    }

    /// Adds the headers of every answer, and counts those that refuse.
    pub(super) fn finish(&self, response: &mut Response) {
        let refused = match response.status() {
            StatusCode::UNAUTHORIZED => Some(Refused::Unauthorized),
            StatusCode::FORBIDDEN => Some(Refused::Forbidden),
            StatusCode::PAYLOAD_TOO_LARGE => Some(Refused::Body),
            StatusCode::URI_TOO_LONG => Some(Refused::Uri),
            StatusCode::TOO_MANY_REQUESTS => Some(Refused::Rate),
            StatusCode::SERVICE_UNAVAILABLE if response.extensions().get::<Busy>().is_some() => {
                Some(Refused::Busy)
            }
            _ => None,
        };
        refused.inspect(|why| self.counts.refuse(*why));
        let headers = response.headers_mut();
        for (name, value) in SAFE {
            headers
                .entry(name)
                .or_insert_with(|| HeaderValue::from_static(value));
        }
        if matches!(self.caller.peer, Peer::Tcp(_)) {
            let said = self.web.current();
            for (name, value) in said.headers() {
                headers.insert(name, value.clone());
            }
        }
    }
}

/// Marks an answer that is refused for want of room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy;

/// No answer is kept, framed, taken for something else, or read by the page of another site.
const SAFE: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "deny"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// User and password of HTTP basic authentication (RFC 7617).
fn credentials(header: &HeaderValue) -> Option<(String, Vec<u8>)> {
    let (scheme, coded) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = BASE64.decode(coded.trim()).ok()?;
    let colon = plain.iter().position(|byte| *byte == b':')?;
    let user = String::from_utf8(plain[..colon].to_vec()).ok()?;
    Some((user, plain[colon + 1..].to_vec()))
}

/// As clients send it, padded or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_as_clients_send_them() {
        let of = |text: &str| credentials(&HeaderValue::from_str(text).unwrap());
        // RFC 7617, section 2.
        let aladdin = Some(("Aladdin".to_owned(), b"open sesame".to_vec()));
        assert_eq!(of("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), aladdin);
        assert_eq!(of("basic  QWxhZGRpbjpvcGVuIHNlc2FtZQ"), aladdin);
        assert_eq!(of("Basic Ojo="), Some((String::new(), b":".to_vec())));
        for wrong in [
            "Basic",
            "Basic ",
            "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Basic Q-x_",
            "Basic QWxh",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
