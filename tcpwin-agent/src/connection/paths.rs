//! What the paths to the peers can carry: as configured, as seen, and as the network interfaces allow.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::classify::group::Sum;
use crate::classify::{Link, Path};
use crate::host::Nic;
use crate::observation::Prefix;
use crate::units::{BytesPerSec, Instant, Nanos};

/// Prefixes and addresses remembered.
const KEPT: usize = 4_096;

/// How long what was seen is believed: paths change.
const BELIEVED: Nanos = Nanos(600_000_000_000);

/// Part of the best sum that confirms it.
const CONFIRMS: f64 = 0.9;

/// Factor from which on a sum that did not fill the path disproves it: there was less while others had a part in it.
const DISPROVES: f64 = 1.05;

/// What was delivered to a prefix while its path was full.
#[derive(Clone, Copy, Debug)]
struct Seen {
    best: f64,
    /// When it was last reached.
    reached: Instant,
    /// The last sum.
    last: Sum,
    /// When that was.
    at: Instant,
}

/// What is known of all paths.
#[derive(Debug, Default)]
pub struct Paths {
    /// The longest prefix first; what holds for all comes last.
    configured: Vec<(Option<Prefix>, BytesPerSec)>,
    /// The network namespace that `addresses` are of.
    own: u32,
    addresses: HashMap<IpAddr, Link>,
    seen: HashMap<(u32, Prefix), Seen>,
}

impl Paths {
    /// With what the user says.
    #[must_use]
    pub fn new(configured: impl IntoIterator<Item = (Option<Prefix>, BytesPerSec)>) -> Self {
        let mut configured: Vec<_> = configured.into_iter().collect();
        // Of two that are equal the last one said wins.
        configured.reverse();
        configured.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.map(Prefix::bits)));
        Self {
            configured,
            ..Self::default()
        }
    }

    /// The interfaces of the agent's own namespace as they are now.
    pub fn set_links(&mut self, own: u32, nics: &[Nic]) {
        self.own = own;
        self.addresses.clear();
        for nic in nics {
            let link = Link {
                name: Arc::from(nic.name.as_str()),
                rate: BytesPerSec(nic.speed_bps / 8.0),
            };
            let addresses = nic.addresses.iter().map(|address| address.to_canonical());
            self.addresses
                .extend(addresses.map(|address| (address, link.clone())));
        }
    }

    /// What is known at `now` of the path between two addresses.
    pub(super) fn of(&self, netns: u32, local: IpAddr, peer: IpAddr, now: Instant) -> Path {
        // What does not leave the host has no path.
        let stays =
            peer.is_loopback() || peer == local || (netns == self.own && self.addresses.contains_key(&peer));
        if stays {
            return Path::default();
        }
        let configured = self
            .configured
            .iter()
            .find(|(prefix, _)| prefix.is_none_or(|prefix| prefix.contains(peer)))
            .map(|(prefix, rate)| (prefix.unwrap_or_else(|| Prefix::around(peer)), *rate));
        let seen = |prefix| {
            let seen = self.seen.get(&(netns, prefix))?;
            let believed = seen.best > 0.0 && now.since(seen.reached) <= BELIEVED;
            believed.then_some(BytesPerSec(seen.best))
        };
        let link = self.addresses.get(&local).filter(|_| netns == self.own);
        Path {
            configured,
            seen: seen(Prefix::host(peer)),
            seen_around: seen(Prefix::around(peer)),
            link: link.cloned(),
        }
    }

    /// If nothing was seen of any path.
    pub(super) fn has_seen_none(&self) -> bool {
        self.seen.is_empty()
    }

    /// What flows delivered together in the interval that ends at `now`. `last` is when the interval before ended: what only one of
    /// them delivered may hold bytes that came before and were acknowledged late.
    pub(super) fn note(&mut self, sum: Sum, last: Instant, now: Instant) {
        let key = (sum.netns, sum.prefix);
        let Some(seen) = self.seen.get_mut(&key) else {
            if sum.is_full {
                self.meet(key, sum, now);
            }
            return;
        };
        let runs = seen.at == last;
        let held = if runs {
            sum.rate.0.min(seen.last.rate.0)
        } else {
            0.0
        };
        if !sum.is_full {
            if held > seen.best * DISPROVES {
                self.seen.remove(&key);
                return;
            }
        } else if seen.last.is_full {
            if held >= seen.best || now.since(seen.reached) > BELIEVED {
                seen.best = held;
                seen.reached = now;
            } else if held >= seen.best * CONFIRMS {
                seen.reached = now;
            }
        }
        seen.last = sum;
        seen.at = now;
    }

    fn meet(&mut self, key: (u32, Prefix), sum: Sum, now: Instant) {
        if self.seen.len() >= KEPT {
            self.forget_oldest();
        }
        let seen = Seen {
            best: 0.0,
            reached: now,
            last: sum,
            at: now,
        };
        self.seen.insert(key, seen);
    }

    /// A sixteenth at a time, since it costs a walk.
    fn forget_oldest(&mut self) {
        let mut ages: Vec<_> = self.seen.iter().map(|(key, seen)| (seen.at, *key)).collect();
        let count = KEPT / 16;
        ages.select_nth_unstable(count);
        for (_, key) in &ages[..count] {
            self.seen.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Direction, PathOrigin};

    const SECOND: u64 = 1_000_000_000;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn seen(paths: &Paths, peer: &str, second: u64) -> Option<f64> {
        let path = paths.of(1, address("192.0.2.1"), address(peer), Instant(second * SECOND));
        path.seen.map(|rate| rate.0)
    }

    fn note(paths: &mut Paths, peer: &str, second: u64, rate: f64) {
        note_sum(paths, peer, second, rate, true);
    }

    fn note_sum(paths: &mut Paths, peer: &str, second: u64, rate: f64, is_full: bool) {
        let at = |second: u64| Instant(second * SECOND);
        let sum = Sum {
            netns: 1,
            prefix: Prefix::host(address(peer)),
            rate: BytesPerSec(rate),
            is_full,
        };
        paths.note(sum, at(second - 1), at(second));
    }

    #[test]
    fn more_than_that_without_a_full_path_disproves_it() {
        let mut paths = Paths::default();
        let peer = "203.0.113.9";
        note_sum(&mut paths, peer, 1, 100.0, false);
        assert!(paths.has_seen_none());
        for (second, rate) in [(2, 300.0), (3, 400.0)] {
            note(&mut paths, peer, second, rate);
        }
        assert_eq!(seen(&paths, peer, 3), Some(300.0));
        // What did not fill the path in between tells nothing of how much would.
        note_sum(&mut paths, peer, 4, 310.0, false);
        note(&mut paths, peer, 5, 400.0);
        assert_eq!(seen(&paths, peer, 5), Some(300.0));
        note_sum(&mut paths, peer, 6, 900.0, false);
        assert_eq!(seen(&paths, peer, 6), None);
    }

    #[test]
    fn what_two_intervals_running_deliver_is_believed_for_ten_minutes() {
        let mut paths = Paths::default();
        note(&mut paths, "203.0.113.9", 1, 900.0);
        assert_eq!(seen(&paths, "203.0.113.9", 1), None);
        note(&mut paths, "203.0.113.9", 2, 700.0);
        assert_eq!(seen(&paths, "203.0.113.9", 2), Some(700.0));
        assert_eq!(seen(&paths, "203.0.113.8", 2), None);
        // Not in the interval right before: it does not count with the next.
        note(&mut paths, "203.0.113.9", 9, 5_000.0);
        assert_eq!(seen(&paths, "203.0.113.9", 9), Some(700.0));
        assert_eq!(seen(&paths, "203.0.113.9", 602), Some(700.0));
        assert_eq!(seen(&paths, "203.0.113.9", 603), None);
        note(&mut paths, "203.0.113.9", 604, 300.0);
        note(&mut paths, "203.0.113.9", 605, 310.0);
        assert_eq!(seen(&paths, "203.0.113.9", 605), Some(300.0));
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_go_first() {
        let mut paths = Paths::default();
        for host in 0..6_000u32 {
            let peer = std::net::Ipv4Addr::from_bits(0x0a00_0000 + host).to_string();
            note(&mut paths, &peer, u64::from(host) + 1, 100.0);
        }
        assert!(paths.seen.len() <= KEPT);
        let newest = Prefix::host(address("10.0.23.111"));
        assert!(paths.seen.contains_key(&(1, newest)));
    }

    #[test]
    fn the_longest_prefix_wins_and_what_stays_on_the_host_has_no_path() {
        let gbit = |gbit: f64| BytesPerSec(gbit * 1.25e8);
        let mut paths = Paths::new([
            (None, gbit(1.0)),
            (Some("203.0.113.0/24".parse().unwrap()), gbit(5.0)),
            (Some("203.0.0.0/16".parse().unwrap()), gbit(2.0)),
        ]);
        paths.set_links(
            1,
            &[Nic {
                name: "eth0".to_owned(),
                speed_bps: 4e9,
                addresses: vec![address("192.0.2.1"), address("192.0.2.2")],
            }],
        );
        let capacity = |netns, peer| {
            let path = paths.of(netns, address("192.0.2.1"), address(peer), Instant(0));
            path.capacity(Direction::Send, BytesPerSec(0.0))
                .map(|capacity| (capacity.rate.bits() / 1e9, capacity.origin))
        };
        assert_eq!(capacity(1, "198.51.100.9"), Some((1.0, PathOrigin::Configured)));
        assert_eq!(capacity(1, "203.0.7.9"), Some((2.0, PathOrigin::Configured)));
        assert_eq!(capacity(1, "203.0.113.9"), Some((4.0, PathOrigin::Nic)));
        // The interface is not of that namespace.
        assert_eq!(capacity(2, "203.0.113.9"), Some((5.0, PathOrigin::Configured)));
        for here in ["127.0.0.1", "192.0.2.1", "192.0.2.2"] {
            assert_eq!(capacity(1, here), None, "{here}");
        }
    }
}
