//! What flows deliver to a peer together, and if that is all its path can carry.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::Flow;
use crate::classify::Direction;
use crate::observation::Prefix;
use crate::units::BytesPerSec;

/// What the flows to a prefix delivered together in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Network namespace.
    pub netns: u32,
    /// An address, or those around it.
    pub prefix: Prefix,
    /// How much.
    pub rate: BytesPerSec,
    /// One of them was held by the path: of a prefix, flows to two of its addresses, since each may have a path of its own.
    pub is_full: bool,
}

/// What was sent, by address and by prefix.
#[must_use]
pub fn sums(flows: &[Flow]) -> Vec<Sum> {
    // In order, so that equal flows give equal sums to the last bit.
    let mut hosts = BTreeMap::<(u32, IpAddr), (f64, bool)>::new();
    for flow in flows.iter().filter(|flow| flow.direction == Direction::Send) {
        let host = hosts.entry((flow.key.netns, flow.peer)).or_default();
        host.0 += flow.delivered.0;
        host.1 |= flow.fills_path();
    }
    let mut prefixes = BTreeMap::<(u32, Prefix), (f64, u32)>::new();
    for ((netns, peer), (rate, full)) in &hosts {
        let prefix = prefixes.entry((*netns, Prefix::around(*peer))).or_default();
        prefix.0 += rate;
        prefix.1 += u32::from(*full);
    }
    let sum = |netns, prefix, rate, is_full| Sum {
        netns,
        prefix,
        rate: BytesPerSec(rate),
        is_full,
    };
    let hosts = hosts
        .into_iter()
        .map(|((netns, peer), (rate, full))| sum(netns, Prefix::host(peer), rate, full));
    let prefixes = prefixes
        .into_iter()
        .map(|((netns, prefix), (rate, full))| sum(netns, prefix, rate, full >= 2));
    hosts.chain(prefixes).collect()
}
