//! `tcpwin check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use crate::check::{Claim, Family, Plan, RootsError, Target, roots};
use crate::units::Nanos;

use super::parse_duration;

pub(super) const HELP: &str = "\
What is measured, and the JSON: docs/check.md. It opens some 20 connections to one address, one after another.

  tcpwin check example.org
  tcpwin check https://example.org/large.bin --claim 'rate=100mbit size=8MiB'
  tcpwin check 192.0.2.7:8443 --name example.org --connections 30

Exit codes:
  0  measured, and no problem found (advice and notes are none)
  1  nothing could be measured: no such name, refused, no answer
  2  wrong arguments
  5  measured, but a part could not be done; which is told
  7  measured, and problems were found: among them TLS that fails, a certificate that clients refuse, an impossible claim";

/// The most connections that a series may have: a check is no load test.
const MOST_CONNECTIONS: u16 = 100;

/// Arguments of `tcpwin check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Host, host:port, or an address with http:// or https:// and a path [port: 443]
    #[arg(value_name = "HOST", value_hint = ValueHint::Hostname)]
    pub target: Target,
    /// One JSON object, as in docs/check.md
    #[arg(long)]
    pub json: bool,
    /// Whom to ask for in TLS and HTTP, where HOST is an address or one machine of several
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Path to ask for, in place of HOST's
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    pub path: Option<String>,
    /// Connections that tell how sessions are resumed, and whether machines behind the address share their ticket keys
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_CONNECTIONS)))]
    pub connections: u16,
    /// How long a connection may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    pub timeout: Duration,
    /// How long all of it may take
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = parse_duration)]
    pub total: Duration,
    /// No more of the answer is read
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    pub max_bytes: u64,
    /// Figures to hold against the path: first-byte=120ms, or rate=100mbit size=8MiB; rtt= and initcwnd= may be added
    #[arg(long = "claim", value_name = "FIGURES")]
    pub claims: Vec<Claim>,
    /// Trust the authorities in this file instead of the system's; PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ca_file: Option<PathBuf>,
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

impl CheckArgs {
    /// What is to be done.
    ///
    /// # Errors
    /// When the file of authorities has none.
    pub fn plan(&self) -> Result<Plan, RootsError> {
        let mut target = self.target.clone();
        if let Some(path) = &self.path {
            target.path.clone_from(path);
        }
        let nanos = |time: Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Ok(Plan {
            target,
            name: self.name.clone(),
            family: match (self.ipv4, self.ipv6) {
                (true, _) => Some(Family::V4),
                (_, true) => Some(Family::V6),
                _ => None,
            },
            connections: self.connections.into(),
            timeout: nanos(self.timeout),
            total: nanos(self.total),
            roots: roots(self.ca_file.as_deref())?,
            most_bytes: self.max_bytes,
            claims: self.claims.clone(),
        })
    }
}

fn parse_path(text: &str) -> Result<String, String> {
    match text.starts_with('/') && text.chars().all(|letter| letter > ' ') {
        true => Ok(text.to_owned()),
        false => Err("a path starts with / and has no blanks".to_owned()),
    }
}
