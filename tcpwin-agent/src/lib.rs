//! tcpwin: what limits every TCP connection of a host, what lifting the limit gives, and who must act.
//!
//! In flow order: a `source` gives [`observation::Observation`]s, `connection` folds them into
//! [`connection::interval::Interval`]s, `classify` makes [`classify::Verdict`]s of those, and the exits read the
//! [`snapshot::Snapshot`].

pub mod api;
pub mod attach;
pub mod check;
pub mod classify;
pub mod cli;
pub mod config;
pub mod connection;
pub mod daemon;
pub mod doctor;
pub mod explain;
pub mod exporter;
pub mod handshake;
pub mod history;
pub mod host;
pub mod kernel;
pub mod logging;
pub mod observation;
pub mod query;
pub mod recording;
pub mod replay;
pub mod snapshot;
pub mod source;
pub mod top;
pub mod trace;
pub mod units;
