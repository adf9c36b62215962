//! The network interfaces of the calling thread's namespace: kind, size, queue, offloads.

use std::collections::HashMap;
use std::io;

use super::ethtool::{self, Features};
use super::qdisc::Qdisc;
use super::rtnetlink::{attribute, attributes, dump, text, u32_at};

const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
/// `struct ifinfomsg`.
const IFINFOMSG: usize = 16;
const IFF_UP: u32 = 1;
const IFF_LOOPBACK: u32 = 8;

const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;

/// Interfaces whose offloads are asked for: a host of containers has thousands.
const MOST: usize = 64;

/// An interface that is up, but loopback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetLink {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// `veth`, `bridge`, `tun` …; absent of hardware.
    pub kind: Option<String>,
    /// Largest packet, bytes.
    pub mtu: u32,
    /// Packets that its default queue holds.
    pub queue_packets: u32,
    /// Speed of hardware, where its driver knows it; Mbit/s.
    pub speed_mbit: Option<u32>,
    /// Its root queueing discipline; absent without a queue.
    pub qdisc: Option<Qdisc>,
    /// What it can take off the CPU, and what of it is on.
    pub features: Features,
}

impl NetLink {
    /// All there are.
    ///
    /// # Errors
    /// When the kernel refuses the question.
    pub fn read() -> io::Result<Vec<Self>> {
        let mut links = Vec::new();
        dump(RTM_GETLINK, &[0; IFINFOMSG], RTM_NEWLINK, &mut |payload| {
            links.extend(Self::of(payload));
        })?;
        // A kernel without CONFIG_NET_SCHED has none.
        let mut qdiscs: HashMap<u32, Qdisc> = Qdisc::read().unwrap_or_default();
        for link in links.iter_mut().take(MOST) {
            link.qdisc = qdiscs.remove(&link.index);
            link.features = Features::read(&link.name).unwrap_or_default();
            if link.kind.is_none() {
                link.speed_mbit = ethtool::speed(&link.name).ok().flatten();
            }
        }
        Ok(links)
    }

    fn of(payload: &[u8]) -> Option<Self> {
        let flags = u32_at(payload, 8)?;
        if flags & IFF_UP == 0 || flags & IFF_LOOPBACK != 0 {
            return None;
        }
        let mut link = Self {
            index: u32_at(payload, 4)?,
            ..Self::default()
        };
        for (kind, value) in attributes(payload.get(IFINFOMSG..)?) {
            match kind {
                IFLA_IFNAME => link.name = text(value),
                IFLA_MTU => link.mtu = u32_at(value, 0)?,
                IFLA_TXQLEN => link.queue_packets = u32_at(value, 0)?,
                IFLA_LINKINFO => link.kind = attribute(value, IFLA_INFO_KIND).map(text),
                _ => {}
            }
        }
        Some(link)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rtnetlink::made;
    use super::*;

    #[test]
    fn kinds_and_sizes_are_told() {
        let mut payload = vec![0; IFINFOMSG];
        payload[4] = 3;
        payload[8] = IFF_UP as u8;
        payload.extend(made::attribute(IFLA_IFNAME, b"veth7\0"));
        payload.extend(made::attribute(IFLA_MTU, &1500u32.to_ne_bytes()));
        let info = made::attribute(IFLA_INFO_KIND, b"veth\0");
        payload.extend(made::attribute(IFLA_LINKINFO, &info));
        let link = NetLink::of(&payload).unwrap();
        assert_eq!(
            (link.name.as_str(), link.kind.as_deref(), link.mtu, link.index),
            ("veth7", Some("veth"), 1500, 3)
        );
        for len in 0..payload.len() {
            let _ = NetLink::of(&payload[..len]);
        }
        payload[8] |= IFF_LOOPBACK as u8;
        assert_eq!(NetLink::of(&payload), None);
    }

    #[test]
    fn the_running_kernel_answers() {
        assert!(NetLink::read().unwrap().iter().all(|link| link.mtu > 0));
    }
}
