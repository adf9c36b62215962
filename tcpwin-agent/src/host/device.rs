//! Packets of network interfaces that were dropped, in the network namespace of the process.

use std::collections::HashMap;

use procfs::Current as _;
use procfs::net::{DeviceStatus, InterfaceDeviceStatus};

use super::interface;
use super::nic::Nic;
use super::qdisc::Qdisc;

/// Most interfaces told of: a host of containers has thousands.
const MOST: usize = 32;

/// An interface that has carried packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Speed of its link, where there is hardware that knows it; bits per second.
    pub speed_bps: Option<f64>,
    /// Its root queueing discipline; absent without a queue.
    pub qdisc: Option<String>,
    /// Received packets dropped.
    pub receive_dropped: u64,
    /// Packets dropped before they were sent, by its queueing discipline too.
    pub transmit_dropped: u64,
}

impl Device {
    /// Those there are, but loopback: hardware of these speeds first, then those that drop most.
    #[must_use]
    pub fn read(nics: &[Nic]) -> Vec<Self> {
        let Ok(InterfaceDeviceStatus(statuses)) = InterfaceDeviceStatus::current() else {
            return Vec::new();
        };
        // A kernel without CONFIG_NET_SCHED has none.
        let qdiscs = Qdisc::read().unwrap_or_default();
        let named = qdiscs.into_iter().filter_map(|(index, qdisc)| {
            let name = interface::name(index)?;
            Some((name, qdisc))
        });
        Self::of(&statuses, &named.collect(), nics)
    }

    fn of(
        statuses: &HashMap<String, DeviceStatus>,
        qdiscs: &HashMap<String, Qdisc>,
        nics: &[Nic],
    ) -> Vec<Self> {
        let carried = |status: &&DeviceStatus| status.recv_packets > 0 || status.sent_packets > 0;
        let device = |status: &DeviceStatus| {
            let qdisc = qdiscs.get(&status.name);
            let nic = nics.iter().find(|nic| nic.name == status.name);
            Self {
                name: status.name.clone(),
                speed_bps: nic.map(|nic| nic.speed_bps),
                qdisc: qdisc.map(|qdisc| qdisc.kind.clone()),
                receive_dropped: status.recv_drop,
                transmit_dropped: status.sent_drop + qdisc.map_or(0, |qdisc| qdisc.dropped),
            }
        };
        let mut devices: Vec<Self> = statuses
            .values()
            .filter(|status| status.name != "lo")
            .filter(carried)
            .map(device)
            .collect();
        let drops = |device: &Self| device.receive_dropped.max(device.transmit_dropped);
        devices.sort_by(|a, b| {
            let by_hardware = b.speed_bps.is_some().cmp(&a.speed_bps.is_some());
            by_hardware
                .then(drops(b).cmp(&drops(a)))
                .then_with(|| a.name.cmp(&b.name))
        });
        devices.truncate(MOST);
        devices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromRead as _;

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      10    0    5    0     0          0         0     1000      10    0    5    0     0       0          0
  eth0: 1000      10    0    1    0     0          0         0     1000      10    0    2    0     0       0          0
 veth7: 1000      10    0    0    0     0          0         0     1000      10    0    9    0     0       0          0
  tun0: 1000      10    0    0    0     0          0         0        0       0    0    0    0     0       0          0
 dummy:    0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
";

    #[test]
    fn hardware_first_and_drops_of_the_queue_are_counted() {
        let InterfaceDeviceStatus(statuses) = InterfaceDeviceStatus::from_read(DEV.as_bytes()).unwrap();
        let queue = Qdisc {
            kind: "fq_codel".to_owned(),
            dropped: 3,
            ..Qdisc::default()
        };
        let qdiscs = HashMap::from([("eth0".to_owned(), queue)]);
        let nic = Nic {
            name: "eth0".to_owned(),
            speed_bps: 1e10,
            addresses: Vec::new(),
        };
        let devices = Device::of(&statuses, &qdiscs, &[nic]);
        assert_eq!(
            devices[0],
            Device {
                name: "eth0".to_owned(),
                speed_bps: Some(1e10),
                qdisc: Some("fq_codel".to_owned()),
                receive_dropped: 1,
                transmit_dropped: 5,
            }
        );
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["eth0", "veth7", "tun0"]);
    }

    #[test]
    fn the_running_kernel_is_read() {
        assert!(Device::read(&[]).iter().all(|device| device.name != "lo"));
    }
}
