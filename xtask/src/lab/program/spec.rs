//! What real programs a scenario runs, and how they are set.

use std::net::IpAddr;
use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::lab::net::Side;
use crate::paths;

/// `[program]` of a scenario, in place of `[flow]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// Who accepts.
    pub server: ServerKind,
    /// Directives of its own configuration: in nginx's `http` block, at the end of `sshd_config`.
    #[serde(default)]
    pub config: String,
    /// The command that connects. `$address` stands for the server, `$dir` for a folder of the run's own.
    pub client: Vec<String>,
    /// Where the client's bytes are counted, and thus which way they go.
    pub counted: Counted,
    /// Clients at the same time, each with one connection.
    #[serde(default = "default_count")]
    pub count: usize,
}

fn default_count() -> usize {
    1
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// HTTP/1.1 at port 80, HTTP/2 over TLS at 443; `/zeros` has no end worth waiting for, `/sink` takes uploads and
    /// reads them as fast as they come.
    Nginx,
    /// OpenSSH at port 22; `-F $dir/ssh_config` makes `server` known to a client.
    Sshd,
}

impl ServerKind {
    /// What it is started as.
    pub fn program(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Sshd => "sshd",
        }
    }
}

/// Where a client's bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// It downloads: what it writes to its standard output.
    Output,
    /// It uploads: what it takes from its standard input, which never ends.
    Input,
    /// It downloads: the size of `$dir/got`.
    File,
}

impl ProgramSpec {
    /// On which host the server runs: the data's sender is always the first.
    pub fn server_side(&self) -> Side {
        match self.counted {
            Counted::Output | Counted::File => Side::Sender,
            Counted::Input => Side::Receiver,
        }
    }

    /// Refuses what has no meaning.
    pub fn check(&self) -> Result<()> {
        if self.client.is_empty() {
            bail!("program.client names no program");
        }
        if !(1..=100).contains(&self.count) || (self.counted == Counted::File && self.count > 1) {
            bail!("program.count = {} cannot be counted", self.count);
        }
        Ok(())
    }

    /// The programs that are not installed here.
    pub fn missing(&self) -> Vec<&str> {
        let client = self.client.first().map(String::as_str);
        client
            .into_iter()
            .chain([self.server.program()])
            .filter(|name| paths::program(name).is_none())
            .collect()
    }

    /// The client's command with the run's own values.
    pub fn client_words(&self, server: IpAddr, dir: &Path) -> Vec<String> {
        self.client
            .iter()
            .map(|word| {
                word.replace("$address", &server.to_string())
                    .replace("$dir", &dir.to_string_lossy())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::path::Path;

    use super::ProgramSpec;
    use crate::lab::net::Side;
    use crate::lab::scenario::Scenario;

    fn spec(counted: &str, count: usize) -> ProgramSpec {
        let text = format!(
            "server = \"nginx\"\nclient = [\"curl\", \"$address\", \"-o\", \"$dir/got\"]\ncounted = {counted:?}\ncount = {count}"
        );
        toml::from_str(&text).expect("a spec")
    }

    #[test]
    fn the_data_always_comes_from_the_first_host() {
        assert_eq!(spec("output", 1).server_side(), Side::Sender);
        assert_eq!(spec("input", 1).server_side(), Side::Receiver);
    }

    #[test]
    fn one_file_cannot_count_two_clients() {
        assert!(spec("output", 2).check().is_ok());
        assert!(spec("file", 1).check().is_ok());
        assert!(spec("file", 2).check().is_err());
        assert!(spec("input", 0).check().is_err());
    }

    #[test]
    fn the_command_has_the_runs_own_address_and_folder() {
        let words = spec("file", 1).client_words(IpAddr::from([10, 77, 0, 1]), Path::new("/tmp/run"));
        assert_eq!(words, ["curl", "10.77.0.1", "-o", "/tmp/run/got"]);
    }

    #[test]
    fn a_scenario_has_flows_or_programs_but_not_both() {
        let text = "[path]\nrtt_ms = 30\n[program]\nserver = \"sshd\"\nclient = [\"ssh\"]\ncounted = \"input\"\n\
                    [expect]\nsteady_after_s = 2\nseconds = 9\n";
        assert_eq!(Scenario::parse(text).expect("valid").count(), 1);
        let both = format!("{text}[flow.pattern]\nkind = \"bulk\"\n");
        assert!(Scenario::parse(&both).is_err());
        let neither = text.replace("[program]", "[unknown]");
        assert!(Scenario::parse(&neither).is_err());
    }
}
