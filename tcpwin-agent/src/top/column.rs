//! The columns of the table: name, title, width and rank, each in one place.

mod cell;
mod choice;
mod plan;

use std::str::FromStr;

use super::text::meant;

pub(crate) use self::choice::Chosen;
pub use self::choice::{Columns, ColumnsError};
pub(crate) use self::plan::{Placed, Widest, plan};

/// A column of the table of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as on the screen")]
pub enum Column {
    Limit,
    Gain,
    Direction,
    Rate,
    Ceiling,
    Local,
    Peer,
    Process,
    Rtt,
    Cwnd,
    InFlight,
    SndWnd,
    Sndbuf,
    Unsent,
    Retrans,
    Age,
    Proof,
    Trend,
    Cgroup,
    Pid,
    Netns,
    State,
    Congestion,
    Mss,
    Ssthresh,
    RcvWnd,
    Rcvbuf,
    Unread,
    Confidence,
}

/// What is fixed about a column.
pub(crate) struct Spec {
    pub(crate) column: Column,
    /// As `--sort`, `--columns` and the settings take it.
    pub(crate) name: &'static str,
    /// Over the column.
    pub(crate) title: &'static str,
    /// Least width, unless the reader says otherwise.
    pub(crate) width: u16,
    /// Smaller is shown on narrower screens; none is shown only if the reader chooses it.
    pub(crate) rank: Option<u8>,
    /// Numbers stand right.
    pub(crate) right: bool,
    /// For people who choose columns.
    pub(crate) help: &'static str,
}

const fn spec(
    column: Column,
    name: &'static str,
    title: &'static str,
    width: u16,
    rank: Option<u8>,
    right: bool,
    help: &'static str,
) -> Spec {
    Spec {
        column,
        name,
        title,
        width,
        rank,
        right,
        help,
    }
}

/// All, in the order they stand on the screen.
pub(crate) const SPECS: [Spec; 29] = [
    spec(
        Column::Limit,
        "limit",
        "limit",
        13,
        Some(1),
        false,
        "what holds it; sorted by it, the sickest come first",
    ),
    spec(
        Column::Gain,
        "gain",
        "gain",
        6,
        Some(7),
        true,
        "how many times faster once that is lifted",
    ),
    spec(
        Column::Direction,
        "direction",
        "dir",
        4,
        Some(8),
        false,
        "which way the bytes go",
    ),
    spec(
        Column::Rate,
        "rate",
        "rate",
        11,
        Some(2),
        true,
        "observed, over the last interval",
    ),
    spec(
        Column::Trend,
        "trend",
        "rate so far",
        12,
        None,
        false,
        "the rate over the last ticks",
    ),
    spec(
        Column::Ceiling,
        "ceiling",
        "ceiling",
        11,
        Some(4),
        true,
        "what the limit allows",
    ),
    spec(
        Column::Local,
        "local",
        "local",
        21,
        Some(16),
        false,
        "this end's address and port",
    ),
    spec(
        Column::Peer,
        "peer",
        "peer",
        21,
        Some(3),
        false,
        "the other end's address and port",
    ),
    spec(
        Column::Process,
        "process",
        "process",
        8,
        Some(5),
        false,
        "the program's name",
    ),
    spec(
        Column::Pid,
        "pid",
        "pid",
        7,
        None,
        true,
        "the program's process id",
    ),
    spec(
        Column::Cgroup,
        "cgroup",
        "container",
        16,
        None,
        false,
        "last part of its cgroup: service or container",
    ),
    spec(
        Column::Netns,
        "netns",
        "netns",
        10,
        None,
        true,
        "its network namespace",
    ),
    spec(
        Column::Rtt,
        "rtt",
        "rtt/min ms",
        10,
        Some(6),
        true,
        "smoothed and least round-trip time",
    ),
    spec(
        Column::Cwnd,
        "cwnd",
        "cwnd",
        6,
        Some(9),
        true,
        "congestion window, segments",
    ),
    spec(
        Column::Ssthresh,
        "ssthresh",
        "ssthresh",
        8,
        None,
        true,
        "slow-start threshold, segments",
    ),
    spec(
        Column::InFlight,
        "inflight",
        "in flight",
        9,
        Some(10),
        true,
        "sent and not acknowledged",
    ),
    spec(
        Column::SndWnd,
        "snd_wnd",
        "snd_wnd",
        9,
        Some(11),
        true,
        "the peer's window",
    ),
    spec(
        Column::Sndbuf,
        "sndbuf",
        "sndbuf",
        9,
        Some(14),
        true,
        "send buffer",
    ),
    spec(
        Column::Unsent,
        "unsent",
        "unsent",
        9,
        Some(13),
        true,
        "written and not sent",
    ),
    spec(
        Column::RcvWnd,
        "rcv_wnd",
        "rcv_wnd",
        9,
        None,
        true,
        "the window that the peer is offered",
    ),
    spec(
        Column::Rcvbuf,
        "rcvbuf",
        "rcvbuf",
        9,
        None,
        true,
        "receive buffer",
    ),
    spec(
        Column::Unread,
        "unread",
        "unread",
        9,
        None,
        true,
        "received and not read",
    ),
    spec(
        Column::Retrans,
        "retrans",
        "retr",
        7,
        Some(12),
        true,
        "share of segments sent again",
    ),
    spec(Column::Mss, "mss", "mss", 5, None, true, "segment size, bytes"),
    spec(
        Column::Congestion,
        "cc",
        "cc",
        6,
        None,
        false,
        "congestion control",
    ),
    spec(
        Column::State,
        "state",
        "state",
        10,
        None,
        false,
        "state of the socket",
    ),
    spec(
        Column::Confidence,
        "confidence",
        "sure",
        5,
        None,
        true,
        "how sure the verdict is",
    ),
    spec(
        Column::Age,
        "age",
        "age",
        6,
        Some(17),
        true,
        "since it was first seen",
    ),
    spec(
        Column::Proof,
        "proof",
        "proof",
        30,
        Some(15),
        false,
        "the sentence behind the verdict",
    ),
];

fn names() -> impl Iterator<Item = &'static str> {
    SPECS.iter().map(|spec| spec.name)
}

/// A name that is no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no column `{0}`; there are {names}{meant}", names = SPECS.each_ref().map(|spec| spec.name).join(", "), meant = meant(.0, names()))]
pub struct UnknownColumn(String);

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(name: &str) -> Result<Self, UnknownColumn> {
        let found = SPECS.iter().find(|spec| spec.name.eq_ignore_ascii_case(name));
        found
            .map(|spec| spec.column)
            .ok_or_else(|| UnknownColumn(name.to_owned()))
    }
}

impl Column {
    /// What is fixed about it.
    pub(crate) fn spec(self) -> &'static Spec {
        SPECS.iter().find(|spec| spec.column == self).unwrap_or(&SPECS[0])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_column_is_in_the_table_once() {
        let columns: HashSet<Column> = SPECS.iter().map(|spec| spec.column).collect();
        let names: HashSet<&str> = SPECS.iter().map(|spec| spec.name).collect();
        assert_eq!((columns.len(), names.len()), (SPECS.len(), SPECS.len()));
        for spec in &SPECS {
            assert_eq!(spec.name.parse(), Ok(spec.column));
            assert_eq!(spec.column.spec().name, spec.name);
            assert!(spec.title.len() <= usize::from(spec.width), "{}", spec.name);
        }
    }

    #[test]
    fn every_limit_has_room_for_its_name() {
        for limit in crate::classify::Limit::ALL {
            let cells = usize::from(Column::Limit.spec().width);
            assert!(limit.name().len() <= cells, "{}", limit.name());
        }
    }

    #[test]
    fn what_can_be_sorted_by_here_can_be_everywhere() {
        // The trend is of the screen's own memory.
        for spec in SPECS.iter().filter(|spec| spec.column != Column::Trend) {
            assert!(spec.name.parse::<crate::query::Sort>().is_ok(), "{}", spec.name);
        }
    }

    #[test]
    fn a_wrong_column_is_told_the_right_ones() {
        let error = "speed".parse::<Column>().unwrap_err().to_string();
        assert!(
            error.starts_with("no column `speed`; there are limit, gain,"),
            "{error}"
        );
    }
}
