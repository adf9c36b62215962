//! What a filter looks at.

use super::value::contains;
use crate::classify::{Direction, Limit, Side};
use crate::snapshot::{Connection, TcpFields, TraceEvent, Whose, figures};

/// A connection of which only some is known: what a look at it from outside shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Glimpse<'a> {
    /// Socket cookie.
    pub id: &'a str,
    /// `ip:port` or `[ip6]:port`; empty if not known.
    pub local: &'a str,
    /// The same of the peer.
    pub peer: &'a str,
    /// Name of its process.
    pub process: Option<&'a str>,
    /// Its id.
    pub pid: Option<u32>,
    /// Which way the bytes go.
    pub direction: Direction,
    /// What holds it.
    pub limit: Limit,
    /// Who must act.
    pub side: Side,
    /// 0 to 1.
    pub confidence: f64,
    /// Observed rate in `direction`, bits per second.
    pub rate_bps: Option<f64>,
    /// What the limit allows, bits per second.
    pub ceiling_bps: Option<f64>,
    /// What would hold it then, and the rate, bits per second.
    pub next: Option<(Limit, f64)>,
    /// The sentence with the numbers.
    pub proof: &'a str,
    /// The socket's fields.
    pub tcp: &'a TcpFields,
}

/// A connection, as much of it as is known, or an event with what it says of its connection.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    event: Option<&'a TraceEvent>,
    of: Of<'a>,
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Connection(&'a Connection),
    Whose(&'a Whose),
    Glimpse(&'a Glimpse<'a>),
}

impl<'a> From<&'a Connection> for Subject<'a> {
    fn from(connection: &'a Connection) -> Self {
        Self {
            event: None,
            of: Of::Connection(connection),
        }
    }
}

impl<'a> From<&'a Glimpse<'a>> for Subject<'a> {
    fn from(glimpse: &'a Glimpse<'a>) -> Self {
        Self {
            event: None,
            of: Of::Glimpse(glimpse),
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
            Of::Whose(_) | Of::Glimpse(_) => None,
        }
    }

    pub(super) fn id(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.id,
            Of::Whose(whose) => &whose.id,
            Of::Glimpse(glimpse) => glimpse.id,
        }
    }

    pub(super) const fn netns(self) -> u32 {
        match self.of {
            Of::Connection(connection) => connection.netns,
            Of::Whose(whose) => whose.netns,
            Of::Glimpse(_) => 0,
        }
    }

    pub(super) fn local(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.local,
            Of::Whose(whose) => &whose.local,
            Of::Glimpse(glimpse) => glimpse.local,
        }
    }

    pub(super) fn peer(self) -> &'a str {
        match self.of {
            Of::Connection(connection) => &connection.peer,
            Of::Whose(whose) => &whose.peer,
            Of::Glimpse(glimpse) => glimpse.peer,
        }
    }

    pub(super) fn process(self) -> Option<&'a str> {
        let process = match self.of {
            Of::Connection(connection) => connection.process.as_ref(),
            Of::Whose(whose) => whose.process.as_ref(),
            Of::Glimpse(glimpse) => return glimpse.process,
        };
        process.map(|process| process.name.as_str())
    }

    pub(super) fn pid(self) -> Option<u32> {
        let process = match self.of {
            Of::Connection(connection) => connection.process.as_ref(),
            Of::Whose(whose) => whose.process.as_ref(),
            Of::Glimpse(glimpse) => return glimpse.pid,
        };
        process.map(|process| process.pid)
    }

    pub(super) fn cgroup(self) -> Option<&'a str> {
        match self.of {
            Of::Connection(connection) => connection.cgroup.as_deref(),
            Of::Whose(whose) => whose.cgroup.as_deref(),
            Of::Glimpse(_) => None,
        }
    }

    /// The limit that screens show; of a verdict that changed, the new one.
    pub(super) fn limit(self) -> Option<Limit> {
        match (self.event, self.of) {
            (Some(TraceEvent::Verdict { to, .. }), _) => Some(*to),
            (_, Of::Connection(connection)) => Some(figures::shown(connection)),
            (_, Of::Whose(whose)) => whose.limit,
            (_, Of::Glimpse(glimpse)) => Some(glimpse.limit),
        }
    }

    pub(super) const fn side(self) -> Option<Side> {
        match self.of {
            Of::Connection(connection) => Some(connection.side),
            Of::Whose(_) => None,
            Of::Glimpse(glimpse) => Some(glimpse.side),
        }
    }

    pub(super) const fn direction(self) -> Option<Direction> {
        match self.of {
            Of::Connection(connection) => Some(connection.direction),
            Of::Whose(_) => None,
            Of::Glimpse(glimpse) => Some(glimpse.direction),
        }
    }

    pub(super) const fn confidence(self) -> Option<f64> {
        match self.of {
            Of::Connection(connection) => Some(connection.confidence),
            Of::Whose(_) => None,
            Of::Glimpse(glimpse) => Some(glimpse.confidence),
        }
    }

    pub(super) const fn ceiling_bps(self) -> Option<f64> {
        match self.of {
            Of::Connection(connection) => connection.ceiling_bps,
            Of::Whose(_) => None,
            Of::Glimpse(glimpse) => glimpse.ceiling_bps,
        }
    }

    /// What would hold it once the limit is lifted, and the rate then.
    pub(super) fn next(self) -> Option<(Limit, f64)> {
        match self.of {
            Of::Connection(connection) => connection.next.as_ref().map(|next| (next.limit, next.rate_bps)),
            Of::Whose(_) => None,
            Of::Glimpse(glimpse) => glimpse.next,
        }
    }

    /// Factor by which the rate would rise.
    pub(super) fn gain(self) -> Option<f64> {
        figures::gain_between(self.rate_bps()?, self.next()?.1)
    }

    pub(super) const fn rate_bps(self) -> Option<f64> {
        match self.of {
            Of::Connection(connection) => Some(connection.rate_bps),
            Of::Whose(whose) => whose.rate_bps,
            Of::Glimpse(glimpse) => glimpse.rate_bps,
        }
    }

    /// Bits per second that the limit withholds; the observed rate where the next limit is not known.
    pub(super) fn withheld_bps(self) -> f64 {
        let next = self.next().map(|(_, rate)| rate);
        figures::withheld_between(self.rate_bps().unwrap_or(0.0), next)
    }

    pub(super) const fn tcp(self) -> &'a TcpFields {
        match self.of {
            Of::Connection(connection) => &connection.tcp,
            Of::Whose(whose) => &whose.tcp,
            Of::Glimpse(glimpse) => glimpse.tcp,
        }
    }

    pub(super) fn proof(self) -> Option<&'a str> {
        match (self.event, self.of) {
            (Some(TraceEvent::Verdict { proof, .. }), _) => Some(proof),
            (_, Of::Connection(connection)) => Some(&connection.proof),
            (_, Of::Glimpse(glimpse)) => Some(glimpse.proof),
            _ => None,
        }
    }

    /// If `word`, in lower case, occurs in a text.
    pub(super) fn mentions(self, word: &str) -> bool {
        let occurs = |text: &str| contains(text, word);
        occurs(self.peer())
            || occurs(self.local())
            || self.process().is_some_and(occurs)
            || self
                .limit()
                .is_some_and(|limit| occurs(limit.name()) || occurs(limit.bound().name()))
            || self.cgroup().is_some_and(occurs)
            || self.tcp().congestion.as_deref().is_some_and(occurs)
            || self.proof().is_some_and(occurs)
            || self.event.is_some_and(|event| occurs(event.name()))
    }
}
