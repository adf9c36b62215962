//! Which lines of a paste are looks at one socket, and which are the two ends of one connection.

use std::collections::HashMap;

use crate::observation::pasted::Pasted;

/// One socket: its looks, the oldest first.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// At least one.
    pub looks: Vec<&'a Pasted>,
    /// Where the socket of the other end stands among the groups.
    pub mate: Option<usize>,
}

impl<'a> Group<'a> {
    /// The newest look.
    pub fn now(&self) -> &'a Pasted {
        self.looks[self.looks.len() - 1]
    }

    /// The look before, of a socket that was seen twice.
    pub fn earlier(&self) -> Option<&'a Pasted> {
        let before = self.looks.len().checked_sub(2)?;
        Some(self.looks[before])
    }
}

/// Groups the sockets of a paste.
#[must_use]
pub fn groups(sockets: &[Pasted]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut by_ends: HashMap<(&str, &str, bool), usize> = HashMap::new();
    for socket in sockets {
        let Some((local, peer)) = ends(socket) else {
            groups.push(alone(socket));
            continue;
        };
        match by_ends.get(&(local, peer, socket.is_mptcp)) {
            Some(&at) if may_follow(groups[at].now(), socket) => groups[at].looks.push(socket),
            _ => {
                by_ends.insert((local, peer, socket.is_mptcp), groups.len());
                groups.push(alone(socket));
            }
        }
    }
    for group in &mut groups {
        let Some((local, peer)) = ends(group.now()) else {
            continue;
        };
        let is_mirrored = local != peer && !group.now().is_mptcp;
        group.mate = by_ends
            .get(&(peer, local, false))
            .copied()
            .filter(|_| is_mirrored);
    }
    groups
}

fn alone(socket: &Pasted) -> Group<'_> {
    Group {
        looks: vec![socket],
        mate: None,
    }
}

/// Both ends, where they say which connection it is.
fn ends(socket: &Pasted) -> Option<(&str, &str)> {
    let (local, peer) = (socket.local.as_deref()?, socket.peer.as_deref()?);
    (!peer.ends_with(":*")).then_some((local, peer))
}

/// A socket's totals only grow; addresses that were masked alike are no proof that two lines are of one socket.
fn may_follow(before: &Pasted, after: &Pasted) -> bool {
    let grows = |before: Option<u64>, after: Option<u64>| {
        before.zip(after).is_none_or(|(before, after)| before <= after)
    };
    before
        .cookie
        .zip(after.cookie)
        .is_none_or(|(before, after)| before == after)
        && grows(before.totals.bytes_acked, after.totals.bytes_acked)
        && grows(before.totals.bytes_received, after.totals.bytes_received)
        && grows(before.ss.bytes_sent, after.ss.bytes_sent)
        && grows(before.ss.busy_us, after.ss.busy_us)
}
