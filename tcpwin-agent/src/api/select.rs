//! Which connections a request asks for, in which order, and what of them.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::Uri;
use serde::Deserialize;

use crate::classify::{Bound, Limit};
use crate::query::{Filter, Sort};
use crate::snapshot::Connection;

use super::fields::Fields;
use super::parameters::{self, Refused};

/// The query of `/api/v1/connections`. What is given beside the filter must be equal.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    /// Only connections that pass: docs/filter.md. At most 4,096 characters.
    filter: Option<String>,
    /// Class of the last interval.
    bound: Option<Bound>,
    /// Cause of the last interval.
    limit: Option<Limit>,
    /// Process id or name.
    process: Option<String>,
    /// `ip` or `ip:port`.
    peer: Option<String>,
    /// Network namespace.
    netns: Option<u32>,
    /// Fields with commas between, each turned round by a `-`; the fastest first without it: docs/filter.md.
    sort: Option<String>,
    /// Connections left out at the head.
    #[serde(default)]
    offset: usize,
    /// Most connections in the answer.
    count: Option<usize>,
    /// Names of the JSON with commas between, such as `id,tcp.srtt_us`: only these are answered (`ConnectionPart`).
    fields: Option<String>,
}

/// A request for connections, valid.
#[derive(Debug)]
pub(super) struct Select {
    query: Query,
    filter: Filter,
    sort: Sort,
    pub(super) fields: Option<Fields>,
}

impl Select {
    /// From the query of `uri`.
    pub(super) fn read(uri: &Uri) -> Result<Self, Refused> {
        let mut query: Query = parameters::read(uri)?;
        Ok(Self {
            filter: parameters::parsed("filter", query.filter.take())?.unwrap_or_default(),
            sort: parameters::parsed("sort", query.sort.take())?.unwrap_or_else(Sort::fastest),
            fields: query.fields.as_deref().map(Fields::read).transpose()?,
            query,
        })
    }

    /// Most connections that it lets through, where it says.
    pub(super) const fn most(&self) -> Option<usize> {
        self.query.count
    }

    /// Those asked for, in order, and how many there were before `offset` and `count` cut them.
    pub(super) fn apply(&self, connections: &[Arc<Connection>]) -> (Vec<Arc<Connection>>, usize) {
        let chosen: Vec<u32> = connections
            .iter()
            .zip(0..)
            .filter(|(each, _)| self.wants(each))
            .map(|(_, index)| index)
            .collect();
        let Query { offset, count, .. } = self.query;
        let most = count.map_or(usize::MAX, |count| offset.saturating_add(count));
        let arranged = self.sort.arrange(connections, &chosen, most);
        let shown = arranged.into_iter().skip(offset);
        let shown = shown.map(|index| Arc::clone(&connections[index as usize]));
        (shown.collect(), chosen.len())
    }

    fn wants(&self, connection: &Connection) -> bool {
        let query = &self.query;
        query.bound.is_none_or(|bound| connection.bound == bound)
            && query.limit.is_none_or(|limit| connection.limit == limit)
            && query.netns.is_none_or(|netns| connection.netns == netns)
            && query.process.as_ref().is_none_or(|wanted| {
                let process = connection.process.as_ref();
                process.is_some_and(|process| process.name == *wanted || process.pid.to_string() == *wanted)
            })
            && query
                .peer
                .as_ref()
                .is_none_or(|wanted| is_peer(&connection.peer, wanted))
            && self.filter.matches(connection)
    }
}

fn is_peer(peer: &str, wanted: &str) -> bool {
    let address = || {
        peer.parse::<SocketAddr>()
            .is_ok_and(|peer| Ok(peer.ip()) == wanted.parse())
    };
    peer == wanted || address()
}
