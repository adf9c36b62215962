//! A watched connection's state at each of its events, while somebody looks at it closely.

use serde::{Deserialize, Serialize};

pub use crate::observation::Sample;

/// Which connection is watched closely.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Watch {
    /// Its cookie, as in [`super::Connection::id`].
    pub id: String,
    /// Its network namespace.
    pub netns: u32,
}
