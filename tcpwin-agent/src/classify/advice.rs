//! What to change, with the values worked out: one function a limit, pure like the rest of the room.
//!
//! A value is as large as the *target* rate needs over the path's own round trip: the path's capacity where it is known, else ten
//! times what the connection makes now, and the reason says which. Sizes are rounded up to a power of two, as people type
//! them, and advice never lowers what is set now. Each remedy says who acts, whether live connections keep what they have, what
//! memory it may cost, and what it will *not* do where people expect it to.

pub use self::app::{app_window, host, small_writes, turns};
pub use self::ask::{Ask, Surroundings};
pub use self::buffer::{rcvbuf, rwnd, rwnd_scale, sndbuf};
pub use self::cwnd::{cwnd_clamp, cwnd_startup};
pub use self::path::{bandwidth, loss, mtu_blackhole, pacing, policer, stalled};
pub use self::program::Program;
pub use self::reader::{reader, rwnd_reader};
pub use self::window::name_of_window;

mod app;
mod ask;
mod buffer;
mod cwnd;
mod directive;
mod path;
mod program;
mod reader;
mod size;
#[cfg(test)]
mod tests;
mod window;

use crate::classify::{Limit, Remedy};

/// What to change where `limit` binds.
#[must_use]
pub fn of(limit: Limit, ask: &Ask) -> Vec<Remedy> {
    match limit {
        Limit::Sndbuf => sndbuf(ask),
        Limit::Rwnd => rwnd(ask),
        Limit::RwndScale => rwnd_scale(ask),
        Limit::RwndReader => rwnd_reader(ask),
        Limit::CwndStartup => cwnd_startup(ask),
        Limit::CwndClamp => cwnd_clamp(ask),
        Limit::AppWindow => app_window(ask),
        Limit::Rcvbuf => rcvbuf(ask),
        Limit::Reader => reader(ask),
        Limit::Bandwidth => bandwidth(ask),
        Limit::Policer => policer(ask),
        Limit::Pacing => pacing(ask),
        Limit::Loss => loss(ask),
        Limit::MtuBlackhole => mtu_blackhole(ask),
        Limit::Stalled => stalled(ask),
        Limit::Turns => turns(ask),
        Limit::SmallWrites => small_writes(ask),
        Limit::Host => host(ask),
        // The program offers no more, or nothing is known: there is nothing to type.
        Limit::App | Limit::None | Limit::Unknown => Vec::new(),
    }
}
