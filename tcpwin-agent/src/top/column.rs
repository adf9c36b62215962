//! The columns of the table: name, width, rank and text, each in one place.

use std::borrow::Cow;
use std::str::FromStr;

use super::text::{age_text, clean, count_text, elide, elide_middle, gain_text, percent_text, rtt_pair};
use super::theme::{Sign, Theme};
use crate::classify::Direction;
use crate::snapshot::Connection;
use crate::snapshot::figures;
use crate::units::{bits_text, bytes_text};

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
}

/// What is fixed about a column.
pub(crate) struct Spec {
    pub(crate) column: Column,
    /// As `--sort` takes it.
    pub(crate) name: &'static str,
    /// Over the column.
    pub(crate) title: &'static str,
    /// Least width.
    pub(crate) width: u16,
    /// Smaller is shown on narrower screens.
    rank: u8,
    /// Numbers stand right.
    pub(crate) right: bool,
}

const fn spec(
    column: Column,
    name: &'static str,
    title: &'static str,
    width: u16,
    rank: u8,
    right: bool,
) -> Spec {
    Spec {
        column,
        name,
        title,
        width,
        rank,
        right,
    }
}

/// All, in the order they stand on the screen.
pub(crate) const SPECS: [Spec; 17] = [
    spec(Column::Limit, "limit", "limit", 12, 1, false),
    spec(Column::Gain, "gain", "gain", 6, 7, true),
    spec(Column::Direction, "direction", "dir", 4, 8, false),
    spec(Column::Rate, "rate", "rate", 11, 2, true),
    spec(Column::Ceiling, "ceiling", "ceiling", 11, 4, true),
    spec(Column::Local, "local", "local", 21, 16, false),
    spec(Column::Peer, "peer", "peer", 21, 3, false),
    spec(Column::Process, "process", "process", 9, 5, false),
    spec(Column::Rtt, "rtt", "rtt/min ms", 10, 6, true),
    spec(Column::Cwnd, "cwnd", "cwnd", 6, 9, true),
    spec(Column::InFlight, "inflight", "in flight", 9, 10, true),
    spec(Column::SndWnd, "snd_wnd", "snd_wnd", 9, 11, true),
    spec(Column::Sndbuf, "sndbuf", "sndbuf", 9, 14, true),
    spec(Column::Unsent, "unsent", "unsent", 9, 13, true),
    spec(Column::Retrans, "retrans", "retr", 7, 12, true),
    spec(Column::Age, "age", "age", 6, 17, true),
    spec(Column::Proof, "proof", "proof", 30, 15, false),
];

/// A name that is no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no column `{0}`; there are {names}", names = SPECS.each_ref().map(|spec| spec.name).join(", "))]
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

    /// The text of a cell; empty where the value is not known.
    pub(crate) fn text(self, connection: &Connection, theme: Theme) -> Cow<'_, str> {
        let tcp = &connection.tcp;
        let bytes = |value: Option<u32>| value.map_or(Cow::Borrowed(""), |n| bytes_text(u64::from(n)).into());
        match self {
            Self::Limit => figures::shown(connection).name().into(),
            Self::Gain => figures::gain(connection)
                .filter(|gain| *gain >= 1.05)
                .map_or(Cow::Borrowed(""), |gain| {
                    gain_text(gain, theme.sign(Sign::Times)).into()
                }),
            Self::Direction => match connection.direction {
                Direction::Send => "send".into(),
                Direction::Receive => "recv".into(),
            },
            Self::Rate => bits_text(connection.rate_bps).into(),
            Self::Ceiling => connection
                .ceiling_bps
                .map_or(Cow::Borrowed(""), |rate| bits_text(rate).into()),
            Self::Local => clean(&connection.local, theme.ascii),
            Self::Peer => clean(&connection.peer, theme.ascii),
            Self::Process => connection
                .process
                .as_ref()
                .map_or(Cow::Borrowed(""), |process| clean(&process.name, theme.ascii)),
            Self::Rtt => rtt_pair(tcp.srtt_us, tcp.min_rtt_us).into(),
            Self::Cwnd => tcp
                .cwnd
                .map_or(Cow::Borrowed(""), |cwnd| count_text(u64::from(cwnd)).into()),
            Self::InFlight => bytes(tcp.in_flight_bytes),
            Self::SndWnd => bytes(tcp.snd_wnd_bytes),
            Self::Sndbuf => bytes(tcp.sndbuf_bytes),
            Self::Unsent => bytes(tcp.unsent_bytes),
            Self::Retrans => figures::retransmit_share(connection)
                .map_or(Cow::Borrowed(""), |share| percent_text(share).into()),
            Self::Age => age_text(connection.age_us).into(),
            Self::Proof => clean(&connection.proof, theme.ascii),
        }
    }

    /// `text` cut to `cells` in the column's own way.
    pub(crate) fn fit<'a>(self, text: &'a str, cells: usize, theme: Theme) -> Cow<'a, str> {
        let mark = theme.sign(Sign::Ellipsis);
        match self {
            Self::Local | Self::Peer => elide_middle(text, cells, mark),
            _ => elide(text, cells, mark),
        }
    }
}

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) column: Column,
    /// Cells from the left edge.
    pub(crate) x: u16,
    pub(crate) width: u16,
}

/// Widest texts of the columns that may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widest {
    pub(crate) local: u16,
    pub(crate) peer: u16,
    pub(crate) process: u16,
}

impl Widest {
    /// The wider of both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            local: self.local.max(other.local),
            peer: self.peer.max(other.peer),
            process: self.process.max(other.process),
        }
    }
}

/// Columns up to this rank come before whole names.
const ESSENTIAL: u8 = 8;

/// Cells left of the first column: the mark of the selected row.
const MARGIN: u16 = 1;

/// The columns for a table of `width` cells.
pub(crate) fn plan(width: u16, widest: Widest) -> Vec<Placed> {
    let mut ranked: Vec<&Spec> = SPECS.iter().collect();
    ranked.sort_unstable_by_key(|spec| spec.rank);
    let mut left = width.saturating_sub(MARGIN) + 1;
    let mut placed: Vec<Placed> = Vec::with_capacity(SPECS.len());
    let grow = |placed: &mut [Placed], left: &mut u16, column: Column, wish: u16| {
        if let Some(place) = placed.iter_mut().find(|place| place.column == column) {
            let more = wish.saturating_sub(place.width).min(*left);
            place.width += more;
            *left -= more;
        }
    };
    for spec in ranked {
        if spec.rank > ESSENTIAL {
            // Whole names before more figures.
            grow(&mut placed, &mut left, Column::Process, widest.process);
            grow(&mut placed, &mut left, Column::Peer, widest.peer);
        }
        // No gaps in the ranking: a column never comes and goes as the screen grows.
        if spec.width + 1 > left {
            break;
        }
        left -= spec.width + 1;
        placed.push(Placed {
            column: spec.column,
            x: 0,
            width: spec.width,
        });
    }
    for (column, wish) in [
        (Column::Process, widest.process),
        (Column::Peer, widest.peer),
        (Column::Local, widest.local),
        (Column::Proof, u16::MAX),
    ] {
        grow(&mut placed, &mut left, column, wish);
    }
    placed.sort_unstable_by_key(|place| SPECS.iter().position(|spec| spec.column == place.column));
    let mut x = MARGIN;
    for place in &mut placed {
        place.x = x;
        x += place.width + 1;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(width: u16) -> Vec<&'static str> {
        plan(width, Widest::default())
            .iter()
            .map(|place| place.column.spec().name)
            .collect()
    }

    #[test]
    fn eighty_cells_show_what_decides() {
        assert_eq!(names(80), ["limit", "rate", "ceiling", "peer", "process", "rtt"]);
        assert_eq!(names(60), ["limit", "rate", "ceiling", "peer"]);
        assert_eq!(names(220).len(), SPECS.len());
        assert!(names(200).contains(&"proof"));
    }

    #[test]
    fn columns_never_overlap_or_leave_the_screen() {
        let widest = Widest {
            local: 47,
            peer: 47,
            process: 15,
        };
        for width in 0..400 {
            let mut end = 0;
            for place in plan(width, widest) {
                assert!(place.x >= end && place.width >= place.column.spec().width);
                end = place.x + place.width;
                assert!(end <= width);
            }
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
