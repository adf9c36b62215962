//! Other addresses in place of those of the host and its peers.
//!
//! Each bit of an address is turned, or not, by a keyed hash of the bits before it (as Crypto-PAn does): two addresses
//! that share a prefix share one of the same length afterwards, so that verdicts, which look at prefixes, stay the same.
//! The key is drawn at random and never written. Loopback and unspecified addresses stay what they are: a connection
//! that does not leave the host is judged otherwise.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::header::About;
use super::input::Input;
use crate::observation::{Endpoints, Observation};
use crate::source::Update;

/// Addresses remembered; worked out anew beyond it.
const REMEMBERED: usize = 65_536;
/// In place of the host's name.
const HOST: &str = "anonymised";

/// Turns addresses into others, always the same for the same one.
#[derive(Debug)]
pub struct Mask {
    /// SipHash with a key of its own.
    key: RandomState,
    known: HashMap<IpAddr, IpAddr>,
}

impl Default for Mask {
    fn default() -> Self {
        Self::random()
    }
}

impl Mask {
    /// With a new key.
    #[must_use]
    pub fn random() -> Self {
        Self {
            key: RandomState::new(),
            known: HashMap::new(),
        }
    }

    /// Without the host's name; prefixes turned as addresses are.
    #[must_use]
    pub fn about(&self, mut about: About) -> About {
        HOST.clone_into(&mut about.host);
        for (prefix, _) in &mut about.paths {
            if let Some((address, _)) = prefix {
                *address = self.turned(*address);
            }
        }
        about.anonymised = true;
        about
    }

    /// With other addresses. Names of processes and cgroups stay: verdicts and remedies speak of them.
    #[must_use]
    pub fn input(&mut self, mut input: Input) -> Input {
        match &mut input {
            Input::Update(update) => match &mut **update {
                Update::Observed(observation) | Update::Closed(observation) => self.observation(observation),
                Update::Vanished { .. }
                | Update::Retransmit { .. }
                | Update::CwndFall { .. }
                | Update::Reset { .. } => {}
            },
            Input::Kept(kept) => self.observation(&mut kept.last),
            Input::Links { nics, .. } => {
                for address in nics.iter_mut().flat_map(|nic| &mut nic.addresses) {
                    *address = self.address(*address);
                }
            }
            Input::Owner { .. }
            | Input::Tick { .. }
            | Input::Settings { .. }
            | Input::Hooks(_)
            | Input::Losses(_)
            | Input::Facts(_)
            | Input::Laid(_)
            | Input::Resume(_) => {}
        }
        input
    }

    fn observation(&mut self, observation: &mut Observation) {
        let Endpoints { local, peer } = observation.endpoints;
        let mut end = |end: SocketAddr| SocketAddr::new(self.address(end.ip()), end.port());
        observation.endpoints = Endpoints {
            local: end(local),
            peer: end(peer),
        };
    }

    fn address(&mut self, address: IpAddr) -> IpAddr {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let other = self.turned(address);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(address, other);
        other
    }

    fn turned(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(v4) => {
                let bits = self.bits(u128::from(v4.to_bits()) << 96, 32, 127 << 120, 8);
                IpAddr::V4(Ipv4Addr::from_bits((bits >> 96) as u32))
            }
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(self.bits(v6.to_bits(), 128, 0, 127))),
        }
    }

    /// The first `length` bits turned. Those that lead to the first `fixed` bits of `kept` are not: what is there stays, and
    /// nothing else gets there.
    fn bits(&self, address: u128, length: u32, kept: u128, fixed: u32) -> u128 {
        let first = |bits: u128, count: u32| bits.checked_shr(128 - count).unwrap_or(0);
        if first(address, fixed) == first(kept, fixed) {
            return address;
        }
        let mut turned = address;
        for at in 0..length {
            let before = first(address, at);
            let leads_there = at < fixed && before == first(kept, at);
            if !leads_there && self.key.hash_one((length, at, before)) & 1 == 1 {
                turned ^= 1 << (127 - at);
            }
        }
        turned
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn common(a: IpAddr, b: IpAddr) -> u32 {
        match (a, b) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn what_shares_a_prefix_shares_one_as_long(a in any::<u32>(), b in any::<u32>(), c in any::<u128>(), d in any::<u128>(), near in 0u32..128) {
            let mask = Mask::random();
            let v4 = |bits| IpAddr::V4(Ipv4Addr::from_bits(bits));
            let v6 = |bits| IpAddr::V6(Ipv6Addr::from_bits(bits));
            for (one, other) in [(v4(a), v4(b)), (v4(a), v4(a ^ b.checked_shr(near).unwrap_or(0))), (v6(c), v6(d)), (v6(c), v6(c ^ (d >> near)))] {
                let turned = common(mask.turned(one), mask.turned(other));
                prop_assert_eq!(turned, common(one, other));
                prop_assert_eq!(mask.turned(one).is_loopback(), one.is_loopback());
            }
        }
    }

    #[test]
    fn loopback_stays_and_others_do_not() {
        let mut mask = Mask::random();
        for here in ["127.0.0.1", "127.83.1.9", "::1", "::"] {
            let here: IpAddr = here.parse().unwrap();
            assert_eq!(mask.address(here), here);
        }
        let others: Vec<IpAddr> = (0..64).map(|at| IpAddr::from([203, 0, 113, at])).collect();
        assert!(others.iter().any(|address| mask.address(*address) != *address));
        assert_eq!(mask.address(others[5]), mask.turned(others[5]));
    }
}
