//! Which connections are shown and in which order: indices into the snapshot, the snapshot itself stays as it is. The order
//! is that of the query language; a column stands for the field of its name.

use super::column::{Column, SPECS, Widest};
use super::text::width;
use crate::query::Sort;
use crate::snapshot::{Connection, Snapshot};

/// By a column, in its natural order: numbers fall, texts rise.
pub(crate) fn natural(column: Column) -> Sort {
    match column {
        // It shows the rate as it was.
        Column::Trend => natural(Column::Rate),
        _ => Sort::natural(column.spec().name),
    }
}

/// The column that is sorted by first; none where it is a field without one.
pub(crate) fn column(sort: &Sort) -> Option<Column> {
    let (first, _) = sort.fields().next()?;
    let is_first = |column: &Column| {
        natural(*column)
            .fields()
            .next()
            .is_some_and(|(name, _)| name == first)
    };
    sortable().find(is_first)
}

/// If that one is the other way round.
pub(crate) fn is_inverted(sort: &Sort) -> bool {
    sort.fields().next().is_some_and(|(_, inverted)| inverted)
}

/// By `column`; the other way round if it is sorted by already.
pub(crate) fn by(sort: &Sort, wanted: Column) -> Sort {
    let natural = natural(wanted);
    let is_same = natural.fields().next().map(|(name, _)| name) == sort.fields().next().map(|(name, _)| name);
    if is_same && !is_inverted(sort) {
        natural.inverted()
    } else {
        natural
    }
}

/// By the next column of all, in its natural order.
pub(crate) fn next(sort: &Sort) -> Sort {
    let now = column(sort);
    let later = sortable().skip_while(|column| Some(*column) != now).nth(1);
    natural(later.unwrap_or(SPECS[0].column))
}

/// Columns that have an order of their own.
fn sortable() -> impl Iterator<Item = Column> {
    SPECS
        .iter()
        .map(|spec| spec.column)
        .filter(|column| *column != Column::Trend)
}

/// Indices of the connections to show, in order.
pub(crate) fn arrange(snapshot: &Snapshot, shown: impl Fn(&Connection) -> bool, sort: &Sort) -> Vec<u32> {
    let all = snapshot.connections.iter().zip(0..);
    let chosen: Vec<u32> = all
        .filter(|(connection, _)| shown(connection))
        .map(|(_, index)| index)
        .collect();
    sort.arrange(&snapshot.connections, &chosen, usize::MAX)
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
