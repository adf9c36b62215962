//! The "newc" archive format of initramfs images (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// An archive in memory. Directories above a file are made on the way.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    present: BTreeSet<PathBuf>,
    inode: u32,
}

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_777;

impl Archive {
    /// Adds a directory and those above it.
    pub fn directory(&mut self, path: &Path) {
        let mut above = PathBuf::new();
        for part in path
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
        {
            above.push(part);
            if self.present.insert(above.clone()) {
                self.entry(&above.clone(), DIRECTORY, &[]);
            }
        }
    }

    /// Adds a file; the first one at a path stays.
    pub fn file(&mut self, path: &Path, permissions: u32, content: &[u8]) {
        self.leaf(path, FILE | permissions, content);
    }

    /// Adds a symbolic link.
    pub fn symlink(&mut self, path: &Path, target: &str) {
        self.leaf(path, SYMLINK, target.as_bytes());
    }

    /// The finished archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry(Path::new("TRAILER!!!"), 0, &[]);
        self.bytes
    }

    fn leaf(&mut self, path: &Path, mode: u32, content: &[u8]) {
        let path = relative(path);
        if let Some(parent) = path.parent() {
            self.directory(parent);
        }
        if self.present.insert(path.clone()) {
            self.entry(&path, mode, content);
        }
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) {
        self.inode += 1;
        let name = path.to_string_lossy();
        let name_size = u32::try_from(name.len() + 1).expect("paths are short");
        let size = u32::try_from(content.len()).expect("the format holds files below 4 GiB");
        // inode, mode, uid, gid, links, mtime, size, device × 2, special device × 2, name size, checksum
        let fields = [self.inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

fn relative(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Archive;

    #[test]
    fn entries_are_aligned_and_parents_come_first() {
        let mut archive = Archive::default();
        archive.file(Path::new("/a/b/c"), 0o755, b"hello");
        archive.file(Path::new("/a/b/c"), 0o755, b"later");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 4, "a, a/b, a/b/c, trailer");
        assert!(text.find("a\0") < text.find("a/b\0"));
        assert!(text.contains("hello") && !text.contains("later"));
    }
}
