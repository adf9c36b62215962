//! `tcpwin explain`: what limits the sockets of pasted `ss` output.
//!
//! The looks at one socket are put together, and its two ends where both were pasted; the rules judge what that shows, and say what else to
//! collect where it shows too little.

pub mod collect;
pub mod decide;
pub mod figures;
pub mod join;
mod live;
mod report;
pub mod rule;
mod text;

pub use live::live;
pub use report::{Explained, Report, Seen};
pub use text::write;

use self::figures::{Beside, Figures};
use self::join::Group;
use crate::observation::pasted::Pasted;

/// Explains every socket of a paste.
#[must_use]
pub fn explain(sockets: &[Pasted]) -> Report {
    let groups = join::groups(sockets);
    let explained = groups.iter().map(|group| {
        let mate = group.mate.map(|at| groups[at].now());
        let figures = Figures::of(group, mate, beside(group, &groups));
        let verdict = decide::decide(&figures);
        let collect = collect::collect(&figures, &verdict);
        report::explained(&figures, group, verdict, collect)
    });
    Report {
        sockets: explained.collect(),
        text: Vec::new(),
    }
}

/// How the socket compares with others of the paste. The first few hundred tell.
fn beside(group: &Group<'_>, groups: &[Group<'_>]) -> Beside {
    let mut beside = Beside::default();
    let (now, queue) = (group.now(), queue(group));
    let to = peer_host(now);
    for other in groups.iter().take(OTHERS) {
        if let Some(((local, queued), (at, bytes))) = queue.zip(self::queue(other)) {
            let is_equal = local == at && bytes.abs_diff(queued) * 20 <= queued;
            beside.equal_queues += usize::from(is_equal);
        }
        let is_full = to.is_some() && peer_host(other.now()) == to && has_full_window(other.now());
        beside.full_windows += usize::from(is_full);
    }
    beside
}

/// Sockets that one is compared with.
const OTHERS: usize = 300;

fn peer_host(socket: &Pasted) -> Option<&str> {
    Some(socket.peer.as_deref()?.rsplit_once(':')?.0)
}

fn has_full_window(socket: &Pasted) -> bool {
    let busy = socket.ss.busy_us.filter(|busy| *busy > 0);
    let limited = socket.ss.rwnd_limited.map(|(limited, _)| limited);
    busy.zip(limited)
        .is_some_and(|(busy, limited)| limited * 10 >= busy * 6)
}

/// This end, and how much it has to send, where that is more than a trifle.
fn queue<'a>(group: &Group<'a>) -> Option<(&'a str, u64)> {
    let now = group.now();
    let queued = now.ss.send_q.filter(|bytes| *bytes >= 4_096)?;
    Some((now.local.as_deref()?, queued))
}
