//! What `explain` tells, in the names of the JSON contract.

use serde::Serialize;

use crate::classify::{Bound, Direction, Limit, Remedy, Side, Verdict};
use crate::explain::figures::Figures;
use crate::explain::join::Group;
use crate::observation::pasted::Pasted;
use crate::snapshot::{Ceiling, Process, TcpFields};

/// Everything that was told of a paste.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// One entry a socket, in the order of the paste.
    pub sockets: Vec<Explained>,
    /// Lines of the paste that are no `ss` output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

/// Which ends were pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The end that sends the bulk.
    Sender,
    /// The end that receives it.
    Receiver,
    /// Both.
    Both,
}

/// A socket with its verdict. The fields are those of the API's connections, as far as a paste has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Line of the paste where its newest look begins; absent of what runs.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: usize,
    /// Socket cookie as a decimal string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `ip:port` or `[ip6]:port`, as far as it was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The same of the peer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Which way the bytes go.
    pub direction: Direction,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Its name where the id is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_name: Option<String>,
    /// Which ends were pasted.
    pub side_seen: Seen,
    /// Looks at this end; absent of what was watched.
    #[serde(skip_serializing_if = "is_zero")]
    pub looks: usize,
    /// Seconds between the last two of them, where they can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<f64>,
    /// Class of the verdict.
    pub bound: Bound,
    /// Cause of the verdict.
    pub limit: Limit,
    /// Who must act.
    pub side: Side,
    /// 0 to 1.
    pub confidence: f64,
    /// Observed rate in `direction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// What that is a rate of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_over: Option<&'static str>,
    /// What the binding limit allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// Its arithmetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_formula: Option<String>,
    /// The next limit, and the rate expected once the binding one is lifted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Ceiling>,
    /// Every ceiling that is known, the lowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<Ceiling>,
    /// What in the figures cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconsistent: Option<String>,
    /// One or two sentences with the numbers.
    pub proof: String,
    /// What to change.
    pub remedies: Vec<Remedy>,
    /// What else to collect.
    pub collect: Vec<String>,
    /// Tokens that were not understood.
    pub unknown: Vec<String>,
    /// The socket's fields.
    pub tcp: TcpFields,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn explained(
    figures: &Figures<'_>,
    group: &Group<'_>,
    verdict: Verdict,
    collect: Vec<String>,
) -> Explained {
    let now = figures.now;
    let (process, process_name) = match &now.process {
        Some((name, Some(pid))) => {
            let (pid, name) = (*pid, name.clone());
            (Some(Process { pid, name }), None)
        }
        Some((name, None)) => (None, Some(name.clone())),
        None => (None, None),
    };
    let remedies = verdict.remedies();
    Explained {
        line: now.line,
        id: now.cookie.map(|cookie| cookie.to_string()),
        local: now.local.clone(),
        peer: now.peer.clone(),
        direction: verdict.direction,
        process,
        process_name,
        side_seen: match (figures.mate, verdict.direction) {
            (Some(_), _) => Seen::Both,
            (None, Direction::Send) => Seen::Sender,
            (None, Direction::Receive) => Seen::Receiver,
        },
        looks: group.looks.len(),
        interval_s: figures.span,
        bound: verdict.limit.bound(),
        limit: verdict.limit,
        side: verdict.side,
        confidence: verdict.confidence.clamp(0.0, 1.0),
        rate_bps: figures.rate.map(|rate| rate.rate.bits()),
        rate_over: figures.rate.map(|rate| rate.over),
        ceiling_bps: verdict.ceiling.as_ref().map(|ceiling| ceiling.rate.bits()),
        ceiling_formula: verdict.ceiling.as_ref().map(|ceiling| ceiling.formula.clone()),
        next: verdict.next.as_ref().map(ceiling),
        ledger: verdict.ledger.iter().map(ceiling).collect(),
        inconsistent: verdict.inconsistent,
        proof: verdict.proof,
        remedies,
        collect,
        unknown: group
            .looks
            .iter()
            .flat_map(|look| look.unknown.iter().cloned())
            .collect(),
        tcp: fields(now),
    }
}

fn ceiling(ceiling: &crate::classify::Ceiling) -> Ceiling {
    Ceiling {
        limit: ceiling.limit,
        rate_bps: ceiling.rate.bits(),
        formula: ceiling.formula.clone(),
    }
}

fn fields(now: &Pasted) -> TcpFields {
    TcpFields {
        state: now.state,
        ..TcpFields::of(&now.tcp, &now.totals)
    }
}
