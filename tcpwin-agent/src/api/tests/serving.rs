//! Hostile heads, and the end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use super::{raw, served, snapshot};
use crate::exporter::Refused;

#[test]
fn a_huge_head_is_refused_and_a_gone_pipeline_named() {
    let mut served = served(snapshot(0));
    let long = "x".repeat(40_000);
    let answer = raw(
        served.address,
        &format!("GET / HTTP/1.1\r\nHost: a\r\nLong: {long}\r\n\r\n"),
    );
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");

    let rebound = "GET /api/v1/snapshot HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(raw(served.address, rebound).starts_with("HTTP/1.1 403"));

    served.inlet.requests.close();
    let (status, why) = served.ask("/api/v1/connections", &Arc::new(snapshot(0)));
    assert!(
        status == 503 && why.contains("pipeline has ended"),
        "{status} {why}"
    );
}

/// Each is refused with its status and counted under its cause.
#[test]
fn what_is_too_much_or_not_for_this_reader_is_refused_and_counted() {
    let mut served = served(snapshot(3));
    let full = Arc::new(snapshot(3));
    let long = "x".repeat(9_000);
    let cases = [
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
            413,
            "body",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
            413,
            "body",
        ),
        (closing("GET", &format!("/?{long}"), ""), 414, "path and query"),
        (closing("POST", "/-/reload", ""), 403, "not enabled"),
        (closing("GET", "/-/reload", ""), 405, ""),
        (
            closing("GET", "/api/v1/connections", "Sec-Fetch-Site: cross-site\r\n"),
            403,
            "other sites",
        ),
        (
            closing("GET", "/api/v1/connections", "Via: 1.1 proxy\r\n"),
            403,
            "proxy",
        ),
        (closing("GET", "/api/v1/connections", ""), 200, "\"connections\""),
    ];
    let address = served.address;
    for (request, status, part) in cases {
        let answer = served.playing(&full, move || raw(address, &request));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(answer.contains(part), "{answer}");
        for header in [
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cross-origin-resource-policy",
        ] {
            assert!(answer.contains(header), "{header}: {answer}");
        }
        assert!(!answer.contains("access-control"), "{answer}");
    }
    let counts = served.web.counts();
    let counted = [Refused::Body, Refused::Uri, Refused::Forbidden].map(|why| counts.refused(why));
    assert_eq!(counted, [2, 1, 3]);
}

fn closing(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

#[test]
fn stopping_ends_idle_connections() {
    let served = served(snapshot(0));
    let mut idle = TcpStream::connect(served.address).unwrap();
    idle.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    let mut first = [0; 15];
    idle.read_exact(&mut first).unwrap();
    served
        .runtime
        .block_on(served.server.stop(Duration::from_secs(20)));
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    assert!(TcpStream::connect(served.address).is_err());
}
