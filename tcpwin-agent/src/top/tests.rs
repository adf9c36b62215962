//! Screens from a fixed snapshot, and what keys do to the state.

mod filters;
mod fixture;
mod screens;
mod updates;
