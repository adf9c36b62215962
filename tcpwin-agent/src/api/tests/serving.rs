//! Hostile heads, and the end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use super::{raw, served, snapshot};

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
