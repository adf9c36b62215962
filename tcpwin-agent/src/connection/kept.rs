//! What outlives a table: a connection as it was last seen, for one that goes on from there.

use serde::{Deserialize, Serialize};

use super::causes::Causes;
use super::entry::Ownership;
use crate::observation::Observation;

/// A connection as it was last seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// What was last seen of it.
    pub last: Observation,
    /// Whose it is, if that is known.
    pub owner: Option<Ownership>,
    pub(super) causes: Causes,
}
