//! What `doctor` tells, in the names of its JSON.

use serde::Serialize;

use super::{Finding, Severity};
use crate::host::Namespace;
use crate::snapshot::Snapshot;

/// A network namespace that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Audited {
    /// Its number (`ns.inum`).
    pub netns: u32,
    /// The path that leads to it; absent of the one that doctor runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Live connections in it.
    pub connections: u64,
    /// Listening sockets in it.
    pub listeners: u64,
}

impl Audited {
    pub(super) fn of(namespace: &Namespace, snapshot: &Snapshot) -> Self {
        let live = snapshot
            .connections
            .iter()
            .filter(|connection| connection.netns == namespace.inum);
        Self {
            netns: namespace.inum,
            path: namespace.door.clone(),
            connections: live.count() as u64,
            listeners: namespace.listeners.len() as u64,
        }
    }
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// For how long counters and connections were watched, s.
    pub watched_s: f64,
    /// Where the connections were told from: `ebpf`, `sock_diag`.
    pub source: String,
    /// The namespaces that were looked at.
    pub namespaces: Vec<Audited>,
    /// What costs most first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The worst that was found.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).min()
    }
}
