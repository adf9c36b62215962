//! The fold of observations: the bounded table of connections, their intervals and owners.

mod delta;
mod entry;
pub mod interval;
pub mod owner;
mod quiet;
mod row;
mod table;

pub use entry::{FindOwner, Ownership};
pub use table::{Table, TableConfig};
