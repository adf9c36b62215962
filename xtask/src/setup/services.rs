//! Some programs come only in a package that also starts a service. On a person's machine that would open ports
//! they never asked for, so the service is kept from starting and from the next boot; one that was there before
//! is left alone, since its package is then not installed again.

use std::fs;
use std::path::Path;
use std::process::{self, Stdio};

use anyhow::{Context as _, Result};

use crate::process::{privileged, run};

/// Debian asks this program before a package starts a service; 101 means no.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Held while packages are installed.
#[must_use = "release() ends the refusal"]
pub struct Asleep<'a> {
    services: &'a [&'a str],
    placed: bool,
}

/// Refuses the start of services until released. A machine's own policy, if it has one, is respected instead.
pub fn keep_asleep<'a>(services: &'a [&'a str]) -> Result<Asleep<'a>> {
    if services.is_empty() || Path::new(POLICY).exists() {
        return Ok(Asleep {
            services,
            placed: false,
        });
    }
    // Should we be killed, what is left behind refuses nothing.
    let script = format!(
        "#!/bin/sh\n# Placed by tcpwin's `cargo xtask setup`; may be deleted.\n\
         grep -qs xtask /proc/{}/comm && exit 101\nexit 0\n",
        process::id()
    );
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), script)?;
    run(privileged("install")?
        .args(["--mode=755"])
        .arg(file.path())
        .arg(POLICY))
    .context("keeping services from starting")?;
    Ok(Asleep {
        services,
        placed: true,
    })
}

impl Asleep<'_> {
    /// Takes the refusal away and keeps what was installed from starting at boot.
    pub fn release(self) -> Result<()> {
        if self.placed {
            run(privileged("rm")?.arg("--force").arg(POLICY))?;
        }
        for service in self.services {
            // Absent or already disabled is what is wanted.
            let _ = privileged("update-rc.d")?
                .args([service, "disable"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
        Ok(())
    }
}
