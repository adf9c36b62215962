//! The views: name, number and what `:` calls each, in one place.

/// What fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The table of connections; at the root with the host's figures over it and the findings under it.
    Overview,
    /// Connections gathered by what they have in common, with their sums.
    Groups(By),
    Listeners,
    Findings,
    Host,
    /// One finding, and its connections.
    Finding,
    /// One connection.
    Detail,
    Help,
}

/// What connections are gathered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum By {
    Process,
    Container,
    Peer,
}

impl By {
    /// All.
    pub(crate) const ALL: [Self; 3] = [Self::Process, Self::Container, Self::Peer];
}

/// A view that is reached by a key, a tab or a name.
pub(crate) struct Root {
    pub(crate) view: View,
    /// The key, which stands before the name on the tab.
    pub(crate) key: char,
    pub(crate) name: &'static str,
    /// Where the name has no room.
    pub(crate) short: &'static str,
    /// What else `:` takes for it.
    pub(crate) aliases: &'static [&'static str],
}

const fn root(
    view: View,
    key: char,
    name: &'static str,
    short: &'static str,
    aliases: &'static [&'static str],
) -> Root {
    Root {
        view,
        key,
        name,
        short,
        aliases,
    }
}

/// All of them, as the tabs stand.
pub(crate) const ROOTS: [Root; 7] = [
    root(
        View::Overview,
        '1',
        "connections",
        "conns",
        &["overview", "sockets"],
    ),
    root(
        View::Groups(By::Process),
        '2',
        "processes",
        "procs",
        &["programs"],
    ),
    root(
        View::Groups(By::Container),
        '3',
        "containers",
        "ctrs",
        &["cgroups", "pods", "services"],
    ),
    root(
        View::Groups(By::Peer),
        '4',
        "peers",
        "peers",
        &["prefixes", "networks"],
    ),
    root(View::Listeners, '5', "listeners", "listen", &["ports"]),
    root(View::Findings, '6', "findings", "finds", &["problems"]),
    root(View::Host, '7', "host", "host", &["facts", "health", "hooks"]),
];

impl View {
    /// What it is called on the trail.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Detail => "connection",
            Self::Help => "help",
            root => ROOTS
                .iter()
                .find(|entry| entry.view == root)
                .map_or("", |entry| entry.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_views_share_a_key_or_a_name() {
        let keys: HashSet<char> = ROOTS.iter().map(|root| root.key).collect();
        assert_eq!(keys.len(), ROOTS.len());
        let names: Vec<&str> = ROOTS
            .iter()
            .flat_map(|root| root.aliases.iter().chain([&root.name]))
            .copied()
            .collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}
