//! Screens from a fixed snapshot, and what keys do to the state.

mod columns;
mod detail;
mod docs;
mod filters;
pub(super) mod fixture;
mod pictures;
mod screens;
mod updates;
