//! What a filter looks at.

use super::value::contains;
use crate::classify::Limit;
use crate::snapshot::{Connection, Process, TcpFields, figures};

/// A connection.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Connection(&'a Connection),
}

impl<'a> Subject<'a> {
    /// The connection with its verdict.
    pub(super) const fn connection(self) -> Option<&'a Connection> {
        match self {
            Self::Connection(connection) => Some(connection),
        }
    }

    pub(super) fn id(self) -> &'a str {
        match self {
            Self::Connection(connection) => &connection.id,
        }
    }

    pub(super) fn netns(self) -> u32 {
        match self {
            Self::Connection(connection) => connection.netns,
        }
    }

    pub(super) fn local(self) -> &'a str {
        match self {
            Self::Connection(connection) => &connection.local,
        }
    }

    pub(super) fn peer(self) -> &'a str {
        match self {
            Self::Connection(connection) => &connection.peer,
        }
    }

    pub(super) fn process(self) -> Option<&'a Process> {
        match self {
            Self::Connection(connection) => connection.process.as_ref(),
        }
    }

    pub(super) fn cgroup(self) -> Option<&'a str> {
        match self {
            Self::Connection(connection) => connection.cgroup.as_deref(),
        }
    }

    /// The limit that screens show.
    pub(super) fn limit(self) -> Option<Limit> {
        match self {
            Self::Connection(connection) => Some(figures::shown(connection)),
        }
    }

    pub(super) fn rate_bps(self) -> Option<f64> {
        match self {
            Self::Connection(connection) => Some(connection.rate_bps),
        }
    }

    pub(super) fn tcp(self) -> &'a TcpFields {
        match self {
            Self::Connection(connection) => &connection.tcp,
        }
    }

    pub(super) fn proof(self) -> Option<&'a str> {
        match self {
            Self::Connection(connection) => Some(&connection.proof),
        }
    }

    /// If `word`, in lower case, occurs in a text.
    pub(super) fn mentions(self, word: &str) -> bool {
        let occurs = |text: &str| contains(text, word);
        occurs(self.peer())
            || occurs(self.local())
            || self.process().is_some_and(|process| occurs(&process.name))
            || self
                .limit()
                .is_some_and(|limit| occurs(limit.name()) || occurs(limit.bound().name()))
            || self.cgroup().is_some_and(occurs)
            || self.tcp().congestion.as_deref().is_some_and(occurs)
            || self.proof().is_some_and(occurs)
    }
}
