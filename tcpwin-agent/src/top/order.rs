//! Which connections are shown and in which order: indices into the snapshot, the snapshot itself stays as it is.

use std::cmp::Ordering;
use std::net::SocketAddr;
use std::str::FromStr;

use super::column::{Column, SPECS, UnknownColumn, Widest};
use super::text::{state_text, width};
use crate::snapshot::figures;
use crate::snapshot::{Connection, Snapshot};

/// The order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By which column; by [`Column::Limit`] the sickest come first.
    pub column: Column,
    /// Against the column's natural order (numbers fall, texts rise).
    pub inverted: bool,
}

impl Default for Sort {
    fn default() -> Self {
        Self {
            column: Column::Limit,
            inverted: false,
        }
    }
}

impl FromStr for Sort {
    type Err = UnknownColumn;

    /// `rate`, or `-rate` for the other way round.
    fn from_str(text: &str) -> Result<Self, UnknownColumn> {
        let (inverted, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
        Ok(Self {
            column: name.parse()?,
            inverted,
        })
    }
}

impl Sort {
    /// The next column of all, in its natural order.
    pub(crate) fn next(self) -> Self {
        let at = SPECS
            .iter()
            .position(|spec| spec.column == self.column)
            .unwrap_or(0);
        Self {
            column: SPECS[(at + 1) % SPECS.len()].column,
            inverted: false,
        }
    }

    /// By `column`; the other way round if it is sorted by already.
    pub(crate) fn by(self, column: Column) -> Self {
        Self {
            column,
            inverted: self.column == column && !self.inverted,
        }
    }
}

/// After every name: for what has none.
const LAST: &str = "\u{10ffff}";

/// What a connection is ordered by. Numbers are negated so that all keys rise.
#[derive(Clone, Copy, Debug)]
enum SortKey<'a> {
    Sickness(u8, f64),
    Number(f64),
    Address(Option<SocketAddr>),
    Text(&'a str),
}

impl SortKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Sickness(a, x), Self::Sickness(b, y)) => a.cmp(b).then(x.total_cmp(y)),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Address(a), Self::Address(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            // Keys of one sort are of one kind.
            _ => Ordering::Equal,
        }
    }
}

fn key(column: Column, connection: &Connection) -> SortKey<'_> {
    let tcp = &connection.tcp;
    // The unknown comes last.
    let falling = |value: Option<f64>| SortKey::Number(value.map_or(f64::INFINITY, |value| -value));
    let bytes = |value: Option<u32>| falling(value.map(f64::from));
    match column {
        Column::Limit => SortKey::Sickness(figures::severity(connection), -figures::withheld_bps(connection)),
        Column::Gain => falling(figures::gain(connection)),
        Column::Direction => SortKey::Number(f64::from(connection.direction as u8)),
        Column::Rate | Column::Trend => falling(Some(connection.rate_bps)),
        Column::Ceiling => falling(connection.ceiling_bps),
        Column::Local => SortKey::Address(connection.local.parse().ok()),
        Column::Peer => SortKey::Address(connection.peer.parse().ok()),
        Column::Process => SortKey::Text(connection.process.as_ref().map_or(LAST, |process| &process.name)),
        Column::Rtt => bytes(tcp.srtt_us),
        Column::Cwnd => bytes(tcp.cwnd),
        Column::InFlight => bytes(tcp.in_flight_bytes),
        Column::SndWnd => bytes(tcp.snd_wnd_bytes),
        Column::Sndbuf => bytes(tcp.sndbuf_bytes),
        Column::Unsent => bytes(tcp.unsent_bytes),
        Column::Retrans => falling(figures::retransmit_share(connection)),
        Column::Age => falling(Some(connection.age_us as f64)),
        Column::Proof => SortKey::Text(&connection.proof),
        Column::Pid => falling(connection.process.as_ref().map(|process| f64::from(process.pid))),
        Column::Cgroup => SortKey::Text(connection.cgroup.as_deref().unwrap_or(LAST)),
        Column::Netns => SortKey::Number(f64::from(connection.netns)),
        Column::State => SortKey::Text(tcp.state.map_or(LAST, state_text)),
        Column::Congestion => SortKey::Text(tcp.congestion.as_deref().unwrap_or(LAST)),
        Column::Mss => bytes(tcp.mss),
        Column::Ssthresh => bytes(tcp.ssthresh),
        Column::RcvWnd => bytes(tcp.rcv_wnd_bytes),
        Column::Rcvbuf => bytes(tcp.rcvbuf_bytes),
        Column::Unread => bytes(tcp.unread_bytes),
        Column::Confidence => falling(Some(connection.confidence)),
    }
}

/// Indices of the connections to show, in order. Keys are worked out once for each connection, never in a comparison.
pub(crate) fn arrange(snapshot: &Snapshot, shown: impl Fn(&Connection) -> bool, sort: Sort) -> Vec<u32> {
    let mut keyed: Vec<(SortKey<'_>, u32)> = snapshot
        .connections
        .iter()
        .zip(0..)
        .filter(|(connection, _)| shown(connection))
        .map(|(connection, index)| (key(sort.column, connection), index))
        .collect();
    // Equal keys keep the order of the snapshot, which is by id: quiet rows do not jump between ticks. A stable sort finds
    // the many that are idle in order already.
    keyed.sort_by(|(a, _), (b, _)| {
        let order = a.cmp(b);
        if sort.inverted { order.reverse() } else { order }
    });
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// Cells of a process's name that a column grows to.
const NAME: u16 = 24;

/// `before`, or what the texts of the columns that may grow need more.
pub(crate) fn widest(before: Widest, snapshot: &Snapshot) -> Widest {
    // No text takes more cells than it has bytes, and addresses take as many: most texts need not be read.
    let bytes = |text: &str| u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut widest = before;
    for connection in &snapshot.connections {
        widest.local = widest.local.max(bytes(&connection.local));
        widest.peer = widest.peer.max(bytes(&connection.peer));
        let name = connection.process.as_ref().map_or("", |process| &process.name);
        if bytes(name) > widest.process {
            let cells = u16::try_from(width(name)).unwrap_or(u16::MAX);
            widest.process = widest.process.max(cells.min(NAME));
        }
    }
    widest
}
