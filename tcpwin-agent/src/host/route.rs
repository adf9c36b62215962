//! The routes of the calling thread's network namespace with every metric, over rtnetlink.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::interface;
use super::rtnetlink::{attributes, dump, u8_at, u32_at};

mod metric;

pub use metric::{Edit, Metric, Metrics};

const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const AF_INET6: u8 = 10;
/// `struct rtmsg`.
const RTMSG: usize = 12;
const RTN_UNICAST: u8 = 1;
const RT_TABLE_MAIN: u32 = 254;
const RTM_F_CLONED: u32 = 0x200;

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTA_TABLE: u16 = 15;
const RTA_CACHEINFO: u16 = 12;
const RTA_PREF: u16 = 20;

/// `RTNH_F_ONLINK`, the one flag of a next hop that a user sets.
const ONLINK: u32 = 4;

/// A unicast route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The address it begins at.
    pub destination: IpAddr,
    /// How many leading bits of it count.
    pub bits: u8,
    /// The interface it goes out at.
    pub device: Option<String>,
    /// Its metrics: windows, sizes and times of the connections on it.
    pub metrics: Metrics,
    /// All else, as `ip route` writes it before and after the metrics.
    words: String,
    /// It has several next hops or an encapsulation, which [`Route::words`] does not tell.
    is_beyond_words: bool,
}

impl Route {
    /// All that carry packets to somewhere: those of the tables `main` and others, but not `local`.
    ///
    /// # Errors
    /// When the kernel refuses the question.
    pub fn read() -> io::Result<Vec<Self>> {
        let mut routes = Vec::new();
        dump(RTM_GETROUTE, &[0; RTMSG], RTM_NEWROUTE, &mut |payload| {
            routes.extend(Self::of(payload, &interface::name));
        })?;
        Ok(routes)
    }

    /// One without metrics or gateway, for tests.
    #[cfg(test)]
    pub(crate) fn plain(destination: IpAddr, bits: u8, device: &str) -> Self {
        Self {
            destination,
            bits,
            device: Some(device.to_owned()),
            metrics: Metrics::default(),
            words: format!("{destination}/{bits} dev {device}"),
            is_beyond_words: false,
        }
    }

    fn of(payload: &[u8], name: &dyn Fn(u32) -> Option<String>) -> Option<Self> {
        let family = u8_at(payload, 0)?;
        let is_v6 = family == AF_INET6;
        let (bits, tos, small_table) = (u8_at(payload, 1)?, u8_at(payload, 3)?, u8_at(payload, 4)?);
        let (protocol, scope, kind) = (u8_at(payload, 5)?, u8_at(payload, 6)?, u8_at(payload, 7)?);
        let flags = u32_at(payload, 8)?;
        if kind != RTN_UNICAST || flags & RTM_F_CLONED != 0 {
            return None;
        }
        let mut route = Self {
            destination: if is_v6 {
                Ipv6Addr::UNSPECIFIED.into()
            } else {
                Ipv4Addr::UNSPECIFIED.into()
            },
            bits,
            device: None,
            metrics: Metrics::default(),
            words: String::new(),
            is_beyond_words: tos != 0,
        };
        let (mut gateway, mut source, mut priority, mut table) = (None, None, None, u32::from(small_table));
        for (kind, value) in attributes(payload.get(RTMSG..)?) {
            match kind {
                RTA_DST => route.destination = address(value)?,
                RTA_OIF => route.device = name(u32_at(value, 0)?),
                RTA_GATEWAY => gateway = Some(address(value)?),
                RTA_PREFSRC => source = Some(address(value)?),
                RTA_PRIORITY => priority = u32_at(value, 0),
                RTA_METRICS => route.metrics = Metrics::of(value),
                RTA_TABLE => table = u32_at(value, 0)?,
                RTA_CACHEINFO | RTA_PREF => {}
                // RTA_MULTIPATH, RTA_ENCAP, RTA_VIA, RTA_NH_ID …
                _ => route.is_beyond_words = true,
            }
        }
        let mut words = match (bits, is_v6) {
            (0, _) => "default".to_owned(),
            _ => format!("{}/{bits}", route.destination),
        };
        let mut push = |word: &str, value: String| {
            words.push(' ');
            words.push_str(word);
            words.push(' ');
            words.push_str(&value);
        };
        if let Some(gateway) = gateway {
            push("via", gateway.to_string());
        }
        if let Some(device) = &route.device {
            push("dev", device.clone());
        }
        if table != RT_TABLE_MAIN {
            push("table", table.to_string());
        }
        push("proto", protocol.to_string());
        // Universe is the default of a route with a gateway only.
        if !is_v6 && (scope != 0 || gateway.is_none()) {
            push("scope", scope.to_string());
        }
        if let Some(source) = source {
            push("src", source.to_string());
        }
        if let Some(priority) = priority {
            push("metric", priority.to_string());
        }
        if flags & ONLINK != 0 {
            words.push_str(" onlink");
        }
        route.words = words;
        Some(route)
    }

    /// The route as `ip route change` takes it back; `None` of one that it would not give back whole.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        (!self.is_beyond_words).then(|| format!("{}{}", self.words, self.metrics))
    }

    /// Where it leads, for people.
    #[must_use]
    pub fn name(&self) -> String {
        let device = self
            .device
            .as_ref()
            .map_or_else(String::new, |device| format!(" dev {device}"));
        match self.bits {
            0 if self.destination.is_ipv6() => format!("-6 default{device}"),
            0 => format!("default{device}"),
            bits => format!("{}/{bits}{device}", self.destination),
        }
    }

    /// The same route with one metric edited.
    #[must_use]
    pub fn with(&self, metric: Metric, edit: Edit) -> Self {
        Self {
            metrics: self.metrics.with(metric, edit),
            ..self.clone()
        }
    }

    /// The command that makes the route to its destination this one, nothing left out.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let family = if self.destination.is_ipv6() { " -6" } else { "" };
        Some(format!("ip{family} route change {}", self.text()?))
    }

    /// If packets to `peer` may take it: it is the longest of these that does.
    #[must_use]
    pub fn leads_to(&self, peer: IpAddr) -> bool {
        match (self.destination, peer) {
            (IpAddr::V4(to), IpAddr::V4(peer)) => {
                let shift = 32u32.saturating_sub(self.bits.into());
                (to.to_bits() ^ peer.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V6(to), IpAddr::V6(peer)) => {
                let shift = 128u32.saturating_sub(self.bits.into());
                (to.to_bits() ^ peer.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rtnetlink::made;
    use super::*;

    fn payload(more: &[Vec<u8>]) -> Vec<u8> {
        // AF_INET, /24, main, boot, universe, unicast.
        let mut bytes = vec![2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
        bytes.extend(made::attribute(RTA_DST, &[192, 0, 2, 0]));
        bytes.extend(made::attribute(RTA_GATEWAY, &[10, 0, 0, 1]));
        bytes.extend(made::attribute(RTA_OIF, &7u32.to_ne_bytes()));
        bytes.extend(made::attribute(RTA_PRIORITY, &100u32.to_ne_bytes()));
        bytes.extend(more.concat());
        bytes
    }

    fn name(index: u32) -> Option<String> {
        Some(format!("eth{index}"))
    }

    #[test]
    fn a_change_repeats_the_whole_route() {
        let metrics = [
            made::attribute(1, &(1u32 << 7).to_ne_bytes()),
            made::attribute(7, &20u32.to_ne_bytes()),
            made::attribute(11, &4u32.to_ne_bytes()),
        ]
        .concat();
        let route = Route::of(&payload(&[made::attribute(RTA_METRICS, &metrics)]), &name).unwrap();
        assert_eq!(
            route.text().unwrap(),
            "192.0.2.0/24 via 10.0.0.1 dev eth7 proto 3 metric 100 cwnd lock 20 initcwnd 4"
        );
        assert_eq!(
            route.with(Metric::Cwnd, Edit::Drop).command().unwrap(),
            "ip route change 192.0.2.0/24 via 10.0.0.1 dev eth7 proto 3 metric 100 initcwnd 4"
        );
        assert!(route.leads_to("192.0.2.200".parse().unwrap()));
        assert!(!route.leads_to("192.0.3.1".parse().unwrap()));
        assert!(!route.leads_to("2001:db8::1".parse().unwrap()));
    }

    #[test]
    fn a_route_with_several_hops_is_not_written_as_one() {
        let route = Route::of(&payload(&[made::attribute(9, &[0; 8])]), &name).unwrap();
        assert_eq!(route.text(), None);
        assert_eq!(route.command(), None);
    }

    #[test]
    fn what_is_cut_is_no_panic() {
        let whole = payload(&[made::attribute(RTA_METRICS, &made::attribute(16, b"bbr\0"))]);
        for len in 0..whole.len() {
            let _ = Route::of(&whole[..len], &name);
        }
    }

    #[test]
    fn a_default_route_leads_everywhere() {
        let mut bytes = vec![2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
        bytes.extend(made::attribute(RTA_OIF, &1u32.to_ne_bytes()));
        let route = Route::of(&bytes, &name).unwrap();
        assert!(route.leads_to("203.0.113.9".parse().unwrap()));
        assert_eq!(route.text().unwrap(), "default dev eth1 proto 3 scope 0");
    }

    #[test]
    fn the_running_kernel_answers() {
        Route::read().unwrap();
    }
}
