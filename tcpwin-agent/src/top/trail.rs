//! The way that led to the view on the screen, and what it narrowed the connections to.

use super::group::{Key, Level};
use super::state::Identity;
use super::theme::{Sign, Theme};
use super::view::View;
use crate::classify::Limit;
use crate::classify::group::FindingKind;
use crate::observation::Prefix;
use crate::query::Filter;
use crate::snapshot::{Connection, Finding, Listener};

/// The connections that a view is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Scope {
    #[default]
    All,
    /// Those of a group: each key holds.
    Group(Vec<(Level, Key<'static>)>),
    Finding(FindingScope),
    /// Those that a listener accepted.
    Listener {
        netns: u32,
        local: String,
    },
}

/// What a finding is known by from tick to tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingKey {
    kind: FindingKind,
    limit: Limit,
    netns: u32,
    process: Option<String>,
    peer: Option<String>,
}

impl FindingKey {
    pub(crate) fn of(finding: &Finding) -> Self {
        Self {
            kind: finding.kind,
            limit: finding.limit,
            netns: finding.netns,
            process: finding.process.clone(),
            peer: finding.peer.clone(),
        }
    }

    pub(crate) fn is(&self, finding: &Finding) -> bool {
        self.kind == finding.kind
            && self.limit == finding.limit
            && self.netns == finding.netns
            && self.process == finding.process
            && self.peer == finding.peer
    }
}

/// The connections of a finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FindingScope {
    limit: Limit,
    netns: u32,
    process: Option<String>,
    peer: Option<Prefix>,
    /// All of them, where the finding names all.
    ids: Option<Vec<String>>,
}

impl FindingScope {
    /// As the finding tells it now.
    pub(crate) fn of(finding: &Finding) -> Self {
        Self {
            limit: finding.limit,
            netns: finding.netns,
            process: finding.process.clone(),
            peer: finding.peer.as_ref().and_then(|peer| peer.parse().ok()),
            ids: (finding.ids.len() as u64 == finding.connections).then(|| finding.ids.clone()),
        }
    }

    fn holds(&self, connection: &Connection) -> bool {
        if self.netns != connection.netns {
            return false;
        }
        if let Some(ids) = &self.ids {
            return ids.contains(&connection.id);
        }
        let process = connection.process.as_ref().map(|process| &process.name);
        // The finding is of the last interval, and so must be the limit asked for.
        connection.limit == self.limit
            && self.process.as_ref() == process
            && self.peer.is_none_or(|prefix| {
                matches!(Key::of(connection, Level::Address), Key::Address(Some(address)) if prefix.contains(address))
            })
    }
}

impl Scope {
    /// The connections that `listener` accepted.
    pub(crate) fn of_listener(listener: &Listener) -> Self {
        Self::Listener {
            netns: listener.netns,
            local: listener.local.clone(),
        }
    }

    /// If `connection` is one of them.
    pub(crate) fn holds(&self, connection: &Connection) -> bool {
        match self {
            Self::All => true,
            Self::Group(keys) => keys
                .iter()
                .all(|(level, key)| *key == Key::of(connection, *level)),
            Self::Finding(scope) => scope.holds(connection),
            Self::Listener { netns, local } => {
                connection.netns == *netns && is_accepted_by(&connection.local, local)
            }
        }
    }

    /// What it is called on the trail.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::All => String::new(),
            Self::Group(keys) => {
                let names: Vec<String> = keys.iter().map(|(_, key)| key.text()).collect();
                names.join(", ")
            }
            Self::Finding(scope) => {
                let whose = scope.process.as_deref().unwrap_or("several programs");
                let place = scope.peer.map_or(String::new(), |peer| format!(" to {peer}"));
                format!("{whose}{place}, {}", scope.limit.name())
            }
            Self::Listener { local, .. } => local.clone(),
        }
    }
}

/// If a connection at `local` belongs to a listener at `listening`: same port, and same address or any.
fn is_accepted_by(local: &str, listening: &str) -> bool {
    let (Some((address, port)), Some((bound, wanted))) = (local.rsplit_once(':'), listening.rsplit_once(':'))
    else {
        return false;
    };
    port == wanted
        && (address == bound
            || match bound {
                "0.0.0.0" => !address.starts_with('['),
                "[::]" | "*" => true,
                _ => false,
            })
}

/// A view that was left, and how it stood.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) view: View,
    pub(crate) scope: Scope,
    pub(crate) filter: Filter,
    pub(crate) sick_only: bool,
    pub(crate) selected: Option<Identity>,
}

/// A view's name on the trail.
pub(crate) fn step(view: View, scope: &Scope, opened: Option<&Connection>) -> String {
    match (view, opened) {
        (View::Detail, Some(connection)) => match &connection.process {
            Some(process) => format!("{} {}", process.name, connection.peer),
            None => connection.peer.clone(),
        },
        (View::Overview | View::Finding, _) if *scope != Scope::All => scope.text(),
        _ => view.name().to_owned(),
    }
}

/// Steps with the sign between them.
pub(crate) fn joined(steps: &[String], theme: Theme) -> String {
    steps.join(&format!(" {} ", theme.sign(Sign::Into)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_has_its_port_and_its_address_or_any() {
        for (local, listening, is) in [
            ("192.0.2.1:443", "0.0.0.0:443", true),
            ("192.0.2.1:443", "[::]:443", true),
            ("[2001:db8::1]:443", "[::]:443", true),
            ("[2001:db8::1]:443", "0.0.0.0:443", false),
            ("192.0.2.1:443", "192.0.2.1:443", true),
            ("192.0.2.2:443", "192.0.2.1:443", false),
            ("192.0.2.1:8443", "0.0.0.0:443", false),
        ] {
            assert_eq!(is_accepted_by(local, listening), is, "{local} {listening}");
        }
    }
}
