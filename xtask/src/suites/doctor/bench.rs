//! Where doctor is asked, and how what it says is checked.

use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::lab::agent::Agent;
use crate::lab::netns::NetNs;
use crate::suites::report::Recorder;

/// Nothing grows where nothing flows: a look is enough.
pub const LOOK: f64 = 0.1;
/// Exit codes of `tcpwin doctor`: nothing found, something found.
const SILENT: i32 = 0;
const FOUND: i32 = 7;

/// A running agent that tells of connections, and who keeps the score.
pub struct Bench<'a> {
    /// Doctor attaches to it: the probes are loaded once.
    pub agent: &'a Agent,
    /// The score.
    pub recorder: &'a mut Recorder,
    /// What times are multiplied by.
    pub patience: f64,
}

/// What a kind of finding is to be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its id.
    pub id: &'static str,
    /// `hurts`, `risk` or `note`.
    pub severity: &'static str,
}

/// What doctor said.
pub struct Said(Vec<Value>);

impl Said {
    /// Ids in their order.
    pub fn ids(&self) -> Vec<&str> {
        self.0
            .iter()
            .filter_map(|finding| finding["id"].as_str())
            .collect()
    }

    /// The first finding of this kind.
    pub fn find(&self, id: &str) -> Option<&Value> {
        self.0.iter().find(|finding| finding["id"] == id)
    }

    /// The commands of all findings, each once.
    pub fn commands(&self) -> Vec<String> {
        self.commands_where(|_| true)
    }

    /// Those of the findings of one kind.
    pub fn commands_of(&self, id: &str) -> Vec<String> {
        self.commands_where(|finding| finding["id"] == id)
    }

    fn commands_where(&self, is_wanted: impl Fn(&Value) -> bool) -> Vec<String> {
        let mut commands = Vec::new();
        let findings = self.0.iter().filter(|finding| is_wanted(finding));
        for change in findings
            .filter_map(|finding| finding["changes"].as_array())
            .flatten()
        {
            let command = change["command"].as_str().unwrap_or_default().to_owned();
            if change["is_command"] == true && !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// What is wrong with it, where this was planted; the worst finding must be the planted one.
    pub fn faults(&self, wanted: Wanted) -> Vec<String> {
        let Some(finding) = self.find(wanted.id) else {
            return vec![format!("not found, only {:?}", self.ids())];
        };
        let mut faults = Vec::new();
        if finding["severity"] != wanted.severity {
            faults.push(format!("it is said to be {}", finding["severity"]));
        }
        let worst = &self.0[0]["severity"];
        if finding["severity"] != *worst {
            faults.push(format!("ranked below {:?}", self.ids()));
        }
        faults
    }
}

impl Bench<'_> {
    /// Asks doctor of one namespace.
    pub fn ask(&self, netns: &NetNs, seconds: f64) -> Result<Said> {
        let millis = (seconds * self.patience * 1e3) as u64;
        let output = std::process::Command::new(self.agent.binary())
            .args(["doctor", "--json", "--netns", netns.name(), "--duration"])
            .arg(format!("{millis}ms"))
            .args(["--connect", self.agent.url()])
            .stdin(Stdio::null())
            .output()
            .context("cannot start tcpwin doctor")?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("doctor ended with {}: {errors}", output.status))?;
        let Value::Array(findings) = report["findings"].clone() else {
            bail!("the report has no findings");
        };
        let is_bad = findings.iter().any(|finding| finding["severity"] != "note");
        let code = output.status.code();
        ensure!(
            code == Some(if is_bad { FOUND } else { SILENT }),
            "doctor ended with {} for {} findings: {errors}",
            output.status,
            findings.len()
        );
        Ok(Said(findings))
    }

    /// Doctor has nothing to say.
    pub fn check_silent(&mut self, name: &str, netns: &NetNs) -> Result<()> {
        let said = self.ask(netns, LOOK)?;
        let faults: Vec<String> = said.ids().into_iter().map(str::to_owned).collect();
        self.tell(name, &faults, "no finding")
    }

    /// The fault that was planted is found, its commands are run, and nothing is found any more.
    pub fn check_planted(&mut self, wanted: Wanted, netns: &NetNs, seconds: f64) -> Result<()> {
        let said = self.ask(netns, seconds)?;
        let mut faults = said.faults(wanted);
        let commands = said.commands();
        for command in &commands {
            faults.extend(type_in(netns, command)?);
        }
        let after = self.ask(netns, seconds)?;
        faults.extend(after.ids().iter().map(|id| format!("after the change: {id}")));
        self.tell(wanted.id, &faults, &commands.join("; "))
    }

    /// The same of several faults at once, in any order.
    pub fn check_together(&mut self, name: &str, wanted: &[Wanted], netns: &NetNs) -> Result<()> {
        let said = self.ask(netns, LOOK)?;
        let mut faults = Vec::new();
        for Wanted { id, severity } in wanted {
            match said.find(id) {
                Some(finding) if finding["severity"] == *severity => {}
                Some(finding) => faults.push(format!("{id} is said to be {}", finding["severity"])),
                None => faults.push(format!("{id} is not found")),
            }
        }
        let commands = said.commands();
        for command in &commands {
            faults.extend(type_in(netns, command)?);
        }
        let after = self.ask(netns, LOOK)?;
        faults.extend(after.ids().iter().map(|id| format!("after the changes: {id}")));
        self.tell(
            name,
            &faults,
            &format!("{} faults found and put right", wanted.len()),
        )
    }

    /// Faults, or what shows that there are none.
    pub fn tell(&mut self, name: &str, faults: &[String], numbers: &str) -> Result<()> {
        if faults.is_empty() {
            self.recorder.pass(name, numbers)
        } else {
            self.recorder.fail(name, faults.join("; "))
        }
    }
}

/// Runs a command as doctor printed it, in the namespace; what went wrong with it.
pub fn type_in(netns: &NetNs, command: &str) -> Result<Option<String>> {
    let output = netns
        .command("/bin/sh")?
        .args(["-c", command])
        .stdin(Stdio::null())
        .output()
        .context("cannot start a shell")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((!output.status.success()).then(|| format!("`{command}`: {}", said.trim())))
}

/// Settings as a newest kernel has them, whatever this machine's own are: a new namespace takes some of them over.
pub const GOOD: &[(&str, &str)] = &[
    ("net.core.somaxconn", "4096"),
    ("net.ipv4.ip_local_port_range", "32768 60999"),
    ("net.ipv4.tcp_abort_on_overflow", "0"),
    ("net.ipv4.tcp_adv_win_scale", "1"),
    ("net.ipv4.tcp_congestion_control", "reno"),
    ("net.ipv4.tcp_early_retrans", "3"),
    ("net.ipv4.tcp_ecn", "2"),
    ("net.ipv4.tcp_ecn_fallback", "1"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_fastopen", "1"),
    ("net.ipv4.tcp_fastopen_blackhole_timeout_sec", "0"),
    ("net.ipv4.tcp_fin_timeout", "60"),
    ("net.ipv4.tcp_limit_output_bytes", "1048576"),
    ("net.ipv4.tcp_max_syn_backlog", "4096"),
    ("net.ipv4.tcp_moderate_rcvbuf", "1"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("net.ipv4.tcp_no_metrics_save", "0"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_retries2", "15"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_syncookies", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_tw_reuse", "2"),
    ("net.ipv4.tcp_window_scaling", "1"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// A well-set namespace; `number` is its own within the suite.
pub fn well_set(number: u32) -> Result<NetNs> {
    let netns = NetNs::create(&format!("{number}a"))?;
    for (name, value) in GOOD {
        // Older kernels do not have all of them for each namespace.
        if has(&netns, name)? {
            netns.sysctl(name, value)?;
        }
    }
    netns.ip(&["link set lo up".into()])?;
    Ok(netns)
}

/// If the namespace has the setting.
pub fn has(netns: &NetNs, name: &str) -> Result<bool> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    netns.enter(|| Ok(std::fs::metadata(&path).is_ok_and(|file| !file.permissions().readonly())))
}

/// A setting's value, words one space apart.
pub fn value(netns: &NetNs, name: &str) -> Result<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    let text = netns.enter(|| std::fs::read_to_string(&path).with_context(|| path.clone()))?;
    Ok(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// The kernel's release, `6.12.3-amd64` as (6, 12).
pub fn release() -> (u32, u32) {
    let system = rustix::system::uname();
    let text = system.release().to_string_lossy();
    let mut numbers = text
        .split(|letter: char| !letter.is_ascii_digit())
        .map_while(|word| word.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
