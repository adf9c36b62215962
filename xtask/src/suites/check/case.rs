//! One server, and what a check of it must say.

use std::ffi::CString;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::SERVER;
use super::pki::Pki;
use crate::lab::net::Net;

/// A check and its truth.
pub struct Case {
    /// What it is called.
    pub name: String,
    port: u16,
    path: &'static str,
    asked: Option<&'static str>,
    ipv6: bool,
    host: Option<&'static str>,
    connections: u16,
    claims: Vec<&'static str>,
    exit: Option<i32>,
    stderr: Option<&'static str>,
    wants: Vec<(String, Want)>,
}

enum Want {
    Equal(Value),
    Within(f64, f64),
    Absent,
    Found,
    Silent,
}

impl Case {
    /// A check of a server on this port.
    pub fn new(name: &str, port: u16) -> Self {
        Self {
            name: name.to_owned(),
            port,
            path: "/",
            asked: None,
            ipv6: false,
            host: None,
            connections: 3,
            claims: Vec::new(),
            exit: None,
            stderr: None,
            wants: Vec::new(),
        }
    }

    /// What is asked for.
    pub fn path(mut self, path: &'static str) -> Self {
        self.path = path;
        self
    }

    /// Another name than the server's own is asked for.
    pub fn asks_for(mut self, name: &'static str) -> Self {
        self.asked = Some(name);
        self
    }

    /// Over IPv6.
    pub fn over_ipv6(mut self) -> Self {
        self.ipv6 = true;
        self
    }

    /// The server is named, not its address.
    pub fn by_name(mut self, host: &'static str) -> Self {
        self.host = Some(host);
        self
    }

    /// Connections of the series.
    pub fn connections(mut self, count: u16) -> Self {
        self.connections = count;
        self
    }

    /// Figures to hold against the path.
    pub fn claim(mut self, claim: &'static str) -> Self {
        self.claims.push(claim);
        self
    }

    /// The exit code.
    pub fn exits(mut self, code: i32) -> Self {
        self.exit = Some(code);
        self
    }

    /// It says this on standard error, and reports nothing.
    pub fn says(mut self, words: &'static str) -> Self {
        self.stderr = Some(words);
        self
    }

    /// The field has this value.
    pub fn is(self, field: &str, value: impl Into<Value>) -> Self {
        self.want(field, Want::Equal(value.into()))
    }

    /// The field is a number between these.
    pub fn within(self, field: &str, least: f64, most: f64) -> Self {
        self.want(field, Want::Within(least, most))
    }

    /// The field is not there.
    pub fn lacks(self, field: &str) -> Self {
        self.want(field, Want::Absent)
    }

    /// There is a finding about this.
    pub fn finds(self, about: &str) -> Self {
        self.want(about, Want::Found)
    }

    /// There is none.
    pub fn silent_on(self, about: &str) -> Self {
        self.want(about, Want::Silent)
    }

    fn want(mut self, what: &str, want: Want) -> Self {
        self.wants.push((what.to_owned(), want));
        self
    }

    /// How much is compared.
    pub fn len(&self) -> usize {
        self.wants.len() + usize::from(self.exit.is_some()) + usize::from(self.stderr.is_some())
    }

    /// Checks the server from the other host; what is not as it should be.
    pub fn run(&self, tcpwin: &Path, net: &Net, pki: &Pki) -> Result<Vec<String>> {
        let target = match self.host {
            Some(host) => format!("{host}:{}", self.port),
            None => SocketAddr::new(net.address(SERVER, self.ipv6), self.port).to_string(),
        };
        let mut command = net.host(SERVER.other()).command(tcpwin)?;
        command
            .args([
                "check",
                &target,
                "--json",
                "--name",
                self.asked.unwrap_or(pki.name()),
                "--path",
                self.path,
            ])
            .args(["--connections", &self.connections.to_string()])
            .args(["--timeout", "20s"])
            .arg("--ca-file")
            .arg(pki.authority())
            .stdin(Stdio::null());
        if self.host.is_some() {
            with_hosts(&mut command, &pki.file("hosts"))?;
        }
        for claim in &self.claims {
            command.args(["--claim", claim]);
        }
        let output = command.output().context("cannot run tcpwin check")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let mut faults = Vec::new();
        if let Some(code) = self.exit
            && output.status.code() != Some(code)
        {
            faults.push(format!(
                "ended with {} instead of {code}: {stderr}",
                output.status
            ));
        }
        if let Some(words) = self.stderr {
            if !stderr.contains(words) {
                faults.push(format!("said `{stderr}` and not `{words}`"));
            }
            return Ok(faults);
        }
        let Ok(told) = serde_json::from_slice::<Value>(&output.stdout) else {
            bail!("no report: {stderr}");
        };
        faults.extend(
            self.wants
                .iter()
                .filter_map(|(what, want)| want.fault(what, &told)),
        );
        if !faults.is_empty() {
            faults.push(told.to_string());
        }
        Ok(faults)
    }
}

/// The command has a /etc/hosts of its own.
fn with_hosts(command: &mut Command, hosts: &Path) -> Result<()> {
    let hosts = CString::new(hosts.as_os_str().as_encoded_bytes())?;
    // SAFETY: only system calls, on literals and a string that the closure owns, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            let none = std::ptr::null();
            let done = |result: libc::c_int| match result {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            };
            done(libc::unshare(libc::CLONE_NEWNS))?;
            let private = libc::MS_REC | libc::MS_PRIVATE;
            done(libc::mount(none, c"/".as_ptr(), none, private, none.cast()))?;
            done(libc::mount(
                hosts.as_ptr(),
                c"/etc/hosts".as_ptr(),
                none,
                libc::MS_BIND,
                none.cast(),
            ))
        });
    }
    Ok(())
}

impl Want {
    fn fault(&self, what: &str, told: &Value) -> Option<String> {
        let field = told.pointer(what);
        let findings = told["findings"].as_array().into_iter().flatten();
        let about = findings.filter(|finding| finding["about"] == what).count();
        let shown = || field.map_or("absent".to_owned(), Value::to_string);
        match self {
            Self::Equal(value) => {
                (field != Some(value)).then(|| format!("{what} is {} and not {value}", shown()))
            }
            Self::Within(least, most) => {
                let number = field.and_then(Value::as_f64);
                let fits = number.is_some_and(|number| (*least..=*most).contains(&number));
                (!fits).then(|| format!("{what} is {} and not in {least}–{most}", shown()))
            }
            Self::Absent => field.is_some().then(|| format!("{what} is {}", shown())),
            Self::Found => (about == 0).then(|| format!("nothing is found about {what}")),
            Self::Silent => (about > 0).then(|| format!("something is found about {what}")),
        }
    }
}
