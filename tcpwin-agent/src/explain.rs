//! `tcpwin explain`: what limits the sockets of pasted `ss` output.
//!
//! The looks at one socket are put together, and its two ends where both were pasted; the rules judge what that shows, and say what else to
//! collect where it shows too little.

pub mod collect;
pub mod decide;
pub mod figures;
pub mod join;
mod report;
pub mod rule;
mod text;

pub use report::{Explained, Report, Seen};
pub use text::write;

use self::figures::Figures;
use self::join::Group;
use crate::observation::pasted::Pasted;

/// Explains every socket of a paste.
#[must_use]
pub fn explain(sockets: &[Pasted]) -> Report {
    let groups = join::groups(sockets);
    let explained = groups.iter().map(|group| {
        let mate = group.mate.map(|at| groups[at].now());
        let figures = Figures::of(group, mate, equal_queues(group, &groups));
        let verdict = decide::decide(&figures);
        let collect = collect::collect(&figures, &verdict);
        report::explained(&figures, group, verdict, collect)
    });
    Report {
        sockets: explained.collect(),
        text: Vec::new(),
    }
}

/// Sockets at the same port of the same host whose queues are equal within 5 %. The first few hundred tell.
fn equal_queues(group: &Group<'_>, groups: &[Group<'_>]) -> usize {
    let Some((local, queued)) = queue(group) else {
        return 0;
    };
    let others = groups.iter().take(500).filter_map(queue);
    others
        .filter(|(other, bytes)| *other == local && bytes.abs_diff(queued) * 20 <= queued)
        .count()
}

/// This end, and how much it has to send, where that is more than a trifle.
fn queue<'a>(group: &Group<'a>) -> Option<(&'a str, u64)> {
    let now = group.now();
    let queued = now.ss.send_q.filter(|bytes| *bytes >= 4_096)?;
    Some((now.local.as_deref()?, queued))
}
