//! Running connections in the same words: their verdicts are the agent's own, from intervals that were watched.

use crate::classify::{Direction, Side};
use crate::explain::report::{Explained, Report, Seen};
use crate::query::Filter;
use crate::snapshot::{Connection, Snapshot};

/// Explains the connections of a snapshot that pass the filter.
#[must_use]
pub fn live(snapshot: &Snapshot, filter: &Filter) -> Report {
    let passing = snapshot.connections.iter().filter(|each| filter.matches(each));
    Report {
        sockets: passing
            .map(|each| explained(each, snapshot.interval_us as f64 / 1e6))
            .collect(),
        text: Vec::new(),
    }
}

fn explained(connection: &Connection, interval_s: f64) -> Explained {
    // What has held for a while is what one asks for; where the last interval says another, both are told.
    let another = connection
        .prevailing
        .filter(|prevailing| prevailing.limit != connection.limit)
        .map_or_else(String::new, |prevailing| {
            format!(
                " Before, {} held for {:.0} s.",
                prevailing.limit.name(),
                prevailing.since_us as f64 / 1e6
            )
        });
    let advice = matches!(connection.side, Side::PeerApp | Side::PeerKernel) && connection.confidence < 0.5;
    Explained {
        line: 0,
        id: Some(connection.id.clone()),
        local: Some(connection.local.clone()),
        peer: Some(connection.peer.clone()),
        direction: connection.direction,
        process: connection.process.clone(),
        process_name: None,
        side_seen: match connection.direction {
            Direction::Send => Seen::Sender,
            Direction::Receive => Seen::Receiver,
        },
        looks: 0,
        interval_s: Some(interval_s),
        bound: connection.bound,
        limit: connection.limit,
        side: connection.side,
        confidence: connection.confidence,
        rate_bps: Some(connection.rate_bps),
        rate_over: Some("over the last interval"),
        ceiling_bps: connection.ceiling_bps,
        ceiling_formula: connection.ceiling_formula.clone(),
        next: connection.next.clone(),
        ledger: connection.ledger.clone(),
        inconsistent: connection.inconsistent.clone(),
        proof: format!("{}{another}", connection.proof),
        remedies: connection.remedies.clone(),
        collect: if advice {
            vec!["the same at the peer: what it does is seen at first hand there".to_owned()]
        } else {
            Vec::new()
        },
        unknown: Vec::new(),
        tcp: connection.tcp.clone(),
    }
}
