//! How connections are watched, and by whom.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use crate::attach::{Credentials, Login};
use crate::config::{Capacity, Overrides, PathBandwidth, SourceChoice, Tick};

/// How the connections are watched.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Watching")]
pub struct WatchArgs {
    /// Where the observations come from [default: auto]
    #[arg(long, value_enum)]
    pub(super) source: Option<SourceChoice>,
    /// Length of the interval over which connections are judged, 100ms to 60s [default: 1s]
    #[arg(long, value_name = "DURATION")]
    pub(super) interval: Option<Tick>,
    /// Most connections watched at once; more are counted as lost [default: 131072]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<Capacity>,
    /// What paths can carry, such as 1Gbit, or those to a prefix: 203.0.113.0/24=1Gbit; may be given several times
    #[arg(long, value_name = "[PREFIX=]BANDWIDTH")]
    pub(super) path_bandwidth: Vec<PathBandwidth>,
    /// TOML file with the same settings; flags win over it
    #[arg(long = "config.file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
}

/// Where a running agent is.
#[derive(Args, Clone, Debug, Default)]
pub struct ConnectArgs {
    /// Attach to the agent at this address or unix:/PATH, or fail; without it /run/tcpwin/tcpwin.sock and the default address
    /// are tried
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["source", "interval", "max_connections", "path_bandwidth", "config_file", "no_connect"]
    )]
    pub connect: Option<String>,
    /// Do not look for a running agent
    #[arg(long)]
    no_connect: bool,
    /// Certificates that may vouch for an agent at https://, instead of those that this machine trusts
    #[arg(long = "web.ca-file", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "connect")]
    ca_file: Option<PathBuf>,
    /// Certificate to show to the agent, and those between it and its authority
    #[arg(long = "web.cert-file", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "connect")]
    cert_file: Option<PathBuf>,
    /// Its key, if it is not in the same file
    #[arg(long = "web.key-file", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "cert_file")]
    key_file: Option<PathBuf>,
    /// File with user:password for the agent; without it they are taken from TCPWIN_AUTH or the URL
    #[arg(long = "web.auth-file", value_name = "FILE", value_hint = ValueHint::FilePath, requires = "connect")]
    auth_file: Option<PathBuf>,
}

impl WatchArgs {
    /// The interval asked for, or its default.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval.unwrap_or_default().duration()
    }

    /// As settings.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            source: self.source,
            interval: self.interval,
            max_connections: self.max_connections,
            path_bandwidth: self.path_bandwidth.clone(),
            ..Overrides::default()
        }
    }

    /// If the user said how to watch: then a running agent, which watches in its own way, is not looked for.
    fn given(&self) -> bool {
        self.source.is_some()
            || self.interval.is_some()
            || self.max_connections.is_some()
            || !self.path_bandwidth.is_empty()
            || self.config_file.is_some()
    }
}

impl ConnectArgs {
    /// What is shown to the agent.
    ///
    /// # Errors
    /// When there is no user and password where they should be.
    pub fn login(&self) -> Result<Login, String> {
        let credentials = match &self.auth_file {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| format!("cannot read {} of --web.auth-file: {error}", path.display()))?;
                Some(
                    Credentials::from_line(text.lines().next().unwrap_or_default()).ok_or_else(|| {
                        format!(
                            "the first line of {}, given to --web.auth-file, is not user:password",
                            path.display()
                        )
                    })?,
                )
            }
            None => match std::env::var("TCPWIN_AUTH") {
                Ok(text) => Some(Credentials::from_line(&text).ok_or("TCPWIN_AUTH is not user:password")?),
                Err(_) => None,
            },
        };
        Ok(Login {
            credentials,
            ca_file: self.ca_file.clone(),
            cert_file: self.cert_file.clone(),
            key_file: self.key_file.clone(),
        })
    }

    /// If a running agent is to be looked for at the default address.
    #[must_use]
    pub fn may_attach(&self, watch: &WatchArgs) -> bool {
        !self.no_connect && !watch.given()
    }
}
