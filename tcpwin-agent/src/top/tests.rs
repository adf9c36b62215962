//! Screens, keys and the filter, on a fixed host.

mod columns;
mod detail;
mod docs;
mod filters;
pub(super) mod fixture;
mod groups;
mod pictures;
mod screens;
mod updates;
mod views;
