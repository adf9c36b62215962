//! Groups as rows that fold: groups, the groups within them, and their connections, each with its sums. Only what is
//! unfolded is worked out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use ratatui::style::Style;

use super::grid::{Field, GridSort, Grow, Order};
use super::group::{Group, Key, Level, Sums, gather};
use super::state::Identity;
use super::text::{count_text, gain_text};
use super::theme::{Sign, letter};
use super::view::By;
use crate::classify::Bound;
use crate::snapshot::Connection;
use crate::units::{bits_text, bytes_text};

/// Where a row is in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub(crate) keys: Vec<Key<'static>>,
    /// Of a single connection.
    pub(crate) leaf: Option<Identity>,
}

impl Path {
    /// The group around it.
    pub(crate) fn parent(&self) -> Option<Self> {
        let mut keys = self.keys.clone();
        if self.leaf.is_none() {
            keys.pop();
        }
        (!keys.is_empty()).then_some(Self { keys, leaf: None })
    }

    /// Its keys with the levels they are of.
    pub(crate) fn levels(&self, by: By) -> Vec<(Level, Key<'static>)> {
        by.levels().into_iter().zip(self.keys.iter().cloned()).collect()
    }
}

/// If more rows hide behind a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Leaf,
    Closed,
    Open,
}

/// A row of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) path: Path,
    pub(crate) depth: usize,
    pub(crate) fold: Fold,
    pub(crate) label: String,
    pub(crate) sums: Sums,
    /// Index of the connection, where it is one.
    pub(crate) connection: Option<u32>,
}

/// What is unfolded and how it is sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) by: By,
    pub(crate) unfolded: &'a HashSet<Path>,
    pub(crate) sort: GridSort,
}

/// The rows over `members`, which are indices into `connections`.
pub(crate) fn rows(connections: &[Arc<Connection>], members: &[u32], shape: Shape<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    unfold(connections, members, shape, &[], &mut rows);
    rows
}

fn unfold(
    connections: &[Arc<Connection>],
    members: &[u32],
    shape: Shape<'_>,
    above: &[Key<'static>],
    rows: &mut Vec<Row>,
) {
    let level = shape.by.levels().get(above.len()).copied();
    let groups = level.map_or_else(Vec::new, |level| gather(connections, members, level));
    // A single group within a group says nothing more: its connections stand there at once.
    if level.is_none() || (!above.is_empty() && groups.len() == 1) {
        let mut leaves: Vec<Row> = members
            .iter()
            .filter_map(|at| leaf(connections.get(*at as usize)?, *at, shape.by, above))
            .collect();
        sort(&mut leaves, shape.sort);
        rows.append(&mut leaves);
        return;
    }
    let mut nodes: Vec<(Row, Vec<u32>)> = groups
        .into_iter()
        .map(|group| node(group, above, shape))
        .collect();
    nodes.sort_by(|(a, _), (b, _)| compare(a, b, shape.sort));
    for (row, members) in nodes {
        let below = (row.fold == Fold::Open).then(|| row.path.keys.clone());
        rows.push(row);
        if let Some(keys) = below {
            unfold(connections, &members, shape, &keys, rows);
        }
    }
}

fn node(group: Group<'_>, above: &[Key<'static>], shape: Shape<'_>) -> (Row, Vec<u32>) {
    let label = group.key.text();
    let mut keys = above.to_vec();
    keys.push(group.key.into_owned());
    let path = Path { keys, leaf: None };
    let fold = if shape.unfolded.contains(&path) {
        Fold::Open
    } else {
        Fold::Closed
    };
    let row = Row {
        depth: above.len(),
        fold,
        label,
        sums: group.sums,
        connection: None,
        path,
    };
    (row, group.members)
}

fn leaf(connection: &Connection, at: u32, by: By, above: &[Key<'static>]) -> Option<Row> {
    let process = connection
        .process
        .as_ref()
        .map_or("", |process| process.name.as_str());
    let label = match by {
        By::Peer if !process.is_empty() => format!("{}  {process}", connection.peer),
        _ => connection.peer.clone(),
    };
    let mut sums = Sums::default();
    sums.add(connection);
    Some(Row {
        path: Path {
            keys: above.to_vec(),
            leaf: Some(Identity::of(connection)),
        },
        depth: above.len(),
        fold: Fold::Leaf,
        label,
        sums,
        connection: Some(at),
    })
}

fn sort(rows: &mut [Row], sort: GridSort) {
    rows.sort_by(|a, b| compare(a, b, sort));
}

/// The order asked for, else the sickest first; equal ones keep an order of their own, or quiet rows would jump.
fn compare(a: &Row, b: &Row, sort: GridSort) -> std::cmp::Ordering {
    let sickness = |row: &Row| row.sums.sickness();
    let ((a_class, a_held), (b_class, b_held)) = (sickness(a), sickness(b));
    let sickest = || a_class.cmp(&b_class).then(a_held.total_cmp(&b_held));
    fn tie(row: &Row) -> Option<(u32, usize, &str)> {
        row.path.leaf.as_ref().map(Identity::order)
    }
    sort.cmp(FIELDS, a, b)
        .then_with(sickest)
        .then_with(|| a.label.cmp(&b.label))
        .then_with(|| tie(a).cmp(&tie(b)))
}

/// Cells by which each depth is set in.
const INDENT: usize = 2;

/// As the tree is sorted until somebody chooses: the sickest first.
pub(crate) const WORST_FIRST: GridSort = GridSort::of(1);

/// The columns.
pub(crate) const FIELDS: &[Field<Row>] = &[
    Field {
        title: "name",
        width: 22,
        rank: 1,
        right: false,
        grow: Grow::ToText,
        text: |row, theme| {
            let sign = match row.fold {
                Fold::Leaf => " ",
                Fold::Closed => theme.sign(Sign::Closed),
                Fold::Open => theme.sign(Sign::Open),
            };
            format!("{:1$}{sign} {2}", "", row.depth * INDENT, row.label).into()
        },
        order: |row| match (&row.path.leaf, row.path.keys.last()) {
            (None, Some(key)) => Order::Group(key),
            _ => Order::Text(Cow::Borrowed(&row.label)),
        },
        style: |_, _| Style::new(),
    },
    Field {
        title: "worst",
        width: 12,
        rank: 2,
        right: false,
        grow: Grow::No,
        text: |row, _| row.sums.worst().name().into(),
        order: |row| {
            let (class, held) = row.sums.sickness();
            Order::Pair(class, held)
        },
        style: |row, theme| theme.bound(row.sums.worst().bound()),
    },
    Field {
        title: "conns",
        width: 6,
        rank: 3,
        right: true,
        grow: Grow::No,
        text: |row, _| match row.connection {
            Some(_) => Cow::Borrowed(""),
            None => count_text(row.sums.connections).into(),
        },
        order: |row| Order::falling(Some(row.sums.connections as f64)),
        style: |_, _| Style::new(),
    },
    Field {
        title: "sick",
        width: 5,
        rank: 4,
        right: true,
        grow: Grow::No,
        text: |row, _| match (row.connection, row.sums.sick) {
            (Some(_), _) | (None, 0) => Cow::Borrowed(""),
            (None, sick) => count_text(sick).into(),
        },
        order: |row| Order::falling(Some(row.sums.sick as f64)),
        style: |_, theme| theme.title(),
    },
    Field {
        title: "in",
        width: 11,
        rank: 5,
        right: true,
        grow: Grow::No,
        text: |row, _| bits_text(row.sums.receive_bps).into(),
        order: |row| Order::falling(Some(row.sums.receive_bps)),
        style: |_, _| Style::new(),
    },
    Field {
        title: "out",
        width: 11,
        rank: 6,
        right: true,
        grow: Grow::No,
        text: |row, _| bits_text(row.sums.send_bps).into(),
        order: |row| Order::falling(Some(row.sums.send_bps)),
        style: |_, _| Style::new(),
    },
    Field {
        title: "gain",
        width: 6,
        rank: 7,
        right: true,
        grow: Grow::No,
        text: |row, theme| {
            let gain = row.sums.gain.filter(|gain| *gain >= 1.05);
            gain.map_or(Cow::Borrowed(""), |gain| {
                gain_text(gain, theme.sign(Sign::Times)).into()
            })
        },
        order: |row| Order::falling(row.sums.gain),
        style: |_, theme| theme.title(),
    },
    Field {
        title: "not moved",
        width: 9,
        rank: 8,
        right: true,
        grow: Grow::No,
        text: |row, _| {
            let lost = row.sums.not_moved.filter(|bytes| *bytes > 0);
            lost.map_or(Cow::Borrowed(""), |bytes| bytes_text(bytes).into())
        },
        order: |row| Order::falling(row.sums.not_moved.map(|bytes| bytes as f64)),
        style: |_, _| Style::new(),
    },
    Field {
        title: "held by",
        width: 16,
        rank: 9,
        right: false,
        grow: Grow::Rest,
        text: |row, _| match row.connection {
            Some(_) => Cow::Borrowed(""),
            None => held_by(&row.sums).into(),
        },
        order: |row| Order::falling(Some(row.sums.sick as f64 / row.sums.connections.max(1) as f64)),
        style: |_, theme| theme.dim(),
    },
];

/// Letter and count of each class there is: `W37 A4`.
fn held_by(sums: &Sums) -> String {
    let there = Bound::ALL
        .into_iter()
        .zip(sums.by_bound)
        .filter(|(_, count)| *count > 0);
    let words: Vec<String> = there
        .map(|(bound, count)| format!("{} {}", letter(bound), count_text(count)))
        .collect();
    words.join("  ")
}
