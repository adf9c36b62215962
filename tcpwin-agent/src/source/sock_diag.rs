//! The fallback: netlink sock_diag.

/// Network namespaces by inode number, each with a path that leads to it. Placeholder until the source lands.
#[must_use]
pub fn namespaces() -> std::collections::HashMap<u64, String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut found = std::collections::HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let path = format!("{}/ns/net", entry.path().display());
        if let Ok(data) = std::fs::metadata(&path) {
            found.entry(data.ino()).or_insert(path);
        }
    }
    found
}
