//! `tcpwin doctor`: what is set wrongly here, with proof on live connections.
//!
//! Facts of each network namespace and the connections that live in it go in, findings come out: what costs most first. Pure: it changes
//! nothing and asks nobody.

mod finding;
mod place;
pub mod plan;
mod report;
mod text;

#[cfg(test)]
mod tests;

pub use finding::{Change, Finding, KINDS, Kind, SettingEdit, Severity};
pub use place::{Configured, Machine, Place, Steering};
pub use report::{Audited, Report};
pub use text::write;

use crate::host::Namespace;
use crate::snapshot::Snapshot;

/// Judges every namespace against the connections of a snapshot.
#[must_use]
pub fn examine(machine: &Machine, namespaces: &[Namespace], snapshot: &Snapshot) -> Report {
    let mut findings: Vec<Finding> = namespaces
        .iter()
        .flat_map(|namespace| finding::find(&Place::new(machine, namespace, snapshot)))
        .collect();
    finding::sort(&mut findings);
    Report {
        watched_s: machine.watched_s,
        source: snapshot.health.source.clone(),
        namespaces: namespaces
            .iter()
            .map(|namespace| Audited::of(namespace, snapshot))
            .collect(),
        findings,
    }
}
