//! What the path of a connection can carry, as far as anybody knows.

use std::sync::Arc;

use crate::classify::Direction;
use crate::observation::Prefix;
use crate::units::BytesPerSec;

/// Factor beyond which what was seen of a path is disproved.
const DISPROVES: f64 = 1.05;

/// How a path's capacity is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathOrigin {
    /// The user says so.
    Configured,
    /// That much was delivered while the path was full.
    Seen,
    /// The network interface takes no more.
    Nic,
}

/// What a path can carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathCapacity {
    /// How much.
    pub rate: BytesPerSec,
    /// How that is known.
    pub origin: PathOrigin,
}

impl PathCapacity {
    /// Where the figure comes from, in words.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self.origin {
            PathOrigin::Configured => "the path's bandwidth as configured",
            PathOrigin::Seen => "the most that was delivered to this peer while its path was full",
            PathOrigin::Nic => "the speed of the network interface",
        }
    }
}

/// A network interface with a speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: Arc<str>,
    /// Its speed.
    pub rate: BytesPerSec,
}

/// All that is known of the path of one connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// What the user says of the longest prefix that the peer is in; of the peer's own where it is said of all.
    pub configured: Option<(Prefix, BytesPerSec)>,
    /// The most that was delivered to the peer's address while the path was full.
    pub seen: Option<BytesPerSec>,
    /// The most that was delivered to several addresses around it together.
    pub seen_around: Option<BytesPerSec>,
    /// The interface that has the local address.
    pub link: Option<Link>,
}

impl Path {
    /// What it can carry: what the user says, else what was seen, else the interface, and never more than that. A connection that
    /// makes more than what was seen disproves it.
    #[must_use]
    pub fn capacity(&self, direction: Direction, rate: BytesPerSec) -> Option<PathCapacity> {
        // What was seen was sent: the way back may be another.
        let seen = self
            .seen
            .or(self.seen_around)
            .filter(|seen| direction == Direction::Send && rate.0 <= seen.0 * DISPROVES)
            .map(|rate| (rate, PathOrigin::Seen));
        let known = self
            .configured
            .map(|(_, rate)| (rate, PathOrigin::Configured))
            .or(seen);
        let link = self.link.as_ref().map(|link| (link.rate, PathOrigin::Nic));
        let (rate, origin) = match (known, link) {
            (Some(known), Some(link)) if link.0 < known.0 => link,
            (known, link) => known.or(link)?,
        };
        (rate.0.is_finite() && rate.0 > 0.0).then_some(PathCapacity { rate, origin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(path: &Path, direction: Direction) -> Option<(f64, PathOrigin)> {
        path.capacity(direction, BytesPerSec(6.0))
            .map(|capacity| (capacity.rate.0, capacity.origin))
    }

    #[test]
    fn the_user_knows_best_and_the_interface_bounds_all() {
        let mut path = Path::default();
        assert_eq!(rate(&path, Direction::Send), None);
        path.seen_around = Some(BytesPerSec(5.0));
        path.seen = Some(BytesPerSec(7.0));
        assert_eq!(rate(&path, Direction::Send), Some((7.0, PathOrigin::Seen)));
        assert_eq!(rate(&path, Direction::Receive), None);
        path.seen = Some(BytesPerSec(5.0));
        assert_eq!(rate(&path, Direction::Send), None, "it makes more");
        path.configured = Some(("203.0.113.0/24".parse().unwrap(), BytesPerSec(20.0)));
        assert_eq!(
            rate(&path, Direction::Receive),
            Some((20.0, PathOrigin::Configured))
        );
        path.link = Some(Link {
            name: "eth0".into(),
            rate: BytesPerSec(10.0),
        });
        assert_eq!(rate(&path, Direction::Send), Some((10.0, PathOrigin::Nic)));
    }
}
