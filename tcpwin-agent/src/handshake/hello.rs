//! ClientHello and ServerHello (RFC 8446, sections 4.1.2 and 4.1.3; RFC 5246, section 7.4.1).

use super::cursor::Cursor;

/// The random by which a ServerHello asks for another ClientHello (RFC 8446, section 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

const SERVER_NAME: u16 = 0;
const STATUS_REQUEST: u16 = 5;
const ALPN: u16 = 16;
const SESSION_TICKET: u16 = 35;
const PRE_SHARED_KEY: u16 = 41;
const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

/// What a client offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The highest version it speaks.
    pub version: u16,
    /// Non-empty where it resumes by id, or for TLS 1.3's compatibility.
    pub session_id: Vec<u8>,
    /// Whom it asks for.
    pub server_name: Option<String>,
    /// What it would speak over TLS.
    pub alpn: Vec<String>,
    /// The groups it sent keys for.
    pub key_shares: Vec<u16>,
    /// Identities of sessions of TLS 1.3 that it offers to resume: tickets.
    pub tickets: Vec<Vec<u8>>,
    /// The ticket of a session of TLS 1.2 that it offers to resume; empty where it only asks for one.
    pub tls12_ticket: Option<Vec<u8>>,
    /// Whether it sends data before the server's answer.
    pub early_data: bool,
    /// Whether it asks for an OCSP response.
    pub status_request: bool,
}

impl ClientHello {
    /// Reads the body of the message.
    #[must_use]
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(body);
        let mut hello = Self {
            version: cursor.u16()?,
            ..Self::default()
        };
        cursor.take(32)?;
        hello.session_id = cursor.vector(1)?.0.to_vec();
        cursor.vector(2)?;
        cursor.vector(1)?;
        each_extension(&mut cursor, |kind, value| hello.extension(kind, value))?;
        Some(hello)
    }

    fn extension(&mut self, kind: u16, mut value: Cursor<'_>) -> Option<()> {
        match kind {
            SERVER_NAME => {
                let mut names = value.vector(2)?;
                let _host_name = names.u8()?;
                self.server_name = text(names.vector(2)?.0);
            }
            ALPN => {
                let mut names = value.vector(2)?;
                while let Some(name) = names.vector(1) {
                    self.alpn.extend(text(name.0));
                }
            }
            SUPPORTED_VERSIONS => {
                let mut versions = value.vector(1)?;
                while let Some(version) = versions.u16() {
                    // A GREASE value (RFC 8701) is no version.
                    if version & 0x0f0f != 0x0a0a {
                        self.version = self.version.max(version);
                    }
                }
            }
            KEY_SHARE => {
                let mut shares = value.vector(2)?;
                while let (Some(group), Some(_key)) = (shares.u16(), shares.vector(2)) {
                    self.key_shares.push(group);
                }
            }
            PRE_SHARED_KEY => {
                let mut identities = value.vector(2)?;
                while let (Some(identity), Some(_age)) = (identities.vector(2), identities.u32()) {
                    self.tickets.push(identity.0.to_vec());
                }
            }
            SESSION_TICKET => self.tls12_ticket = Some(value.0.to_vec()),
            EARLY_DATA => self.early_data = true,
            STATUS_REQUEST => self.status_request = true,
            _ => {}
        }
        Some(())
    }
}

/// What a server chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerHello {
    /// The version.
    pub version: u16,
    /// It asks for another ClientHello: the handshake takes one more round trip.
    pub is_retry: bool,
    /// Of TLS 1.2: the client's own is echoed where its session is resumed.
    pub session_id: Vec<u8>,
    /// The cipher suite.
    pub cipher: u16,
    /// The group of the key exchange; TLS 1.3 alone says it here.
    pub group: Option<u16>,
    /// Which of the client's tickets it took: the session is resumed.
    pub resumed: Option<u16>,
}

impl ServerHello {
    /// Reads the body of the message.
    #[must_use]
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(body);
        let mut hello = Self {
            version: cursor.u16()?,
            is_retry: cursor.take(32)? == RETRY,
            ..Self::default()
        };
        hello.session_id = cursor.vector(1)?.0.to_vec();
        hello.cipher = cursor.u16()?;
        let _compression = cursor.u8()?;
        // TLS 1.2 may have none at all.
        if !cursor.is_empty() {
            each_extension(&mut cursor, |kind, value| hello.extension(kind, value))?;
        }
        Some(hello)
    }

    fn extension(&mut self, kind: u16, mut value: Cursor<'_>) -> Option<()> {
        match kind {
            SUPPORTED_VERSIONS => self.version = value.u16()?,
            KEY_SHARE => self.group = Some(value.u16()?),
            PRE_SHARED_KEY => self.resumed = Some(value.u16()?),
            _ => {}
        }
        Some(())
    }
}

/// Reads the extensions; one that is malformed makes the whole hello unreadable.
fn each_extension(
    cursor: &mut Cursor<'_>,
    mut take: impl FnMut(u16, Cursor<'_>) -> Option<()>,
) -> Option<()> {
    let mut extensions = cursor.vector(2)?;
    while !extensions.is_empty() {
        let kind = extensions.u16()?;
        take(kind, extensions.vector(2)?)?;
    }
    Some(())
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests;
