//! What a filter looks at.

use super::value::contains;
use crate::classify::Limit;
use crate::snapshot::{Connection, Process, TcpFields, TraceEvent, Whose, figures};

/// A connection, or an event with what it says of its connection.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    event: Option<&'a TraceEvent>,
    of: Of<'a>,
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Connection(&'a Connection),
    Whose(&'a Whose),
}

impl<'a> From<&'a Connection> for Subject<'a> {
    fn from(connection: &'a Connection) -> Self {
        Self {
            event: None,
            of: Of::Connection(connection),
        }
    }
}

impl<'a> From<&'a TraceEvent> for Subject<'a> {
    fn from(event: &'a TraceEvent) -> Self {
        let of = match event {
            TraceEvent::Close { connection, .. } => Of::Connection(connection),
            TraceEvent::Open { whose, .. }
            | TraceEvent::Retransmit { whose, .. }
            | TraceEvent::Cwnd { whose, .. }
            | TraceEvent::Reset { whose, .. }
            | TraceEvent::Verdict { whose, .. } => Of::Whose(whose),
        };
        Self {
            event: Some(event),
            of,
        }
    }
}

impl<'a> Subject<'a> {
    pub(super) const fn event(self) -> Option<&'a TraceEvent> {
        self.event
    }

    /// The connection with its verdict.
    pub(super) const fn connection(self) -> Option<&'a Connection> {
        match self.of {
            Of::Connection(connection) => Some(connection),
            Of::Whose(_) => None,
        }
    }

    pub(super) fn id(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.id,
            Of::Whose(whose) => &whose.id,
        }
    }

    pub(super) const fn netns(self) -> u32 {
        match self.of {
            Of::Connection(connection) => connection.netns,
            Of::Whose(whose) => whose.netns,
        }
    }

    pub(super) fn local(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.local,
            Of::Whose(whose) => &whose.local,
        }
    }

    pub(super) fn peer(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.peer,
            Of::Whose(whose) => &whose.peer,
        }
    }

    pub(super) const fn process(self) -> Option<&'a Process> {
        match self.of {
            Of::Connection(connection) => connection.process.as_ref(),
            Of::Whose(whose) => whose.process.as_ref(),
        }
    }

    pub(super) fn cgroup(self) -> Option<&'a str> {
        match self.of {
            Of::Connection(connection) => connection.cgroup.as_deref(),
            Of::Whose(whose) => whose.cgroup.as_deref(),
        }
    }

    /// The limit that screens show; of a verdict that changed, the new one.
    pub(super) fn limit(self) -> Option<Limit> {
        match (self.event, self.of) {
            (Some(TraceEvent::Verdict { to, .. }), _) => Some(*to),
            (_, Of::Connection(connection)) => Some(figures::shown(connection)),
            (_, Of::Whose(whose)) => whose.limit,
        }
    }

    pub(super) const fn rate_bps(self) -> Option<f64> {
        match self.of {
            Of::Connection(connection) => Some(connection.rate_bps),
            Of::Whose(whose) => whose.rate_bps,
        }
    }

    pub(super) const fn tcp(self) -> &'a TcpFields {
        match self.of {
            Of::Connection(connection) => &connection.tcp,
            Of::Whose(whose) => &whose.tcp,
        }
    }

    pub(super) fn proof(self) -> Option<&'a str> {
        match (self.event, self.of) {
            (Some(TraceEvent::Verdict { proof, .. }), _) => Some(proof),
            (_, Of::Connection(connection)) => Some(&connection.proof),
            _ => None,
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
            || self.event.is_some_and(|event| occurs(event.name()))
    }
}
