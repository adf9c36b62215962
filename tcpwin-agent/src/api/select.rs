//! Which connections a request asks for.

use std::cmp::Ordering;
use std::net::SocketAddr;
use std::sync::Arc;

use serde::Deserialize;

use crate::classify::{Bound, Limit};
use crate::snapshot::Connection;

/// The query of `/api/v1/connections`: what is given must be equal.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Select {
    bound: Option<Bound>,
    limit: Option<Limit>,
    /// Process id or name.
    process: Option<String>,
    /// `ip` or `ip:port`.
    peer: Option<String>,
    netns: Option<u32>,
    #[serde(default)]
    sort: Sort,
    /// Most connections in the answer.
    count: Option<usize>,
}

/// The largest first.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    #[default]
    Rate,
    Ceiling,
    Gain,
    Age,
    Retransmits,
    Unsent,
}

impl Select {
    /// Those asked for, in order, and how many there were before `count` cut them.
    pub(super) fn apply(&self, connections: &[Arc<Connection>]) -> (Vec<Arc<Connection>>, usize) {
        let mut chosen: Vec<_> = connections
            .iter()
            .filter(|each| self.wants(each))
            .cloned()
            .collect();
        let matched = chosen.len();
        let order = |a: &Arc<Connection>, b: &Arc<Connection>| self.sort.compare(a, b);
        let count = self.count.unwrap_or(matched).min(matched);
        if count > 0 && count < matched {
            chosen.select_nth_unstable_by(count - 1, order);
        }
        chosen.truncate(count);
        chosen.sort_unstable_by(order);
        (chosen, matched)
    }

    fn wants(&self, connection: &Connection) -> bool {
        self.bound.is_none_or(|bound| connection.bound == bound)
            && self.limit.is_none_or(|limit| connection.limit == limit)
            && self.netns.is_none_or(|netns| connection.netns == netns)
            && self.process.as_ref().is_none_or(|wanted| {
                let process = connection.process.as_ref();
                process.is_some_and(|process| process.name == *wanted || process.pid.to_string() == *wanted)
            })
            && self
                .peer
                .as_ref()
                .is_none_or(|wanted| is_peer(&connection.peer, wanted))
    }
}

fn is_peer(peer: &str, wanted: &str) -> bool {
    let address = || {
        peer.parse::<SocketAddr>()
            .is_ok_and(|peer| Ok(peer.ip()) == wanted.parse())
    };
    peer == wanted || address()
}

impl Sort {
    /// By the figure, then by id so that the order is stable; those without the figure come last.
    fn compare(self, a: &Connection, b: &Connection) -> Ordering {
        let key = |each: &Connection| self.figure(each).unwrap_or(f64::NEG_INFINITY);
        key(b)
            .total_cmp(&key(a))
            .then_with(|| (&a.id, a.netns).cmp(&(&b.id, b.netns)))
    }

    fn figure(self, connection: &Connection) -> Option<f64> {
        match self {
            Self::Rate => Some(connection.rate_bps),
            Self::Ceiling => connection.ceiling_bps,
            Self::Gain => connection
                .next
                .as_ref()
                .map(|next| next.rate_bps - connection.rate_bps),
            Self::Age => Some(connection.age_us as f64),
            Self::Retransmits => connection.tcp.retransmits_total.map(f64::from),
            Self::Unsent => connection.tcp.unsent_bytes.map(f64::from),
        }
    }
}
