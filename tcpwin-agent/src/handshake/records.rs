//! The record layer (RFC 8446, section 5.1): five bytes of header, then as much as they say.

use super::cursor::Cursor;

/// Bytes of a record's header.
pub const HEADER_BYTES: usize = 5;
/// The most a record may carry (RFC 5246, section 6.2.3: TLS 1.2 may expand the plaintext by 2,048; 1.3 by 256).
const LARGEST: u16 = 16_384 + 2_048;

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// From here on the cipher holds; in TLS 1.3 a mere habit.
    ChangeCipherSpec,
    /// Why the peer gives up, or that it is done.
    Alert,
    /// Handshake messages.
    Handshake,
    /// Data; in TLS 1.3 everything that is encrypted.
    Data,
}

/// One record of a direction's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it carries.
    pub content: Content,
    /// Where its header begins, from the first byte of the direction.
    pub offset: usize,
    /// What follows the header.
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// Bytes on the wire, header and all.
    #[must_use]
    pub fn wire_bytes(&self) -> usize {
        HEADER_BYTES + self.payload.len()
    }

    /// Where the next one begins.
    #[must_use]
    pub fn end(&self) -> usize {
        self.offset + self.wire_bytes()
    }
}

/// What is left behind the last whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// The start of a record; this many of its bytes have come.
    Partial(usize),
    /// No TLS from this offset on.
    NotTls(usize),
}

/// The whole records at the front of a direction's bytes, and what is left.
#[must_use]
pub fn records(bytes: &[u8]) -> (Vec<Record<'_>>, Rest) {
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        let rest = &bytes[offset..];
        if rest.is_empty() {
            return (found, Rest::Nothing);
        }
        match record(rest, offset) {
            Step::Whole(record) => {
                offset = record.end();
                found.push(record);
            }
            Step::Partial => return (found, Rest::Partial(rest.len())),
            Step::NotTls => return (found, Rest::NotTls(offset)),
        }
    }
}

enum Step<'a> {
    Whole(Record<'a>),
    Partial,
    NotTls,
}

/// Judges each byte as it comes: what is no TLS is known from its first bytes.
fn record(bytes: &[u8], offset: usize) -> Step<'_> {
    let mut cursor = Cursor(bytes);
    let content = match cursor.u8() {
        Some(20) => Content::ChangeCipherSpec,
        Some(21) => Content::Alert,
        Some(22) => Content::Handshake,
        Some(23) => Content::Data,
        Some(_) => return Step::NotTls,
        None => return Step::Partial,
    };
    match (cursor.u8(), cursor.u8()) {
        (Some(3), Some(0..=4)) => {}
        (Some(3) | None, None) => return Step::Partial,
        _ => return Step::NotTls,
    }
    match cursor.u16() {
        // An empty record is lawful for data alone.
        Some(0) if content != Content::Data => Step::NotTls,
        Some(LARGEST_PLUS_ONE..) => Step::NotTls,
        Some(length) => match cursor.take(usize::from(length)) {
            Some(payload) => Step::Whole(Record {
                content,
                offset,
                payload,
            }),
            None => Step::Partial,
        },
        None => Step::Partial,
    }
}

const LARGEST_PLUS_ONE: u16 = LARGEST + 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Content, Rest, records};

    #[test]
    fn records_are_found_and_what_is_left_is_told() {
        let bytes = [22, 3, 1, 0, 2, 1, 2, 23, 3, 3, 0, 1, 9, 21, 3];
        let (found, rest) = records(&bytes);
        let seen: Vec<_> = found
            .iter()
            .map(|record| (record.content, record.offset, record.wire_bytes()))
            .collect();
        assert_eq!(seen, [(Content::Handshake, 0, 7), (Content::Data, 7, 6)]);
        assert_eq!(rest, Rest::Partial(2));
        assert_eq!(records(&bytes[..13]).1, Rest::Nothing);
    }

    #[test]
    fn other_protocols_are_none_of_tls() {
        for other in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"SSH-2.0-OpenSSH",
            b"\x15\x05",
            &[22, 3, 1, 0xff, 0xff],
        ] {
            assert_eq!(records(other), (Vec::new(), Rest::NotTls(0)), "{other:?}");
        }
        assert_eq!(
            records(&[23, 3, 3, 0, 0, b'x']).1,
            Rest::NotTls(5),
            "behind a record that is one"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_whole(bytes in proptest::collection::vec(any::<u8>(), 0..200), tls in any::<bool>()) {
            let mut bytes = bytes;
            if tls && bytes.len() > 4 {
                bytes[..4].copy_from_slice(&[22, 3, 3, 0]);
            }
            let (found, rest) = records(&bytes);
            let read: usize = found.iter().map(|record| record.wire_bytes()).sum();
            let left = match rest {
                Rest::Nothing => 0,
                Rest::Partial(left) => left,
                Rest::NotTls(at) => bytes.len() - at,
            };
            prop_assert_eq!(read + left, bytes.len());
        }
    }
}
