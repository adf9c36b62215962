//! The fold of observations: the bounded table of connections, their intervals and owners.

mod delta;
pub mod interval;
mod row;
mod table;

pub use table::{FindOwner, Ownership, Table, TableConfig};
