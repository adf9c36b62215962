//! The fold of observations: the bounded table of connections, their intervals and owners.

pub mod interval;
mod table;

pub use table::{Table, TableConfig};
