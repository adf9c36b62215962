//! Debian's kernels, unpacked into the cache.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::paths;
use crate::process::announce;
use crate::vm::mirror::Mirror;

/// A kernel series that guests can boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// Debian 11's, the oldest with all that tcpwin needs
    #[value(name = "5.10")]
    V5_10,
    /// Debian 12's
    #[value(name = "6.1")]
    V6_1,
    /// Debian 13's
    #[value(name = "6.12")]
    V6_12,
    /// The newest that Debian has
    #[value(name = "newest")]
    Newest,
}

/// An unpacked kernel package.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Which series was asked for.
    pub release: Release,
    /// As `uname -r` says.
    pub version: String,
    /// What QEMU boots.
    pub image: PathBuf,
    /// Root of its modules, with `kernel/` and `modules.builtin`.
    pub modules: PathBuf,
}

impl Release {
    /// Every series.
    pub const ALL: [Self; 4] = [Self::V5_10, Self::V6_1, Self::V6_12, Self::Newest];
    /// The series that CI boots.
    pub const CI: [Self; 2] = [Self::V6_1, Self::V6_12];

    fn name(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::Newest => "newest",
        }
    }

    fn suites(self) -> &'static [&'static str] {
        match self {
            Self::V5_10 => &["bullseye", "bullseye-security"],
            Self::V6_1 => &["bookworm", "bookworm-security"],
            Self::V6_12 => &["trixie", "trixie-security"],
            Self::Newest => &["sid"],
        }
    }

    fn package_prefix(self) -> &'static str {
        match self {
            Self::V5_10 => "linux-image-5.10.",
            Self::V6_1 => "linux-image-6.1.",
            Self::V6_12 => "linux-image-6.12.",
            Self::Newest => "linux-image-",
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The cached kernel of this series, else the newest one that Debian has.
pub fn fetch(release: Release) -> Result<Kernel> {
    super::require_same_machine()?;
    let dir = dir(release)?;
    let tree = dir.join("tree");
    if !tree.is_dir() {
        fs::create_dir_all(&dir)?;
        download(release, &dir, &tree).with_context(|| format!("getting the {release} kernel"))?;
    }
    open(release, &tree).with_context(|| format!("{}: remove it and try again", tree.display()))
}

/// Drops the cached kernel, so that the next [`fetch`] looks for a newer one.
pub fn forget(release: Release) -> Result<()> {
    let dir = dir(release)?;
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    Ok(())
}

fn dir(release: Release) -> Result<PathBuf> {
    Ok(paths::cache()?.join("vm").join(release.name()))
}

fn download(release: Release, dir: &Path, tree: &Path) -> Result<()> {
    announce(format_args!(
        "will download Debian's {release} kernel into {}, once",
        dir.display()
    ));
    let mirror = Mirror::of(release.suites(), &dir.join("apt"))?;
    let package = mirror.newest(release.package_prefix(), is_cloud_kernel)?;
    // Renamed last: what is under `tree` is whole.
    let unpacked = tempfile::tempdir_in(dir)?;
    for part in std::iter::once(package.clone()).chain(parts(&mirror, &package)?) {
        announce(format_args!("downloading {part}"));
        mirror.unpack(&part, unpacked.path())?;
    }
    fs::rename(unpacked.keep(), tree)?;
    Ok(())
}

/// Since Debian 14 a kernel's image, modules and lists are packages of their own.
fn parts(mirror: &Mirror, package: &str) -> Result<Vec<String>> {
    let mut parts = mirror.dependencies(package)?;
    let kinds = ["linux-base-", "linux-binary-", "linux-modules-"];
    parts.retain(|name| kinds.iter().any(|kind| name.starts_with(kind)));
    Ok(parts)
}

/// Kernels proper, such as `linux-image-6.1.0-50-cloud-amd64-unsigned`; not the packages that only depend on one.
fn is_cloud_kernel(package: &str) -> bool {
    let Some(rest) = package.strip_prefix("linux-image-") else {
        return false;
    };
    let rest = rest.strip_suffix("-unsigned").unwrap_or(rest);
    let Some(version) = rest.strip_suffix("-cloud-amd64") else {
        return false;
    };
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').count() >= 3 && numbers.split('.').all(|part| part.parse::<u32>().is_ok())
}

fn open(release: Release, tree: &Path) -> Result<Kernel> {
    // Since Debian 13 packages put modules straight under /usr.
    let roots = [tree.join("lib/modules"), tree.join("usr/lib/modules")];
    let modules = roots
        .iter()
        .find_map(|root| only_entry(root))
        .context("no modules")?;
    let version = modules
        .file_name()
        .context("no version")?
        .to_string_lossy()
        .into_owned();
    let images = [
        tree.join(format!("boot/vmlinuz-{version}")),
        modules.join("vmlinuz"),
    ];
    let image = images
        .into_iter()
        .find(|image| image.is_file())
        .context("no kernel image")?;
    Ok(Kernel {
        release,
        version,
        image,
        modules,
    })
}

fn only_entry(dir: &Path) -> Option<PathBuf> {
    Some(fs::read_dir(dir).ok()?.next()?.ok()?.path())
}

#[cfg(test)]
mod tests {
    use super::is_cloud_kernel;

    #[test]
    fn kernels_are_told_from_metapackages() {
        assert!(is_cloud_kernel("linux-image-6.1.0-50-cloud-amd64-unsigned"));
        assert!(is_cloud_kernel("linux-image-7.2.13+deb14-cloud-amd64"));
        assert!(!is_cloud_kernel("linux-image-6.1-cloud-amd64"));
        assert!(!is_cloud_kernel("linux-image-cloud-amd64"));
        assert!(!is_cloud_kernel("linux-image-6.1.0-50-amd64-unsigned"));
        assert!(!is_cloud_kernel("linux-image-7.2.13+deb14-cloud-amd64-dbg"));
    }
}
