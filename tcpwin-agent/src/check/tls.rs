//! One TLS handshake over a wire: rustls speaks, the wire keeps what passed, and what passed is read.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use rustls::client::{Resumption, Tls12Resumption};
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, SupportedProtocolVersion};

use super::session::Sessions;
use super::wire::{Wire, after, now};
use super::witness::Witness;
use crate::handshake::{ClientHello, Kind, Record, Rest, ServerHello, messages, records, tls12_ticket};
use crate::units::{Instant, Nanos};

/// A client of one server: what it offers, and what it remembers.
#[derive(Debug)]
pub struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// Who sees the certificates.
    pub witness: Arc<Witness>,
    /// What it may resume.
    pub sessions: Arc<Sessions>,
}

/// What a client offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The versions.
    pub versions: &'static [&'static SupportedProtocolVersion],
    /// What it would speak over TLS.
    pub alpn: &'static [&'static str],
    /// Whether it sends data before the server's answer, where a ticket lets it.
    pub early_data: bool,
}

/// What a client of today offers.
pub const MODERN: Offer = Offer {
    versions: &[&TLS13, &TLS12],
    alpn: &["h2", "http/1.1"],
    early_data: false,
};

/// What an old one does.
pub const TLS12_ONLY: Offer = Offer {
    versions: &[&TLS12],
    ..MODERN
};

/// A handshake that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// What answers speaks something else.
    #[error("what answers there does not speak TLS: its first bytes are {0}")]
    NotTls(String),
    /// It speaks TLS, and refuses.
    #[error("the server refuses the TLS handshake: {0}")]
    Refused(String),
    /// It hung up.
    #[error("the server closed the connection within the TLS handshake")]
    Closed,
    /// Nothing more came.
    #[error("the TLS handshake was not over when the time was up")]
    TimedOut,
    /// The handshake cannot be made, or the connection broke.
    #[error("the TLS handshake failed: {0}")]
    Failed(String),
}

impl Client {
    /// A client that remembers nothing yet.
    pub fn new(roots: &RootCertStore, name: &ServerName<'static>, offer: Offer) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let witness = Arc::new(Witness::new(roots, &provider));
        let sessions = Arc::new(Sessions::default());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(offer.versions)
            .map_err(|error| TlsError::Failed(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&witness) as _)
            .with_no_client_auth();
        config.alpn_protocols = offer.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.resumption = Resumption::store(Arc::clone(&sessions) as _)
            .tls12_resumption(Tls12Resumption::SessionIdOrTickets);
        config.enable_early_data = offer.early_data;
        Ok(Self {
            config: Arc::new(config),
            name: name.clone(),
            witness,
            sessions,
        })
    }

    /// Shakes hands.
    pub fn shake(&self, wire: Wire) -> Result<Session, TlsError> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| TlsError::Failed(error.to_string()))?;
        self.sessions.begin();
        let began = now();
        let mut session = Session {
            connection,
            wire,
            began,
            done: began,
            flight_bytes: 0,
            hello_bytes: 0,
        };
        session.drive()?;
        Ok(session)
    }
}

/// A connection whose handshake is over.
#[derive(Debug)]
pub struct Session {
    connection: ClientConnection,
    /// What it runs over.
    pub wire: Wire,
    /// When the first bytes were written.
    pub began: Instant,
    /// When data could be sent.
    pub done: Instant,
    /// Bytes of the client's first flight.
    pub hello_bytes: usize,
    /// Bytes that the server had sent by then.
    pub flight_bytes: usize,
}

impl Session {
    fn drive(&mut self) -> Result<(), TlsError> {
        loop {
            while self.connection.wants_write() {
                self.connection.write_tls(&mut self.wire).map_err(broken)?;
            }
            if self.hello_bytes == 0 {
                self.hello_bytes = self.wire.said.bytes.len();
            }
            if !self.connection.is_handshaking() {
                self.done = now();
                self.flight_bytes = self.wire.heard.bytes.len();
                return Ok(());
            }
            match self.connection.read_tls(&mut self.wire) {
                Ok(0) => return Err(self.fault(TlsError::Closed)),
                Ok(_) => {}
                Err(error) => return Err(self.fault(broken(error))),
            }
            if let Err(error) = self.connection.process_new_packets() {
                let error = match error {
                    rustls::Error::AlertReceived(alert) => TlsError::Refused(format!("{alert:?}")),
                    other => TlsError::Failed(other.to_string()),
                };
                return Err(self.fault(error));
            }
        }
    }

    /// Other protocols answer a hello in their own way, or hang up.
    fn fault(&self, error: TlsError) -> TlsError {
        let heard = &self.wire.heard.bytes;
        match records(heard).1 {
            Rest::NotTls(0) => TlsError::NotTls(printable(heard)),
            _ => error,
        }
    }

    /// How the handshake went.
    pub fn facts(&self) -> Facts {
        let (heard, said) = (&self.wire.heard.bytes, &self.wire.said.bytes);
        let (theirs, ours) = (records(heard).0, records(said).0);
        let mut facts = Facts {
            kind: self.connection.handshake_kind(),
            alpn: self
                .connection
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
            version: self.connection.protocol_version().map_or(0, u16::from),
            cipher: self
                .connection
                .negotiated_cipher_suite()
                .map_or(0, |suite| suite.suite().into()),
            group: self
                .connection
                .negotiated_key_exchange_group()
                .map(|group| group.name().into()),
            early_data_accepted: self.connection.is_early_data_accepted(),
            ..Facts::default()
        };
        for message in messages(&ours) {
            if message.kind == Kind::ClientHello
                && let Some(hello) = ClientHello::parse(&message.body)
            {
                let tls12 = hello.tls12_ticket.clone().filter(|ticket| !ticket.is_empty());
                facts.offered = hello.tickets.first().cloned().or(tls12);
                // The second hello's key is the one that the server asked for.
                if facts.key_shares.is_empty() {
                    facts.key_shares.clone_from(&hello.key_shares);
                }
                facts.offered_early_data |= hello.early_data;
            }
        }
        for message in messages(&theirs) {
            match message.kind {
                Kind::ServerHello => {
                    facts.is_retry |= ServerHello::parse(&message.body).is_some_and(|hello| hello.is_retry);
                }
                Kind::NewSessionTicket => facts.issued = tls12_ticket(&message.body).map(<[u8]>::to_vec),
                _ => {}
            }
        }
        facts
    }

    /// The records that the server has sent.
    pub fn server_records(&self) -> Vec<Record<'_>> {
        records(&self.wire.heard.bytes).0
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(bytes)?;
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.wire)?;
        }
        Ok(())
    }

    /// The next bytes of plaintext; none at the end.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Many servers end the connection without TLS's own word for it.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            if self.take_in()? == 0 {
                return Ok(0);
            }
        }
    }

    fn take_in(&mut self) -> io::Result<usize> {
        let count = self.connection.read_tls(&mut self.wire)?;
        self.connection
            .process_new_packets()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(count)
    }

    /// Waits until the server has given a ticket or answered what was sent, or the time is up: some give tickets at once, some
    /// with their first bytes, some never.
    pub fn await_ticket(&mut self, sessions: &Sessions, before: u32, within: Nanos) {
        let limit = after(within).min(self.wire.deadline());
        let deadline = self.wire.deadline();
        self.wire.set_deadline(limit);
        while sessions.tickets() == before {
            match self.take_in() {
                Ok(1..) => {}
                Ok(0) | Err(_) => break,
            }
        }
        self.wire.set_deadline(deadline);
    }

    /// Says goodbye as TLS does.
    pub fn close(mut self) {
        self.connection.send_close_notify();
        // The connection is of no further use, whether it is heard or not.
        let _ = self.connection.write_tls(&mut self.wire);
    }
}

/// What a handshake showed.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Full, resumed, or with a second hello.
    pub kind: Option<HandshakeKind>,
    /// The version.
    pub version: u16,
    /// The cipher suite.
    pub cipher: u16,
    /// The group of the key exchange.
    pub group: Option<u16>,
    /// The groups that keys were sent for.
    pub key_shares: Vec<u16>,
    /// What is spoken over it.
    pub alpn: Option<String>,
    /// The server asked for another hello.
    pub is_retry: bool,
    /// The ticket of a session that was offered to resume.
    pub offered: Option<Vec<u8>>,
    /// The ticket of TLS 1.2 that the server gave; those of 1.3 are encrypted.
    pub issued: Option<Vec<u8>>,
    /// Data was sent before the answer.
    pub offered_early_data: bool,
    /// And taken.
    pub early_data_accepted: bool,
}

impl Facts {
    /// Whether the session of another connection went on.
    pub fn is_resumed(&self) -> bool {
        self.kind == Some(HandshakeKind::Resumed)
    }
}

fn broken(error: io::Error) -> TlsError {
    match error.kind() {
        io::ErrorKind::TimedOut => TlsError::TimedOut,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
            TlsError::Closed
        }
        _ => TlsError::Failed(error.to_string()),
    }
}

/// The first bytes of another protocol, as text.
fn printable(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(32)];
    format!("\"{}\"", start.escape_ascii())
}
