//! Listeners as the snapshot has them.

use crate::snapshot::Listener;
use crate::source::sock_diag::Listening;

use super::holders::Holders;

pub(super) fn shown(listeners: &[Listening], holders: &Holders) -> Vec<Listener> {
    let show = |listener: &Listening| {
        let owner = holders.of(listener.key);
        Listener {
            id: listener.key.cookie.to_string(),
            netns: listener.key.netns,
            local: listener.local.to_string(),
            process: owner.and_then(|owner| owner.process.clone()),
            cgroup: owner.and_then(|owner| owner.cgroup.clone()),
            accept_queue: listener.accept_queue,
            backlog: listener.backlog,
            congestion: listener.congestion.as_deref().map(str::to_owned),
            connections: None,
        }
    };
    listeners.iter().map(show).collect()
}
