//! HTTP by hand: well-formed or not, as the suite wants it.

use std::io::{Read, Write};
use std::time::Duration;

use anyhow::{Context as _, Result};

/// An answer, or the end of the connection, comes within this.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Sends the request, which must ask for the connection's end; status and body. 0 if nothing was answered.
pub fn ask(mut stream: impl Read + Write, request: &str) -> Result<(u16, String)> {
    stream.write_all(request.as_bytes()).context("cannot send")?;
    Ok(answer(stream))
}

/// What is left to read.
pub fn answer(mut stream: impl Read) -> (u16, String) {
    let mut bytes = Vec::new();
    // A connection that is cut has said what it had to say.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.unwrap_or(0), body.to_owned())
}

/// A GET that ends the connection.
pub fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}
