//! Packages of any Debian release, whatever this machine runs: a private apt configuration in the cache, with the
//! machine's own mirrors. The system's sources and package lists are never touched, and no root is needed.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::process;

/// The mirror to use where the machine's apt knows no Debian.
const MIRROR: &str = "TCPWIN_DEBIAN_MIRROR";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Suites of Debian, with lists of their own.
pub struct Mirror {
    dir: PathBuf,
}

impl Mirror {
    /// Fetches the lists of `suites` into `dir`.
    pub fn of(suites: &[&str], dir: &Path) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(dir.join(part))?;
        }
        let mut sources = String::new();
        for suite in suites {
            let label = if suite.ends_with("-security") {
                "Debian-Security"
            } else {
                "Debian"
            };
            match uri(label)? {
                Some(uri) => sources.push_str(&format!("deb [signed-by={KEYRING}] {uri} {suite} main\n")),
                // Security mirrors only add newer builds.
                None if label == "Debian-Security" => {}
                None => bail!("apt knows no Debian mirror on this machine: name one with {MIRROR}"),
            }
        }
        ensure!(
            Path::new(KEYRING).is_file(),
            "{KEYRING} is missing: install debian-archive-keyring"
        );
        fs::write(dir.join("sources.list"), sources)?;
        let mirror = Self { dir: dir.to_owned() };
        process::output(mirror.apt("apt-get").args(["--quiet", "update"]))
            .with_context(|| format!("fetching the package lists of {}", suites.join(", ")))?;
        Ok(mirror)
    }

    /// The newest package among those whose name `is_wanted`.
    pub fn newest(&self, prefix: &str, is_wanted: impl Fn(&str) -> bool) -> Result<String> {
        let names = process::output(self.apt("apt-cache").args(["pkgnames", prefix]))?;
        let names: BTreeSet<&str> = names.lines().filter(|name| is_wanted(name)).collect();
        let policy = process::output(self.apt("apt-cache").arg("policy").args(&names))?;
        let mut best: Option<(String, String)> = None;
        for (name, version) in candidates(&policy) {
            if best.as_ref().is_none_or(|(_, known)| is_newer(version, known)) {
                best = Some((name.to_owned(), version.to_owned()));
            }
        }
        best.map(|(name, _)| name)
            .with_context(|| format!("no package named {prefix}…"))
    }

    /// Names of the packages that this one cannot do without.
    pub fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let text = process::output(self.apt("apt-cache").args(["depends", "--important", package]))?;
        let names = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "));
        Ok(names.map(str::to_owned).collect())
    }

    /// Downloads `package` and unpacks it, without installing, into `into`.
    pub fn unpack(&self, package: &str, into: &Path) -> Result<()> {
        let downloads = tempfile::tempdir_in(&self.dir)?;
        process::output(
            self.apt("apt-get")
                .args(["--quiet", "download", package])
                .current_dir(downloads.path()),
        )?;
        let archive = fs::read_dir(downloads.path())?
            .next()
            .context("apt-get download left no file")??;
        process::output(
            Command::new("dpkg-deb")
                .arg("--extract")
                .arg(archive.path())
                .arg(into),
        )?;
        Ok(())
    }

    fn apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let mut option = |name: &str, value: String| {
            command.arg("-o").arg(format!("{name}={value}"));
        };
        option("Dir::State", self.dir.display().to_string());
        option("Dir::State::status", "/dev/null".to_owned());
        option("Dir::Cache", self.dir.join("cache").display().to_string());
        option(
            "Dir::Etc::SourceList",
            self.dir.join("sources.list").display().to_string(),
        );
        option("Dir::Etc::SourceParts", "/dev/null".to_owned());
        option("APT::Architecture", "amd64".to_owned());
        option("APT::Architectures", "amd64".to_owned());
        // apt's own user cannot write to a person's cache.
        option("APT::Sandbox::User", whoami());
        // Old releases are no longer re-signed.
        option("Acquire::Check-Valid-Until", "false".to_owned());
        option(
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled",
            "false".to_owned(),
        );
        command
    }
}

/// Where the machine's own apt gets packages of this label from.
fn uri(label: &str) -> Result<Option<String>> {
    if let Some(mirror) = env::var(MIRROR).ok().filter(|_| label == "Debian") {
        return Ok(Some(mirror));
    }
    let filter = ["--format", "$(REPO_URI)", "Created-By: Packages"];
    let uris = process::output(
        Command::new("apt-get")
            .arg("indextargets")
            .args(filter)
            .arg(format!("Label: {label}")),
    )?;
    Ok(uris.lines().next().map(str::to_owned))
}

/// `(package, candidate)` of each package in `apt-cache policy`'s answer.
fn candidates(policy: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut package = "";
    policy.lines().filter_map(move |line| {
        if let Some(name) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            package = name;
        }
        let version = line.trim().strip_prefix("Candidate: ")?;
        (version != "(none)").then_some((package, version))
    })
}

fn is_newer(version: &str, than: &str) -> bool {
    let compare = ["--compare-versions", version, "gt", than];
    Command::new("dpkg")
        .args(compare)
        .status()
        .is_ok_and(|status| status.success())
}

fn whoami() -> String {
    process::output(Command::new("id").args(["--user", "--name"]))
        .map_or_else(|_| "root".into(), |s| s.trim().into())
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn packages_without_a_candidate_are_skipped() {
        let policy = "a:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n\
                      b:\n  Installed: (none)\n  Candidate: 6.1.4-1\n  Version table:\n     6.1.4-1 500\n";
        assert_eq!(candidates(policy).collect::<Vec<_>>(), [("b", "6.1.4-1")]);
    }
}
