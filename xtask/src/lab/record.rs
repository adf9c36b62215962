//! A run of the lab on one kernel with one source, as `--json` leaves it and `--report` reads it.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::report::Report;
use crate::paths;

/// Set in the guests of `cargo xtask vm` (its first program, init.sh).
const GUEST: &str = "TCPWIN_GUEST";
/// What a guest leaves here, `cargo xtask vm --out` keeps.
const GUEST_OUT: &str = "/out";

/// The file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// `uname -r`.
    pub kernel: String,
    /// In a guest, in virtual time.
    pub guest: bool,
    /// The agent's source; absent: no agent was asked.
    pub source: Option<String>,
    /// Which scenarios were asked for.
    pub names: Vec<String>,
    /// Scenarios at the same time.
    pub jobs: usize,
    /// What each scenario came to.
    pub scenarios: Vec<Report>,
}

impl Record {
    /// Of a run on this kernel.
    pub fn new(names: &[String], source: Option<&str>, jobs: usize, scenarios: Vec<Report>) -> Result<Self> {
        let kernel =
            fs::read_to_string("/proc/sys/kernel/osrelease").context("cannot read the kernel's version")?;
        Ok(Self {
            kernel: kernel.trim().to_owned(),
            guest: is_guest(),
            source: source.map(str::to_owned),
            names: names.to_vec(),
            jobs,
            scenarios,
        })
    }

    /// Reads what a run left.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no report of the lab", path.display()))
    }

    /// Writes it; that of all scenarios by default to a file that is named after kernel and source.
    pub fn write(&self, path: Option<&Path>) -> Result<()> {
        let path = match path {
            Some(path) => path.to_owned(),
            None if self.names == ["all"] => default_dir().join(self.file_name()),
            None => bail!("--json needs a file: only the report of `all` has a place of its own"),
        };
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        }
        let text = serde_json::to_string(self).context("cannot write the report")?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn file_name(&self) -> String {
        let place = if self.guest { "guest" } else { "native" };
        let source = self.source.as_deref().unwrap_or("no-agent");
        format!("{place}-{}-{source}.json", self.series())
    }

    /// The kernel's first two numbers.
    pub fn series(&self) -> String {
        let mut numbers = self.kernel.split(|letter: char| !letter.is_ascii_digit());
        let (major, minor) = (
            numbers.next().unwrap_or_default(),
            numbers.next().unwrap_or_default(),
        );
        format!("{major}.{minor}")
    }

    /// The kernel's version, without what a machine's own build adds to it; a guest's is Debian's whole one.
    pub fn release(&self) -> &str {
        if self.guest {
            return &self.kernel;
        }
        let numbers = self
            .kernel
            .find(|letter: char| letter != '.' && !letter.is_ascii_digit());
        &self.kernel[..numbers.unwrap_or(self.kernel.len())]
    }

    /// The command that makes it again.
    pub fn command(&self) -> String {
        let source = match self.source.as_deref() {
            Some("ebpf") => String::new(),
            Some(source) => format!(" --source {source}"),
            None => " --no-agent".to_owned(),
        };
        let jobs = if self.jobs == 1 {
            String::new()
        } else {
            format!(" --jobs {}", self.jobs)
        };
        let run = format!("lab {}{jobs}{source} --json", self.names.join(" "));
        if !self.guest {
            return format!("cargo xtask {run}");
        }
        let release = match self.series() {
            series if ["5.10", "6.1", "6.12"].contains(&series.as_str()) => series,
            _ => "newest".to_owned(),
        };
        format!("cargo xtask vm {release} --limit 6000 --out target/lab -- /bin/xtask {run}")
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.guest { "guest" } else { "native" };
        write!(f, "{} {place}", self.series())?;
        match &self.source {
            Some(source) => write!(f, ", {source}"),
            None => Ok(()),
        }
    }
}

/// The reports that full runs left, in the order of their names.
pub fn left_behind() -> Result<Vec<PathBuf>> {
    let dir = default_dir();
    let entries =
        fs::read_dir(&dir).with_context(|| format!("no run has left a report in {}", dir.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn default_dir() -> PathBuf {
    if is_guest() {
        PathBuf::from(GUEST_OUT)
    } else {
        paths::target().join("lab")
    }
}

/// Whether this runs in a guest.
pub fn is_guest() -> bool {
    env::var_os(GUEST).is_some()
}

#[cfg(test)]
mod tests {
    use super::Record;

    fn record(kernel: &str, guest: bool, source: &str, jobs: usize) -> Record {
        Record {
            kernel: kernel.into(),
            guest,
            source: Some(source.into()),
            names: vec!["all".into()],
            jobs,
            scenarios: Vec::new(),
        }
    }

    #[test]
    fn a_run_says_how_it_is_repeated() {
        let native = record("6.18.5-custom", false, "ebpf", 1);
        assert_eq!(native.release(), "6.18.5");
        assert_eq!(native.command(), "cargo xtask lab all --json");
        assert_eq!(
            (native.to_string().as_str(), native.file_name().as_str()),
            ("6.18 native, ebpf", "native-6.18-ebpf.json")
        );
        let guest = record("6.1.0-49-cloud-amd64", true, "sock_diag", 3);
        assert_eq!(
            guest.command(),
            "cargo xtask vm 6.1 --limit 6000 --out target/lab -- /bin/xtask lab all --jobs 3 --source sock_diag --json"
        );
        assert_eq!(guest.file_name(), "guest-6.1-sock_diag.json");
        assert!(record("7.2.3", true, "ebpf", 1).command().contains("vm newest "));
    }
}
