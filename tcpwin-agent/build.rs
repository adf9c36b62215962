//! Builds the kernel programs and leaves the object at `$OUT_DIR/tcpwin`.
//!
//! The compiler comes from the file that `cargo xtask setup` wrote. `TCPWIN_EBPF_SKIP=1` leaves an empty
//! object instead, for tools that only read the source (docs, licence checks): such a binary has no probes.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::EbpfToolchain;

#[path = "build/toolchain.rs"]
mod toolchain;

const PACKAGE: &str = "tcpwin-ebpf";
const OBJECT: &str = "tcpwin";
const TARGET: &str = "bpfel-unknown-none";
const SKIP: &str = "TCPWIN_EBPF_SKIP";

fn main() -> Result<(), Box<dyn Error>> {
    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("..")
        .canonicalize()?;
    declare_inputs(&workspace);

    let object = out_dir.join(OBJECT);
    if env::var_os(SKIP).is_some_and(|value| value == "1") {
        fs::write(&object, [])?;
        return Ok(());
    }
    match EbpfToolchain::load() {
        Ok(toolchain) => build(&toolchain, &workspace, &out_dir, &object),
        Err(cause) => {
            println!("cargo::error={cause}; run `cargo xtask setup`");
            Ok(())
        }
    }
}

fn declare_inputs(workspace: &Path) {
    for input in ["tcpwin-ebpf", "tcpwin-common", "Cargo.lock", "tcpwin-agent/build"] {
        println!("cargo::rerun-if-changed={}", workspace.join(input).display());
    }
    if let Ok(file) = toolchain::file() {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    for name in [SKIP, "XDG_CACHE_HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
}

fn build(
    toolchain: &EbpfToolchain,
    workspace: &Path,
    out_dir: &Path,
    object: &Path,
) -> Result<(), Box<dyn Error>> {
    let target_dir = inner_target_dir(out_dir);
    let mut cargo = Command::new(&toolchain.cargo);
    for (name, _) in env::vars_os().filter(|(name, _)| belongs_to_outer_build(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    cargo
        .current_dir(workspace)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(toolchain)?)
        .args(["build", "--package", PACKAGE, "--bin", OBJECT, "--release"])
        .args(["--target", TARGET, "-Z", "build-std=core", "--target-dir"])
        .arg(&target_dir);
    if toolchain.bootstrap {
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }

    let output = cargo
        .output()
        .map_err(|e| format!("{}: {e}", toolchain.cargo.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        // Only a failed script's standard error reaches the screen.
        eprintln!("{said}");
        return Err(format!("the kernel programs did not build: {}", output.status).into());
    }
    repeat_warnings(&said);
    fs::copy(target_dir.join(TARGET).join("release").join(OBJECT), object)?;
    Ok(())
}

/// A target directory of its own, since the outer cargo holds the lock of the workspace's; one for all profiles,
/// clippy included, since the object is the same for each.
fn inner_target_dir(out_dir: &Path) -> PathBuf {
    // Cargo marks its target directory with this file.
    let outer = out_dir.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file());
    outer.unwrap_or(out_dir).join("ebpf")
}

/// What the outer cargo, clippy and rustup put into our environment, which would steer the inner build.
fn belongs_to_outer_build(name: &str) -> bool {
    const KEPT: [&str; 8] = [
        "CARGO_HOME",
        "CARGO_MAKEFLAGS", // the jobserver: both builds share one limit
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "CARGO_SOURCE_",
        "RUSTUP_HOME",
    ];
    let steers = ["CARGO", "RUST", "CLIPPY_", "DEP_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || [
            "LD_LIBRARY_PATH",
            "TARGET",
            "HOST",
            "PROFILE",
            "OPT_LEVEL",
            "DEBUG",
            "OUT_DIR",
        ]
        .contains(&name);
    steers && !KEPT.iter().any(|kept| name.starts_with(kept))
}

fn rustflags(toolchain: &EbpfToolchain) -> Result<OsString, Box<dyn Error>> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH")?;
    let mut linker = OsString::from("-Clinker=");
    linker.push(&toolchain.linker);
    let flags = [
        "-Clink-arg=--btf".into(),
        "-Cdebuginfo=2".into(), // BTF is made from it
        // aya-ebpf takes the layout of pt_regs from it.
        format!("--cfg=bpf_target_arch=\"{arch}\"").into(),
        linker,
    ];
    Ok(flags.join(&OsString::from("\u{1f}")))
}

/// Cargo hides what a build script that succeeded wrote: the inner warnings must still be seen.
fn repeat_warnings(said: &str) {
    let mut lines = said.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("warning") {
            let place = lines
                .peek()
                .filter(|next| next.trim_start().starts_with("-->"))
                .copied();
            println!("cargo::warning={line} {}", place.unwrap_or_default().trim());
        }
    }
}
