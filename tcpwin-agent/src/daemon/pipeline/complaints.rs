//! Reads of the source that fail.

use crate::source::SourceError;

/// Failed reads of one kind.
#[derive(Default)]
pub(super) struct Complaints {
    pub(super) count: u64,
    last: Option<String>,
}

impl Complaints {
    /// Counts a failed read; logs it once until the text changes or a read succeeds.
    pub(super) fn note(&mut self, outcome: Result<(), SourceError>) {
        let Err(error) = outcome else {
            self.last = None;
            return;
        };
        self.count += 1;
        let text = error.to_string();
        if self.last.as_ref() != Some(&text) {
            tracing::warn!("{text}; tried again at the next read");
            self.last = Some(text);
        }
    }
}
