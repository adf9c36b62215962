//! Where the workspace, the cache and the programs are.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::setup::toolchain_file;

/// Root of the workspace: this package is one folder below it.
pub fn workspace() -> PathBuf {
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    // Run by hand, without cargo: where it was built.
    let manifest_dir = manifest_dir.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest_dir
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or(manifest_dir)
}

/// `~/.cache/tcpwin`, which outlives `cargo clean` and serves every clone.
pub fn cache() -> Result<PathBuf> {
    toolchain_file::cache_dir().map_err(|cause| anyhow!(cause))
}

/// Cargo's target directory, where the programs are left.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// The cargo that runs us, or whichever is on PATH.
pub fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Looks `name` up on PATH and in the directories of system programs, which people's PATH often lacks.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    env::split_paths(&path)
        .chain(system)
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_file())
}
