//! Handshake messages (RFC 8446, section 4), put together from records: one may span several, a record may hold several.

use super::cursor::Cursor;
use super::records::{Content, Record};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client's first.
    ClientHello,
    /// The server's first, or its request for another one.
    ServerHello,
    /// A session to resume; seen in TLS 1.2 alone, in 1.3 it is encrypted.
    NewSessionTicket,
    /// The chain.
    Certificate,
    /// The OCSP response of TLS 1.2; in 1.3 it lies within Certificate.
    CertificateStatus,
    /// Any other, by its number.
    Other(u8),
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// What follows its four bytes of header.
    pub body: Vec<u8>,
}

/// The messages that are in the clear: those up to the first record that is encrypted.
///
/// What follows ChangeCipherSpec is encrypted, but for the hellos around a server's request for another one: there TLS 1.3 sends
/// that record for middleboxes' sake only (RFC 8446, appendix D.4).
#[must_use]
pub fn messages(records: &[Record<'_>]) -> Vec<Message> {
    let mut joined = Vec::new();
    let mut is_changed = false;
    for record in records {
        match record.content {
            Content::ChangeCipherSpec => is_changed = true,
            Content::Handshake if !is_changed || begins_hello(record.payload) => {
                is_changed = false;
                joined.extend_from_slice(record.payload);
            }
            Content::Handshake | Content::Data => break,
            Content::Alert => {}
        }
    }
    let mut cursor = Cursor(&joined);
    let mut found = Vec::new();
    while let Some(message) = message(&mut cursor) {
        found.push(message);
    }
    found
}

/// Kind, a length below 64 KiB, and the version that hellos have carried since TLS 1.2: ciphertext that begins like this is
/// one in 2³¹.
fn begins_hello(payload: &[u8]) -> bool {
    matches!(payload, [1 | 2, 0, _, _, 3, 3, ..])
}

fn message(cursor: &mut Cursor<'_>) -> Option<Message> {
    let kind = match cursor.u8()? {
        1 => Kind::ClientHello,
        2 => Kind::ServerHello,
        4 => Kind::NewSessionTicket,
        11 => Kind::Certificate,
        22 => Kind::CertificateStatus,
        other => Kind::Other(other),
    };
    let body = cursor.vector(3)?.0.to_vec();
    Some(Message { kind, body })
}

/// The ticket in a NewSessionTicket of TLS 1.2 (RFC 5077, section 3.3).
#[must_use]
pub fn tls12_ticket(body: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor(body);
    let _lifetime = cursor.u32()?;
    cursor.vector(2).map(|ticket| ticket.0)
}

#[cfg(test)]
mod tests {
    use super::{Kind, messages, tls12_ticket};
    use crate::handshake::records;

    #[test]
    fn a_message_may_span_records_and_a_record_hold_two() {
        let bytes = [
            22, 3, 3, 0, 5, 2, 0, 0, 3, 7, // ServerHello of three bytes, of which one
            22, 3, 3, 0, 6, 8, 9, 14, 0, 0, 0, // the rest, and ServerHelloDone
            23, 3, 3, 0, 1, 2, // encrypted from here on
            22, 3, 3, 0, 4, 1, 0, 0, 0,
        ];
        let found = messages(&records(&bytes).0);
        let kinds: Vec<_> = found.iter().map(|message| message.kind).collect();
        assert_eq!(kinds, [Kind::ServerHello, Kind::Other(14)]);
        assert_eq!(found[0].body, [7, 8, 9]);
    }

    #[test]
    fn a_second_hello_is_read_behind_the_habit_of_tls_1_3_and_ciphertext_is_not() {
        let hello = [22, 3, 3, 0, 6, 1, 0, 0, 2, 3, 3];
        let change = [20, 3, 3, 0, 1, 1];
        let finished = [22, 3, 3, 0, 6, 1, 0, 0, 2, 8, 8];
        let bytes = [&hello[..], &change, &hello, &change, &finished].concat();
        assert_eq!(messages(&records(&bytes).0).len(), 2);
    }

    #[test]
    fn the_ticket_stands_behind_its_lifetime() {
        assert_eq!(tls12_ticket(&[0, 0, 1, 0, 0, 2, 7, 8]), Some(&[7, 8][..]));
        assert_eq!(tls12_ticket(&[0, 0, 1, 0, 0, 3, 7, 8]), None);
    }
}
