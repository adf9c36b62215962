//! A quiet connection in the table: what was last seen of it, packed.
//!
//! Most connections of a busy host are idle, and an [`Observation`] is some 700 bytes of mostly small numbers: packed, it is a
//! quarter of that; a cause takes some ten bytes more. It is unpacked when something happens or somebody looks.

use std::sync::Arc;

use crate::connection::causes::Causes;
use crate::connection::entry::Ownership;
use crate::observation::Observation;
use crate::units::Instant;

/// A connection nothing happened on in the last interval.
#[derive(Clone, Debug)]
pub(super) struct Quiet {
    packed: Box<[u8]>,
    pub(super) owner: Option<Arc<Ownership>>,
}

impl Quiet {
    /// Packs what was last seen; `room` is reused from call to call. `None` if it cannot be packed, which no observation is
    /// known to do.
    pub(super) fn pack(
        last: &Observation,
        causes: &Causes,
        owner: Option<Arc<Ownership>>,
        room: &mut Vec<u8>,
    ) -> Option<Self> {
        room.clear();
        // Apart from the rest: it is looked at alone.
        room.extend_from_slice(&last.at.0.to_le_bytes());
        *room = postcard::to_extend(&(last, causes), std::mem::take(room)).ok()?;
        Some(Self {
            packed: room.as_slice().into(),
            owner,
        })
    }

    /// What was last seen, and what its life was spent on until then; `None` never, since [`Quiet::pack`] wrote it.
    pub(super) fn unpack(&self) -> Option<(Observation, Causes)> {
        postcard::from_bytes(self.packed.get(8..)?).ok()
    }

    /// When that was.
    pub(super) fn at(&self) -> Instant {
        let at = self.packed.first_chunk::<8>().copied().unwrap_or_default();
        Instant(u64::from_le_bytes(at))
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use proptest::prelude::*;

    use super::*;
    use crate::classify::Limit;
    use crate::observation::{
        BudgetTotals, CallCounts, Endpoints, FastOpen, Key, Origin, OwnerHint, Retransmits, Tcp, TcpState,
        Totals,
    };
    use crate::units::Nanos;

    fn observation(small: u32, large: u64, local: SocketAddr, name: Option<String>) -> Observation {
        Observation {
            key: Key {
                cookie: large,
                netns: small,
            },
            at: Instant(large),
            since: Instant(large / 2),
            origin: Origin::Accept,
            endpoints: Endpoints { local, peer: local },
            state: TcpState::CloseWait,
            owner: OwnerHint {
                pid: Some(small),
                name: name.clone().map(Into::into),
                cgroup_id: Some(large),
                inode: None,
            },
            tcp: Tcp {
                srtt_us: Some(small),
                snd_wscale: Some(14),
                wscale_ok: Some(true),
                pacing_rate: Some(large),
                congestion: name.map(Into::into),
                fastopen: Some(FastOpen::DataRefused),
                ..Tcp::default()
            },
            totals: Totals {
                bytes_acked: Some(large),
                retransmits_by_kind: Some(Retransmits {
                    fast: 1,
                    rto: small,
                    tlp: 3,
                }),
                chrono_us: Some([large, 0, 1]),
                ..Totals::default()
            },
            budget: Some(BudgetTotals {
                ns: [large, 1, 2, 3, 4, 5],
                flight: [0; 6],
            }),
            calls: Some(CallCounts {
                sends: large,
                ..CallCounts::default()
            }),
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(small in any::<u32>(), large in any::<u64>(), local in any::<SocketAddr>(), name in any::<Option<String>>()) {
            let local = match local {
                // Scope and flow are no part of an endpoint here.
                SocketAddr::V6(v6) => SocketAddr::from((*v6.ip(), v6.port())),
                v4 => v4,
            };
            let last = observation(small, large, local, name);
            let mut causes = Causes::default();
            causes.add(Limit::Rwnd, Nanos(large), large, Some(large));
            causes.add(Limit::None, Nanos(small.into()), 0, None);
            let quiet = Quiet::pack(&last, &causes, None, &mut Vec::new()).unwrap();
            prop_assert_eq!(quiet.at(), last.at);
            prop_assert_eq!(quiet.unpack(), Some((last, causes)));
        }
    }
}
