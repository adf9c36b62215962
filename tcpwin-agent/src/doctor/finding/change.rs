//! What to type, and how to take it back.

use serde::{Deserialize, Serialize};

use super::super::place::Place;
use crate::host::{Edit, Metric, Route};

/// A setting or a route as it is and as it is to be: what `--plan` writes and `--apply` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SettingEdit {
    /// A setting below `net.`.
    Sysctl {
        /// Its name.
        name: String,
        /// Its value when it was looked at.
        old: String,
        /// The value it is to have.
        new: String,
    },
    /// A route, as `ip route change` takes it.
    Route {
        /// It is one of IPv6.
        v6: bool,
        /// The whole route when it was looked at.
        old: String,
        /// The whole route as it is to be.
        new: String,
    },
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// As it is typed in the finding's network namespace; of a program, what is to be changed in it.
    pub command: String,
    /// It is for a shell, and not for whoever looks after a program.
    pub is_command: bool,
    /// What takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The line of a file below /etc/sysctl.d that keeps it over a reboot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sysctl_d: Option<String>,
    /// The same for `--apply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<SettingEdit>,
}

impl Change {
    /// A setting's; `None` where its value now is not known: then nobody could take it back.
    pub(super) fn setting(place: &Place<'_>, name: &str, new: &str) -> Option<Self> {
        let old = place.settings().text(name)?;
        Some(Self {
            command: sysctl(name, new),
            is_command: true,
            undo: Some(sysctl(name, old)),
            sysctl_d: place.namespace.door.is_none().then(|| format!("{name} = {new}")),
            edit: Some(SettingEdit::Sysctl {
                name: name.to_owned(),
                old: old.to_owned(),
                new: new.to_owned(),
            }),
        })
    }

    /// A route's, with one metric edited and all else kept; `None` of a route that cannot be written in one line.
    pub(super) fn route(route: &Route, metric: Metric, edit: Edit) -> Option<Self> {
        let changed = route.with(metric, edit);
        Some(Self {
            command: changed.command()?,
            is_command: true,
            undo: route.command(),
            sysctl_d: None,
            edit: Some(SettingEdit::Route {
                v6: route.destination.is_ipv6(),
                old: route.text()?,
                new: changed.text()?,
            }),
        })
    }

    /// Any other command, with what takes it back.
    pub(super) fn command(command: impl Into<String>, undo: impl Into<Option<String>>) -> Self {
        Self {
            command: command.into(),
            is_command: true,
            undo: undo.into(),
            sysctl_d: None,
            edit: None,
        }
    }

    /// Something to change in a program.
    pub(super) fn program(what: impl Into<String>) -> Self {
        Self {
            command: what.into(),
            is_command: false,
            undo: None,
            sysctl_d: None,
            edit: None,
        }
    }
}

fn sysctl(name: &str, value: &str) -> String {
    if value.contains([' ', '\t']) {
        format!("sysctl -w {name}=\"{value}\"")
    } else {
        format!("sysctl -w {name}={value}")
    }
}
