//! What is kept to resume sessions with: what the last connection gave that gave any, so that it is known whose ticket the next one
//! offers. A ticket of TLS 1.3 is used once (RFC 8446, appendix C.4).

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// Tickets of one connection that are kept.
const MOST: usize = 8;

/// The sessions of one server.
#[derive(Debug, Default)]
pub struct Sessions {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    tls13: Vec<Tls13ClientSessionValue>,
    /// The next ticket is the first of its connection.
    is_new: bool,
    tls12: Option<Tls12ClientSessionValue>,
    tickets: u32,
    early_data: Option<u32>,
}

impl Sessions {
    /// A connection begins.
    pub fn begin(&self) {
        self.kept().is_new = true;
    }

    /// Tickets of TLS 1.3 that have come so far.
    pub fn tickets(&self) -> u32 {
        self.kept().tickets
    }

    /// Bytes that the newest ticket lets a client send before the server's answer; `None` where it gave none.
    pub fn early_data(&self) -> Option<u32> {
        self.kept().early_data.filter(|bytes| *bytes > 0)
    }

    /// Whether the next connection has a session to offer.
    pub fn has_one(&self) -> bool {
        let kept = self.kept();
        !kept.tls13.is_empty() || kept.tls12.is_some()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    /// Never: each connection is that of a client which comes for the first time.
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.kept().tls12 = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.kept().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, session: Tls13ClientSessionValue) {
        let mut kept = self.kept();
        kept.tickets += 1;
        kept.early_data = Some(session.max_early_data_size());
        if kept.is_new {
            kept.is_new = false;
            kept.tls13.clear();
        }
        if kept.tls13.len() < MOST {
            kept.tls13.push(session);
        }
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.kept().tls13.pop()
    }
}
