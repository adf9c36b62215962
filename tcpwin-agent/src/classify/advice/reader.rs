//! A program that reads more slowly than the window fills: no buffer helps.

use super::Ask;
use crate::classify::{Remedy, Side};

const WHY: &str = "the window closes because what has come is not read";
const CAVEAT: &str = "a larger buffer only takes longer to fill";

/// The peer's program.
#[must_use]
pub fn rwnd_reader(_: &Ask) -> Vec<Remedy> {
    vec![
        Remedy::new(
            Side::PeerApp,
            "on the peer: make the program read faster (its disk, its CPU, what it passes the data on to)",
            WHY,
        )
        .but(CAVEAT),
    ]
}

/// Our own program.
#[must_use]
pub fn reader(_: &Ask) -> Vec<Remedy> {
    vec![
        Remedy::new(
            Side::LocalApp,
            "make the program read faster: larger reads, a thread of its own, its disk or what it passes the data on to",
            WHY,
        )
        .but(CAVEAT),
    ]
}
