//! What must never be shown.

use std::fmt;

use serde::Deserialize;

/// Text that is told to nobody, not even in a debug line.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub(super) struct Secret(String);

impl Secret {
    /// For who needs it.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("<secret>")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}
