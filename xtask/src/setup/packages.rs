//! Packages of the distribution: what is missing is named first, then installed in one go.

use std::process::{Command, Stdio};
use std::sync::Once;

use anyhow::{Context as _, Result, bail};

use crate::paths;
use crate::process::{self, announce};
use crate::setup::services;

/// A package, how to see that it is there, and the service that comes with it.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    name: &'static str,
    program: Option<&'static str>,
    service: Option<&'static str>,
}

impl Package {
    /// There when dpkg has it.
    pub const fn library(name: &'static str) -> Self {
        Self {
            name,
            program: None,
            service: None,
        }
    }

    /// There when the program is, wherever it came from.
    pub const fn with_program(name: &'static str, program: &'static str) -> Self {
        Self {
            name,
            program: Some(program),
            service: None,
        }
    }

    /// Wanted for a program only: its service must neither start now nor at boot.
    pub const fn with_service(name: &'static str, program: &'static str, service: &'static str) -> Self {
        Self {
            name,
            program: Some(program),
            service: Some(service),
        }
    }

    /// Whether it could be installed, or is already.
    pub fn is_offered(&self) -> bool {
        self.is_present() || apt_offers(self.name)
    }

    fn is_present(&self) -> bool {
        match self.program {
            Some(program) => paths::program(program).is_some(),
            None => is_installed(self.name),
        }
    }
}

/// Installs those of `wanted` that are missing. `purpose` completes "needed by …".
pub fn install(wanted: &[Package], purpose: &str) -> Result<()> {
    let missing: Vec<&Package> = wanted.iter().filter(|package| !package.is_present()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    let names = names.join(" ");
    if paths::program("apt-get").is_none() {
        bail!("{purpose} need the programs of Debian's {names}: install them, then run this again");
    }
    announce(format_args!(
        "will install with apt-get, needed by {purpose}: {names}"
    ));
    update_once();

    let services: Vec<&str> = missing.iter().filter_map(|package| package.service).collect();
    let asleep = services::keep_asleep(&services)?;
    let mut apt = process::privileged("env")?;
    apt.args([
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "--yes",
        "--quiet",
        "--no-install-recommends",
    ])
    .args(["-o", "Dpkg::Use-Pty=0", "install"])
    .args(names.split(' '))
    .stdin(Stdio::null());
    let installed = process::run(&mut apt).with_context(|| format!("{purpose} need {names}"));
    asleep.release()?;
    installed
}

/// Whether apt knows the package, once its lists are fresh.
fn apt_offers(name: &str) -> bool {
    if paths::program("apt-cache").is_none() {
        return false;
    }
    update_once();
    let policy = process::output(Command::new("apt-cache").args(["policy", name]));
    policy.is_ok_and(|text| {
        text.lines()
            .any(|line| line.contains("Candidate:") && !line.contains("(none)"))
    })
}

/// Whether dpkg has the package installed.
fn is_installed(name: &str) -> bool {
    let query = ["--show", "--showformat=${db:Status-Abbrev}", name];
    process::output(Command::new("dpkg-query").args(query)).is_ok_and(|status| status.starts_with("ii"))
}

/// Fresh package lists, once in a run. A source that cannot be reached need not be the one that matters: what is
/// really missing shows when it is installed.
fn update_once() {
    static UPDATED: Once = Once::new();
    UPDATED.call_once(|| {
        announce("apt-get update");
        let update = process::privileged("apt-get")
            .and_then(|mut apt| process::run(apt.args(["--quiet", "update"]).stdin(Stdio::null())));
        if let Err(error) = update {
            announce(format_args!("going on with old package lists: {error:#}"));
        }
    });
}
