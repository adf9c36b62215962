//! `bpf-linker`, prebuilt nowhere: built once into the cache, against the distribution's LLVM.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::paths;
use crate::process::{self, announce};
use crate::setup::packages::{self, Package};

/// One release of bpf-linker for each LLVM it is built against.
struct Release {
    llvm: u32,
    version: &'static str,
    feature: &'static str,
    packages: &'static [Package],
}

const RELEASES: &[Release] = &[
    Release {
        llvm: 21,
        version: "0.10.4",
        feature: "llvm-21",
        packages: &[
            Package::library("llvm-21-dev"),
            Package::library("libpolly-21-dev"),
            COMPILER,
        ],
    },
    Release {
        llvm: 22,
        version: "0.10.4",
        feature: "llvm-22",
        packages: &[
            Package::library("llvm-22-dev"),
            Package::library("libpolly-22-dev"),
            COMPILER,
        ],
    },
];

/// Parts of LLVM's glue are C++.
const COMPILER: Package = Package::with_program("g++", "g++");

/// The release that reads bitcode of this LLVM.
pub fn version_for(llvm: u32) -> Result<&'static str> {
    release_for(llvm).map(|release| release.version)
}

/// The cached linker if it still runs, else a new one.
pub fn find_or_build(llvm: u32) -> Result<PathBuf> {
    let release = release_for(llvm)?;
    let root = paths::cache()?.join(format!("bpf-linker-{}-llvm-{}", release.version, release.llvm));
    let linker = root.join("bin/bpf-linker");
    if works(&linker) {
        return Ok(linker);
    }
    if !release.packages.iter().all(Package::is_offered) {
        bail!(
            "bpf-linker needs LLVM {llvm}'s development files, which no package offers here: install LLVM {llvm} \
             or choose a Rust compiler with another LLVM through TCPWIN_EBPF_TOOLCHAIN"
        );
    }
    packages::install(release.packages, "bpf-linker")?;
    announce(format_args!(
        "will build bpf-linker {} into {}, once",
        release.version,
        root.display()
    ));
    build(release, &root)?;
    if !works(&linker) {
        bail!("{} was built but does not run", linker.display());
    }
    Ok(linker)
}

/// Whether it starts, thus finds the LLVM it was linked with.
pub fn works(linker: &Path) -> bool {
    let mut command = Command::new(linker);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn release_for(llvm: u32) -> Result<&'static Release> {
    let supported = || {
        RELEASES
            .iter()
            .map(|release| release.llvm.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    RELEASES
        .iter()
        .find(|release| release.llvm == llvm)
        .with_context(|| format!("bpf-linker is known to work with LLVM {}", supported()))
}

fn build(release: &Release, root: &Path) -> Result<()> {
    // llvm-sys asks the first llvm-config on PATH.
    let llvm_bin = PathBuf::from(format!("/usr/lib/llvm-{}/bin", release.llvm));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(llvm_bin).chain(std::env::split_paths(&path)))?;
    let mut cargo = Command::new(paths::cargo());
    cargo
        .args(["install", "bpf-linker", "--locked", "--version", release.version])
        .args(["--no-default-features", "--features", release.feature, "--root"])
        .arg(root)
        .env("PATH", path);
    process::run(&mut cargo)
}
