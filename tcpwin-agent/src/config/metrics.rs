//! What is told by metrics, and by what it is told apart.

use std::str::FromStr;

use serde::Deserialize;

use super::setting::{Invalid, Setting};
use crate::observation::Prefix;

/// By what connections are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// Name of the process
    Process,
    /// cgroup of the process: the service, container or pod
    Cgroup,
    /// Port of the listener that accepted the connection; `none` where this host opened it
    Listener,
}

/// Peers that are told apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerPrefix(pub Prefix);

impl Setting for PeerPrefix {
    const ALLOWED: &'static str = "a prefix of addresses such as \"203.0.113.0/24\" or \"2001:db8::/32\"";
}

impl FromStr for PeerPrefix {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.parse().map(Self).map_err(|_| Self::refuse(text))
    }
}

/// Most groups told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxGroups(u16);

impl MaxGroups {
    /// As a count.
    #[must_use]
    pub fn count(self) -> usize {
        self.0.into()
    }
}

impl Default for MaxGroups {
    fn default() -> Self {
        Self(50)
    }
}

impl Setting for MaxGroups {
    const ALLOWED: &'static str = "a number of groups from 1 to 1000";
}

impl FromStr for MaxGroups {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let given = text.parse().ok().filter(|count| (1..=1000).contains(count));
        given.map(Self).ok_or_else(|| Self::refuse(text))
    }
}

/// What the file's `[metrics]` or the flags say of it.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[command(next_help_heading = "Metrics")]
pub struct MetricsSaid {
    /// Also tell time and bytes apart by this; may be given several times
    #[arg(long = "metrics.group-by", value_enum, value_name = "WHAT")]
    group_by: Vec<GroupBy>,
    /// Also tell peers in this prefix apart from the others; may be given several times
    #[arg(long = "metrics.peer-prefix", value_name = "PREFIX")]
    peer_prefix: Vec<PeerPrefix>,
    /// Most groups told apart; the rest is one more, `other` [default: 50]
    #[arg(long = "metrics.max-groups", value_name = "COUNT")]
    max_groups: Option<MaxGroups>,
    /// Also tell histograms with classic buckets, for servers that do not take native ones
    #[arg(
        long = "metrics.classic-histograms",
        num_args = 0,
        default_missing_value = "true"
    )]
    classic_histograms: Option<bool>,
}

/// What is told, and by what it is told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// By what.
    pub group_by: Vec<GroupBy>,
    /// Peers told apart.
    pub peer_prefix: Vec<PeerPrefix>,
    /// Most groups.
    pub max_groups: MaxGroups,
    /// Histograms have classic buckets too.
    pub classic_histograms: bool,
}

impl Metrics {
    /// Flags win over the file, the file over the defaults.
    pub(super) fn merge(file: MetricsSaid, flags: MetricsSaid) -> Self {
        Self {
            group_by: given(flags.group_by).unwrap_or(file.group_by),
            peer_prefix: given(flags.peer_prefix).unwrap_or(file.peer_prefix),
            max_groups: flags.max_groups.or(file.max_groups).unwrap_or_default(),
            classic_histograms: flags
                .classic_histograms
                .or(file.classic_histograms)
                .unwrap_or_default(),
        }
    }
}

fn given<T>(values: Vec<T>) -> Option<Vec<T>> {
    Some(values).filter(|values| !values.is_empty())
}
