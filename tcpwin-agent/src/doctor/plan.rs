//! A plan: the changes that `--plan` writes down and `--apply` tries out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Report, SettingEdit, Severity};

/// The format's version.
const VERSION: u32 = 1;

/// Changes to try in one network namespace, and what is expected of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The format's.
    pub version: u32,
    /// The network namespace's number.
    pub netns: u32,
    /// The path that leads to it; absent of the one that the plan was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The changes, in order.
    #[serde(rename = "change")]
    pub changes: Vec<Planned>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// The finding that it comes of.
    pub finding: String,
    /// What the connections below are expected to make together, bits per second; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_bps: Option<f64>,
    /// Ids of the connections that it is for, whose rate is measured; none: all of the namespace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<String>,
    /// What is changed.
    pub edit: SettingEdit,
}

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error("{0}")]
    Malformed(#[from] toml::de::Error),
    /// Another format.
    #[error("the plan is of version {0}, this program knows {VERSION}")]
    Version(u32),
    /// Nothing to do.
    #[error("the plan has no [[change]]: doctor knew of nothing that it could try")]
    Empty,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let plan: Self = toml::from_str(text)?;
        if plan.version != VERSION {
            return Err(PlanError::Version(plan.version));
        }
        if plan.changes.is_empty() {
            return Err(PlanError::Empty);
        }
        Ok(plan)
    }

    /// What of a report is worth trying: the first change of each finding that is a setting or a route, in the namespace of the first such
    /// finding. What is merely to know would change nothing that can be measured.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let tried = report.findings.iter().filter_map(|finding| {
            if finding.severity == Severity::Note {
                return None;
            }
            let edit = finding.changes.iter().find_map(|change| change.edit.clone())?;
            let predicted_bps = finding
                .rate_bps
                .zip(finding.cost_bps)
                .map(|(rate, cost)| rate + cost);
            let planned = Planned {
                finding: finding.id.clone(),
                predicted_bps,
                connections: finding.ids.clone(),
                edit,
            };
            Some((finding.netns, finding.path.clone(), planned))
        });
        let mut plan = Self {
            version: VERSION,
            netns: 0,
            path: None,
            changes: Vec::new(),
        };
        for (netns, path, planned) in tried {
            if plan.changes.is_empty() {
                (plan.netns, plan.path) = (netns, path);
            }
            let is_new = plan
                .changes
                .iter()
                .all(|other| !other.edit.is_of_the_same(&planned.edit));
            if plan.netns == netns && is_new {
                plan.changes.push(planned);
            }
        }
        plan
    }

    /// As a file, with a word on what it is for.
    ///
    /// # Errors
    /// When it cannot be written as TOML.
    pub fn text(&self) -> Result<String, toml::ser::Error> {
        let table = toml::to_string(self)?;
        Ok(format!(
            "# What `tcpwin doctor --apply` would try, and take back again. Take out the changes that are not to be tried.\n{table}"
        ))
    }
}

impl SettingEdit {
    /// The same with old and new exchanged.
    #[must_use]
    pub fn reversed(&self) -> Self {
        match self.clone() {
            Self::Sysctl { name, old, new } => Self::Sysctl {
                name,
                old: new,
                new: old,
            },
            Self::Route { v6, old, new } => Self::Route {
                v6,
                old: new,
                new: old,
            },
        }
    }

    /// Both change one thing: the second would find the first one's value where it looks for its own.
    fn is_of_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sysctl { name, .. }, Self::Sysctl { name: other, .. }) => name == other,
            (
                Self::Route { v6, old, .. },
                Self::Route {
                    v6: other_v6,
                    old: other,
                    ..
                },
            ) => v6 == other_v6 && old == other,
            _ => false,
        }
    }
}

impl fmt::Display for SettingEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sysctl { name, old, new } => write!(f, "{name}: {old} → {new}"),
            Self::Route { old, new, .. } => write!(f, "route {old} → {new}"),
        }
    }
}
