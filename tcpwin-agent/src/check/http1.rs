//! A request of HTTP/1.1, and when its answer came.

use std::io;

use super::wire::now;
use crate::units::Instant;

/// An answer, as far as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// 200 and its like; `None` of what is no HTTP.
    pub status: Option<u16>,
    /// When the request had been written.
    pub asked: Instant,
    /// When the first byte of the answer could be read.
    pub first: Instant,
    /// When the last one was.
    pub last: Instant,
    /// Bytes of the answer, its head among them.
    pub bytes: u64,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// What a request asks for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name in Host.
    pub host: &'a str,
    /// The path, with its slash.
    pub path: &'a str,
    /// No more of the answer is read.
    pub most_bytes: u64,
}

impl Request<'_> {
    /// The request as it is sent.
    pub fn get(&self) -> Vec<u8> {
        self.with("GET")
    }

    /// The same for the head alone.
    pub fn head(&self) -> Vec<u8> {
        self.with("HEAD")
    }

    fn with(&self, method: &str) -> Vec<u8> {
        format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: tcpwin-check/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            env!("CARGO_PKG_VERSION")
        )
        .into_bytes()
    }
}

/// Reads an answer until the server closes, its length is there, or it is enough.
pub fn read_answer(
    request: &Request<'_>,
    asked: Instant,
    mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<Answer> {
    let mut buffer = vec![0; 64 * 1024];
    let mut head = Vec::new();
    let count = receive(&mut buffer)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let first = now();
    head.extend_from_slice(&buffer[..count]);
    let mut answer = Answer {
        status: None,
        asked,
        first,
        last: first,
        bytes: count as u64,
        is_whole: false,
    };
    loop {
        if let Some(length) = whole_length(&head)
            && answer.bytes >= length
        {
            answer.is_whole = true;
            break;
        }
        if answer.bytes >= request.most_bytes {
            break;
        }
        match receive(&mut buffer) {
            Ok(0) => {
                answer.is_whole = true;
                break;
            }
            Ok(count) => {
                if head.len() < HEAD_BYTES {
                    head.extend_from_slice(&buffer[..count]);
                }
                answer.bytes += count as u64;
                answer.last = now();
            }
            Err(_) => break,
        }
    }
    answer.status = status(&head);
    Ok(answer)
}

/// A head is looked for in so many bytes.
const HEAD_BYTES: usize = 64 * 1024;

/// Bytes of head and body, where the head says how long the body is.
fn whole_length(bytes: &[u8]) -> Option<u64> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    })?;
    length.parse::<u64>().ok()?.checked_add(end as u64)
}

fn status(bytes: &[u8]) -> Option<u16> {
    let line = bytes.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|word| word.starts_with("HTTP/"))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Request, read_answer};
    use crate::units::Instant;

    fn answer(parts: &[&[u8]], most_bytes: u64) -> super::Answer {
        let mut parts = parts.iter();
        let request = Request {
            host: "a",
            path: "/",
            most_bytes,
        };
        read_answer(&request, Instant(0), |buffer| {
            let Some(part) = parts.next() else { return Ok(0) };
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        })
        .expect("an answer")
    }

    #[test]
    fn an_answer_ends_at_its_length() {
        let told = answer(
            &[
                b"HTTP/1.1 200 OK\r\ncontent-",
                b"length: 5\r\n\r\nab",
                b"cde",
                b"never",
            ],
            1_000,
        );
        assert_eq!((told.status, told.bytes, told.is_whole), (Some(200), 43, true));
    }

    #[test]
    fn an_answer_without_a_length_ends_with_its_connection() {
        let told = answer(&[b"HTTP/1.0 404 Not Found\r\n\r\nno"], 1_000);
        assert_eq!((told.status, told.bytes, told.is_whole), (Some(404), 28, true));
    }

    #[test]
    fn no_more_is_read_than_was_asked_for() {
        let told = answer(&[b"HTTP/1.1 200 OK\r\n\r\n", &[0; 900], &[0; 900]], 500);
        assert_eq!((told.bytes, told.is_whole), (919, false));
    }

    #[test]
    fn another_protocol_has_no_status() {
        assert_eq!(answer(&[b"220 mail ESMTP\r\n"], 1_000).status, None);
    }
}
