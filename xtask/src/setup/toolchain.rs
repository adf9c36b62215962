//! Finds a Rust compiler that can build `core` for `bpfel-unknown-none`: one with its sources beside it.
//!
//! In this order: `$TCPWIN_EBPF_TOOLCHAIN`; an installed rustup toolchain with `rust-src`; Debian's rustc-web; and
//! last a nightly that rustup downloads.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::paths;
use crate::process::{self, announce};
use crate::setup::linker;
use crate::setup::packages::{self, Package};
use crate::setup::toolchain_file::EbpfToolchain;

/// Names a rustup toolchain, or a directory with `bin/rustc`.
const CHOICE: &str = "TCPWIN_EBPF_TOOLCHAIN";

/// Debian's newest compiler, packaged for browsers, and its sources: equal versions by construction.
const DEBIAN: &[Package] = &[Package::library("rustc-web"), Package::library("rust-web-src")];

/// What `tcpwin-ebpf` and its dependencies compile with.
const OLDEST: (u32, u32) = (1, 87);

/// A usable compiler.
#[derive(Debug)]
pub struct Compiler {
    /// The cargo to drive it.
    pub cargo: PathBuf,
    /// The compiler itself.
    pub rustc: PathBuf,
    /// Whether unstable features must be unlocked.
    pub bootstrap: bool,
    /// Major version of its LLVM: the linker's must not be older.
    pub llvm: u32,
}

/// What the last setup found, if nothing of it has gone since. A choice made by name is always looked at anew.
pub fn still_good() -> Option<EbpfToolchain> {
    let known = EbpfToolchain::load()
        .ok()
        .filter(|_| env::var_os(CHOICE).is_none())?;
    let usable = examine(&known.rustc, &known.cargo).is_ok() && linker::works(&known.linker);
    usable.then_some(known)
}

/// Whether rustup may fetch a toolchain: never where something is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Download {
    /// A person asked for it.
    Allowed,
    /// A test or CI runs.
    Refused,
}

/// Walks the list above.
pub fn find_or_install(download: Download) -> Result<Compiler> {
    if let Some(choice) = env::var_os(CHOICE) {
        return chosen(&choice).with_context(|| format!("{CHOICE}={}", choice.display()));
    }
    if let Some(compiler) = best_of_rustup() {
        return Ok(compiler);
    }
    if DEBIAN.iter().all(Package::is_offered) {
        packages::install(DEBIAN, "the kernel programs")?;
        return examine(Path::new("/usr/bin/rustc"), &plain_cargo()?).context("Debian's rustc-web");
    }
    match download {
        Download::Allowed if env::var_os("CI").is_none() => download_nightly(),
        _ => bail!(
            "no Rust compiler with its sources is installed, and tests must not download one: run \
             `cargo xtask setup`, or name one with {CHOICE}"
        ),
    }
}

fn chosen(choice: &OsString) -> Result<Compiler> {
    let dir = Path::new(choice);
    if !dir.is_absolute() {
        return of_rustup(&choice.to_string_lossy());
    }
    let cargo = dir.join("bin/cargo");
    let cargo = if cargo.is_file() { cargo } else { plain_cargo()? };
    examine(&dir.join("bin/rustc"), &cargo)
}

/// The newest installed toolchain that will do; one that needs no unlocking goes first.
fn best_of_rustup() -> Option<Compiler> {
    let list = process::output(Command::new("rustup").args(["toolchain", "list", "--quiet"])).ok()?;
    let mut usable: Vec<Compiler> = list
        .split_whitespace()
        .filter_map(|name| of_rustup(name).ok())
        .collect();
    usable.sort_by_key(|compiler| (!compiler.bootstrap, compiler.llvm));
    usable.pop()
}

fn of_rustup(name: &str) -> Result<Compiler> {
    let which = |tool| {
        let path = process::output(Command::new("rustup").args(["which", "--toolchain", name, tool]))?;
        anyhow::Ok(PathBuf::from(path.trim()))
    };
    examine(&which("rustc")?, &which("cargo")?)
}

fn download_nightly() -> Result<Compiler> {
    announce("will install with rustup, needed by the kernel programs: nightly with rust-src");
    let install = [
        "toolchain",
        "install",
        "nightly",
        "--profile=minimal",
        "--component=rust-src",
    ];
    process::run(Command::new("rustup").args(install)).with_context(|| {
        format!("no Rust compiler with its sources could be had: install one and name it with {CHOICE}")
    })?;
    of_rustup("nightly")
}

/// The cargo that runs us, resolved: rustup's proxy would obey an environment it should not.
fn plain_cargo() -> Result<PathBuf> {
    if let Some(cargo) = env::var_os("CARGO")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
    {
        return Ok(cargo);
    }
    let resolved = process::output(Command::new("rustup").args(["which", "cargo"]));
    resolved
        .map(|path| PathBuf::from(path.trim()))
        .or_else(|_| paths::program("cargo").context("no cargo"))
}

/// Reads versions from the compiler and looks for its sources.
fn examine(rustc: &Path, cargo: &Path) -> Result<Compiler> {
    let text = process::output(Command::new(rustc).arg("-vV"))?;
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    let release = field("release:").context("no release in rustc -vV")?;
    let llvm = field("LLVM version:").and_then(|version| version.split('.').next()?.parse().ok());
    let llvm: u32 = llvm.with_context(|| format!("rustc {release} names no LLVM version"))?;
    ensure!(
        version(release) >= Some(OLDEST),
        "rustc {release} is too old: {}.{} is needed",
        OLDEST.0,
        OLDEST.1
    );
    linker::version_for(llvm).with_context(|| format!("rustc {release} has LLVM {llvm}"))?;

    let sysroot = process::output(Command::new(rustc).args(["--print", "sysroot"]))?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if !sources.is_file() {
        bail!("rustc {release} lacks its sources ({})", sources.display());
    }
    let bootstrap = !release.contains("nightly") && !release.contains("dev");
    Ok(Compiler {
        cargo: cargo.to_owned(),
        rustc: rustc.to_owned(),
        bootstrap,
        llvm,
    })
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(['.', '-']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn release_strings() {
        assert_eq!(version("1.96.0"), Some((1, 96)));
        assert_eq!(version("1.97.0-nightly"), Some((1, 97)));
        assert_eq!(version("unknown"), None);
    }
}
