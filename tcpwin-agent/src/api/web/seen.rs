//! When a file has changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files, and by what a change of each is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(Vec<(PathBuf, Option<Stamp>)>);

/// Rewritten, replaced or renamed over: one of these differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    pub(super) fn look(&mut self, path: &Path) {
        self.0.push((path.to_owned(), stamp(path)));
    }

    pub(super) fn has_changed(&self) -> bool {
        self.0.iter().any(|(path, seen)| stamp(path) != *seen)
    }

    /// With the files that only `older` knows, as they are now: one that came back is then noticed.
    pub(super) fn with_files_of(mut self, older: &Self) -> Self {
        for (path, _) in &older.0 {
            if !self.0.iter().any(|(known, _)| known == path) {
                self.look(path);
            }
        }
        self
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let seen = fs::metadata(path).ok()?;
    Some(Stamp {
        device: seen.dev(),
        inode: seen.ino(),
        size: seen.size(),
        modified: (seen.mtime(), seen.mtime_nsec()),
        changed: (seen.ctime(), seen.ctime_nsec()),
    })
}
