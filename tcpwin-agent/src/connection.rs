//! The fold of observations: the bounded table of connections, their intervals and owners.

mod account;
mod blind;
mod causes;
mod delta;
mod entry;
mod grouping;
pub mod interval;
mod journal;
mod kept;
pub mod owner;
mod paths;
mod prevailing;
mod quiet;
mod recent;
mod row;
mod spent;
mod table;
mod tallies;

pub use entry::{FindOwner, Ownership};
pub use grouping::Grouping;
pub use kept::Kept;
pub use paths::Paths;
pub use spent::{Held, Rest, Spent, Sum};
pub use table::{Changed, Table, TableConfig};
