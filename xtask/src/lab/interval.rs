//! One judged second of one connection: what was true, and what tcpwin and the rules of other tools made of it.

use serde::{Deserialize, Serialize};

use super::peers::Word;

/// What stands in place of a verdict where the agent did not list the connection.
pub const NOT_LISTED: &str = "not_listed";
/// A wrong verdict of at least this confidence is a defect by itself.
pub const CONFIDENT: f64 = 0.5;

/// A row of the report. Small, since a full run has a thousand of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Second of the flow at which the agent was asked.
    pub second: u32,
    /// The limit that binds by construction.
    pub truth: String,
    /// The limit that the agent named.
    pub said: String,
    /// Its confidence.
    pub confidence: f64,
    /// Its ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// The rate it expects once the limit is lifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_bps: Option<f64>,
    /// What the largest of the kernel's clocks names; absent without readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<Word>,
    /// What NDT would print.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndt: Option<Word>,
}

impl Interval {
    /// The agent named the true limit.
    pub fn is_right(&self) -> bool {
        self.said == self.truth
    }

    /// It said that it does not know, or did not list the connection: not right, but nobody was misled.
    pub fn is_unknown(&self) -> bool {
        !self.is_right() && (self.said == "unknown" || self.said == NOT_LISTED)
    }

    /// It named another limit, and was sure of it.
    pub fn is_wrong_with_confidence(&self) -> bool {
        !self.is_right() && !self.is_unknown() && self.confidence >= CONFIDENT
    }
}
