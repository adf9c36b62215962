//! HTTP/2 by hand (RFC 9113): the preface, one request, and the server's settings and windows.

use std::io;

use super::hpack;
use super::http1::Answer;
use super::wire::now;
use crate::units::Instant;

/// What every connection begins with (section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The window that our own streams and our connection give: large, so that the server's figures are what is seen.
const OUR_WINDOW: u32 = 16 << 20;
/// The window of both before anybody says otherwise (section 6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;
/// A frame that is larger than we allow (section 4.2).
const LARGEST_FRAME: usize = 16_384;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 32;

/// What a server says of itself; what it leaves out has RFC 9113's value and is `None` here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its SETTINGS came.
    pub came: bool,
    /// SETTINGS_HEADER_TABLE_SIZE.
    pub header_table: Option<u32>,
    /// SETTINGS_MAX_CONCURRENT_STREAMS; `None` is no limit.
    pub streams: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE: what a stream may upload before the server answers.
    pub stream_window: Option<u32>,
    /// SETTINGS_MAX_FRAME_SIZE.
    pub frame: Option<u32>,
    /// What its WINDOW_UPDATE added to the connection's window before any data.
    pub connection_grant: u64,
}

impl ServerSettings {
    /// What one stream may upload before the server answers.
    pub fn upload_stream(&self) -> u64 {
        self.stream_window.unwrap_or(DEFAULT_WINDOW).into()
    }

    /// The same of all streams together.
    pub fn upload_connection(&self) -> u64 {
        u64::from(DEFAULT_WINDOW) + self.connection_grant
    }
}

/// The client's first bytes: preface, settings and windows.
pub fn opening() -> Vec<u8> {
    let mut bytes = PREFACE.to_vec();
    // ENABLE_PUSH 0, INITIAL_WINDOW_SIZE.
    let mut settings = vec![0, 2, 0, 0, 0, 0, 0, 4];
    settings.extend(OUR_WINDOW.to_be_bytes());
    frame(SETTINGS, 0, 0, &settings, &mut bytes);
    frame(WINDOW_UPDATE, 0, 0, &OUR_WINDOW.to_be_bytes(), &mut bytes);
    bytes
}

/// A GET on stream 1.
pub fn request(host: &str, path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let fields = hpack::request(host, path);
    frame(HEADERS, END_STREAM | END_HEADERS, 1, &fields, &mut bytes);
    bytes
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], to: &mut Vec<u8>) {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    to.extend_from_slice(&length[1..]);
    to.extend([kind, flags]);
    to.extend(stream.to_be_bytes());
    to.extend_from_slice(payload);
}

/// What came of a connection.
#[derive(Debug, Default)]
pub struct Conversation {
    /// The server's figures.
    pub settings: ServerSettings,
    /// Why it gave up: GOAWAY's or RST_STREAM's code.
    pub refused: Option<u32>,
    status: Option<u16>,
    first: Option<Instant>,
    last: Option<Instant>,
    bytes: u64,
    is_over: bool,
    has_data: bool,
    unread: Vec<u8>,
}

impl Conversation {
    /// Reads until the answer on stream 1 is over, or it is enough.
    pub fn run(
        &mut self,
        asked: Instant,
        most_bytes: u64,
        mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Answer> {
        let mut buffer = vec![0; 64 * 1024];
        while !self.is_over && self.bytes < most_bytes {
            let count = match receive(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                // What was cut short is told as such; nothing at all is an error.
                Err(_) if self.first.is_some() => break,
                Err(error) => return Err(error),
            };
            self.take(&buffer[..count], now())?;
        }
        let first = self.first.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Answer {
            status: self.status,
            asked,
            first,
            last: self.last.unwrap_or(first),
            bytes: self.bytes,
            is_whole: self.is_over && self.refused.is_none(),
        })
    }

    /// Takes bytes that came now.
    pub fn take(&mut self, bytes: &[u8], now: Instant) -> io::Result<()> {
        self.unread.extend_from_slice(bytes);
        let mut at = 0;
        while let Some((header, rest)) = self.unread[at..].split_at_checked(9) {
            let length = usize::from(header[0]) << 16 | usize::from(header[1]) << 8 | usize::from(header[2]);
            if length > LARGEST_FRAME {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "what answers does not speak HTTP/2",
                ));
            }
            let Some(payload) = rest.get(..length) else { break };
            let (kind, flags) = (header[3], header[4]);
            let stream = u32::from_be_bytes([header[5] & 0x7f, header[6], header[7], header[8]]);
            let payload = payload.to_vec();
            self.frame(kind, flags, stream, &payload, now);
            at += 9 + length;
        }
        self.unread.drain(..at);
        Ok(())
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8], now: Instant) {
        match (kind, stream) {
            (SETTINGS, 0) if flags & ACK == 0 => self.settings.read(payload),
            (WINDOW_UPDATE, 0) if !self.has_data => {
                if let Some(grant) = payload.first_chunk() {
                    self.settings.connection_grant += u64::from(u32::from_be_bytes(*grant) & 0x7fff_ffff);
                }
            }
            (HEADERS, 1) => {
                self.answered(9 + payload.len(), now);
                self.status = self.status.or(hpack::status(block(flags, payload)));
                self.is_over |= flags & END_STREAM != 0;
            }
            (DATA, 1) => {
                self.has_data = true;
                self.answered(9 + payload.len(), now);
                self.is_over |= flags & END_STREAM != 0;
            }
            (RST_STREAM, 1) => self.give_up(payload.first_chunk()),
            (GOAWAY, 0) => self.give_up(payload.get(4..).and_then(|code| code.first_chunk())),
            (PING, _) => {}
            _ => {}
        }
    }

    fn answered(&mut self, bytes: usize, now: Instant) {
        self.first.get_or_insert(now);
        self.last = Some(now);
        self.bytes += bytes as u64;
    }

    /// A server that has answered may say goodbye without an error.
    fn give_up(&mut self, code: Option<&[u8; 4]>) {
        let code = code.map_or(0, |code| u32::from_be_bytes(*code));
        if code != 0 {
            self.refused = Some(code);
            self.is_over = true;
        }
    }
}

impl ServerSettings {
    fn read(&mut self, payload: &[u8]) {
        self.came = true;
        for setting in payload.chunks_exact(6) {
            let value = u32::from_be_bytes([setting[2], setting[3], setting[4], setting[5]]);
            match u16::from_be_bytes([setting[0], setting[1]]) {
                1 => self.header_table = Some(value),
                3 => self.streams = Some(value),
                4 => self.stream_window = Some(value),
                5 => self.frame = Some(value),
                _ => {}
            }
        }
    }
}

/// The field block of HEADERS, without padding and priority (section 6.2).
fn block(flags: u8, payload: &[u8]) -> &[u8] {
    let (mut from, mut to) = (0, payload.len());
    if flags & PADDED != 0 {
        let padding = payload.first().map_or(0, |count| usize::from(*count));
        from += 1;
        to = to.saturating_sub(padding);
    }
    if flags & PRIORITY != 0 {
        from += 5;
    }
    payload.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        Conversation, DATA, END_STREAM, GOAWAY, HEADERS, SETTINGS, WINDOW_UPDATE, frame, opening, request,
    };
    use crate::units::Instant;

    /// A server's side: 128 streams of 64 KiB, frames of 16 MiB - 1, the whole window of a connection; then 204 and two bytes.
    fn server() -> Vec<u8> {
        let mut bytes = Vec::new();
        let settings = [0, 3, 0, 0, 0, 128, 0, 4, 0, 1, 0, 0, 0, 5, 0, 255, 255, 255];
        frame(SETTINGS, 0, 0, &settings, &mut bytes);
        frame(WINDOW_UPDATE, 0, 0, &0x7fff_0000u32.to_be_bytes(), &mut bytes);
        frame(SETTINGS, 1, 0, &[], &mut bytes);
        frame(HEADERS, 4, 1, &[0x89], &mut bytes);
        frame(DATA, END_STREAM, 1, b"ok", &mut bytes);
        bytes
    }

    #[test]
    fn settings_windows_and_answer_are_read_however_they_are_cut() {
        for size in [1, 7, 1_000] {
            let bytes = server();
            let mut parts = bytes.chunks(size);
            let mut conversation = Conversation::default();
            let answer = conversation
                .run(Instant(0), 1 << 20, |buffer| {
                    let part = parts.next().unwrap_or_default();
                    buffer[..part.len()].copy_from_slice(part);
                    Ok(part.len())
                })
                .expect("an answer");
            assert_eq!(answer.status, Some(204));
            assert!(answer.is_whole);
            assert_eq!(answer.bytes, 10 + 11);
            let settings = conversation.settings;
            assert_eq!(settings.streams, Some(128));
            assert_eq!(settings.upload_stream(), 65_536);
            assert_eq!(settings.upload_connection(), (1 << 31) - 1);
            assert_eq!(settings.frame, Some(16_777_215));
            assert_eq!(settings.header_table, None);
        }
    }

    #[test]
    fn a_refusal_is_told() {
        let mut bytes = Vec::new();
        frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 0x0d], &mut bytes);
        let mut conversation = Conversation::default();
        conversation.take(&bytes, Instant(0)).expect("frames");
        assert_eq!(conversation.refused, Some(13));
    }

    #[test]
    fn what_we_send_are_whole_frames() {
        let bytes = [opening(), request("example.org", "/")].concat();
        let mut ours = Conversation::default();
        ours.take(&bytes[24..], Instant(0)).expect("frames");
        assert_eq!(ours.settings.stream_window, Some(16 << 20));
        assert!(ours.unread.is_empty() && ours.is_over);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in any::<proptest::sample::Index>(), with in any::<u8>()) {
            let _ = Conversation::default().take(&bytes, Instant(0));
            let mut changed = server();
            let at = at.index(changed.len());
            changed[at] = with;
            let _ = Conversation::default().take(&changed, Instant(0));
        }
    }
}
