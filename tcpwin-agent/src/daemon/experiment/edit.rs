//! One change of a setting or a route, in the network namespace of the calling thread.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::doctor::SettingEdit;
use crate::host::{Route, settings};

/// Where the setting or route stands, seen from an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As before the edit.
    Old,
    /// As after it.
    New,
    /// Neither; with what it is.
    Other(String),
}

const SYS: &str = "/proc/sys";

pub(super) fn state(edit: &SettingEdit) -> anyhow::Result<State> {
    match edit {
        SettingEdit::Sysctl { name, old, new } => {
            let now = settings::read(Path::new(SYS), name).unwrap_or_else(|| "not there".to_owned());
            Ok(match () {
                () if now == *old => State::Old,
                () if now == *new => State::New,
                () => State::Other(format!("{name} is {now}")),
            })
        }
        SettingEdit::Route { v6, old, new } => {
            let routes = Route::read().context("cannot read the routes")?;
            let texts: Vec<String> = routes
                .iter()
                .filter(|route| route.destination.is_ipv6() == *v6)
                .filter_map(Route::text)
                .collect();
            let count = |wanted: &String| texts.iter().filter(|text| *text == wanted).count();
            Ok(match (count(old), count(new)) {
                (1, 0) => State::Old,
                (0, 1) => State::New,
                _ => State::Other(format!("there is no route `{old}`, or more than one")),
            })
        }
    }
}

/// Refuses an edit whose setting or route is not as it says.
pub(super) fn check(edit: &SettingEdit) -> anyhow::Result<()> {
    if let SettingEdit::Sysctl { name, .. } = edit
        && (!name.starts_with("net.") || name.contains(['/', '*']))
    {
        bail!("{name} is no setting of a network namespace: only those below net. are tried");
    }
    match state(edit)? {
        State::Old => Ok(()),
        State::New => bail!("{edit}: it has the new value already, nothing was changed"),
        State::Other(now) => bail!("the plan says {edit}, but {now}: nothing was changed, make a new plan"),
    }
}

/// Makes the change, and looks if it was made.
pub(super) fn make(edit: &SettingEdit) -> anyhow::Result<()> {
    match edit {
        SettingEdit::Sysctl { name, new, .. } => {
            let file = Path::new(SYS).join(name.replace('.', "/"));
            std::fs::write(&file, new).with_context(|| format!("cannot set {name} to {new}"))?;
        }
        SettingEdit::Route { v6, new, .. } => {
            let family = if *v6 { "-6" } else { "-4" };
            let output = Command::new("ip")
                .args([family, "route", "change"])
                .args(new.split(' '))
                .stdin(Stdio::null())
                .output()
                .context("cannot run ip (iproute2)")?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                bail!("`ip route change {new}`: {}", said.trim());
            }
        }
    }
    match state(edit)? {
        State::New => Ok(()),
        State::Old => bail!("{edit}: the kernel took it and left the old value"),
        State::Other(now) => bail!("{edit}: the kernel made another value of it: {now}"),
    }
}
