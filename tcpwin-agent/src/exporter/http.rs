//! What the HTTP side counts of itself.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a connection or a request was not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many connections: the one that asked for nothing for longest was closed, or the new one if all were asking.
    Connections,
    /// The TLS handshake failed, or took too long.
    Handshake,
    /// The head of a request was wrong or too large.
    Head,
    /// The rest of a request's head did not come in time. That no request comes is no refusal.
    Slow,
    /// An answer was not read.
    Unread,
    /// A request had a body.
    Body,
    /// The path and query of a request were too long.
    Uri,
    /// Password missing or wrong.
    Unauthorized,
    /// Not for this reader: single connections over the network, or for another web page.
    Forbidden,
    /// More requests than `rate_limit`, or than passwords can be looked at.
    Rate,
    /// As many large answers or readers of events as are served at once.
    Busy,
}

impl Refused {
    /// Each of them with its label.
    pub(super) const ALL: [(Self, &'static str); 11] = [
        (Self::Connections, "connections"),
        (Self::Handshake, "handshake"),
        (Self::Head, "head"),
        (Self::Slow, "slow"),
        (Self::Unread, "unread"),
        (Self::Body, "body"),
        (Self::Uri, "uri"),
        (Self::Unauthorized, "unauthorized"),
        (Self::Forbidden, "forbidden"),
        (Self::Rate, "rate"),
        (Self::Busy, "busy"),
    ];
}

/// Counts of the HTTP side, written by it and read by a scrape.
#[derive(Debug, Default)]
pub struct HttpCounts {
    refused: [AtomicU64; Refused::ALL.len()],
    connections: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
}

impl HttpCounts {
    /// One was not served.
    pub fn refuse(&self, why: Refused) {
        self.refused[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// So many are connected.
    pub fn set_connections(&self, count: usize) {
        self.connections.store(count as u64, Ordering::Relaxed);
    }

    /// The web configuration file was read again.
    pub fn note_reload(&self, taken: bool) {
        let outcome = if taken {
            &self.reloads
        } else {
            &self.failed_reloads
        };
        outcome.fetch_add(1, Ordering::Relaxed);
    }

    /// So many were not served for that reason.
    #[must_use]
    pub fn refused(&self, why: Refused) -> u64 {
        self.refused[why as usize].load(Ordering::Relaxed)
    }

    pub(super) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Taken and failed.
    pub(super) fn reloads(&self) -> [u64; 2] {
        [&self.reloads, &self.failed_reloads].map(|count| count.load(Ordering::Relaxed))
    }
}
