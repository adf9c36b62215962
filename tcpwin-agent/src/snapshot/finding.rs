//! What is worth telling of many connections at once.

use serde::{Deserialize, Serialize};

use crate::classify::group::FindingKind;
use crate::classify::{Bound, Limit, Remedy};

/// Something that is true of several connections, or of one among several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Class of what holds the connections.
    pub bound: Bound,
    /// Its cause.
    pub limit: Limit,
    /// Network namespace.
    pub netns: u32,
    /// Name of the program, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Prefix of the peers; absent if they are in several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// How many connections.
    pub connections: u64,
    /// Ids of the fastest of them.
    pub ids: Vec<String>,
    /// Their rates together.
    pub rate_bps: f64,
    /// Factor by which that would rise once the limit is lifted, where it is known and worth the while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// A sentence or two with the numbers.
    pub proof: String,
    /// What to change.
    pub remedies: Vec<Remedy>,
}
