//! Screens from a fixed snapshot, and what keys do to the state.

mod fixture;
mod filters;
mod screens;
mod updates;
