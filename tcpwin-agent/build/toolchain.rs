//! Where the compiler for the kernel programs is: found by `cargo xtask setup`, read by `build.rs`.
//!
//! Compiled into both, so that the file's layout and place are written once.

use std::env;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// File name inside [`cache_dir`].
const FILE: &str = "ebpf-toolchain.toml";

/// A compiler whose standard library sources are at hand, and the linker for `bpfel-unknown-none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EbpfToolchain {
    /// The cargo to call: a real one, not rustup's proxy, so that no environment can redirect it.
    pub cargo: PathBuf,
    /// The rustc to call, of the same version as its sources.
    pub rustc: PathBuf,
    /// Whether this is a stable rustc that needs `RUSTC_BOOTSTRAP=1` for `-Z build-std`.
    pub bootstrap: bool,
    /// `bpf-linker`, built against an LLVM at least as new as rustc's.
    pub linker: PathBuf,
}

impl EbpfToolchain {
    /// Reads what `cargo xtask setup` found. The error is a cause, without the next step.
    pub fn load() -> Result<Self, String> {
        let path = existing_file()?;
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let found: Self = toml::from_str(&text)
            .map_err(|e| format!("{}: {}", path.display(), e.message().replace('\n', " ")))?;
        for tool in [&found.cargo, &found.rustc, &found.linker] {
            if !tool.is_file() {
                return Err(format!(
                    "{} is gone, which {} names",
                    tool.display(),
                    path.display()
                ));
            }
        }
        Ok(found)
    }
}

/// `$XDG_CACHE_HOME/tcpwin`, else `~/.cache/tcpwin`.
pub fn cache_dir() -> Result<PathBuf, String> {
    let root = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    root.map(|root| root.join("tcpwin"))
        .ok_or_else(|| "neither XDG_CACHE_HOME nor HOME is set".to_owned())
}

/// Where `cargo xtask setup` writes: always the cache of whoever runs it.
pub fn file() -> Result<PathBuf, String> {
    Ok(cache_dir()?.join(FILE))
}

/// The file to read. Under sudo, HOME is root's while setup ran as the person: theirs is the second choice.
fn existing_file() -> Result<PathBuf, String> {
    let own = file()?;
    let invoker = || {
        let user = env::var("SUDO_USER").ok()?;
        Some(home_of(&user)?.join(".cache/tcpwin").join(FILE))
    };
    if own.is_file() {
        return Ok(own);
    }
    match invoker() {
        Some(theirs) if theirs.is_file() => Ok(theirs),
        _ => Err(format!("no eBPF toolchain ({} is absent)", own.display())),
    }
}

fn absolute(name: &str) -> Option<PathBuf> {
    // The XDG base directory specification: a relative path is invalid and ignored.
    env::var_os(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

fn home_of(user: &str) -> Option<PathBuf> {
    let passwd = fs::read_to_string("/etc/passwd").ok()?;
    let line = passwd.lines().find(|line| line.split(':').next() == Some(user))?;
    line.split(':').nth(5).map(PathBuf::from)
}
