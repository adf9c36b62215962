//! The network interfaces that have a speed, and their addresses.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::interface::Interface;

/// A piece of hardware with a speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// Its speed, bits per second.
    pub speed_bps: f64,
    /// Addresses on it.
    pub addresses: Vec<IpAddr>,
}

impl Nic {
    /// Those of the calling thread's network namespace that drive a device: TUN, veth and bridges report made-up speeds.
    #[must_use]
    pub fn read() -> Vec<Self> {
        Self::of(Path::new("/sys/class/net"), &Interface::all())
    }

    /// Of these interfaces, by what stands below `class`.
    fn of(class: &Path, interfaces: &[Interface]) -> Vec<Self> {
        let nic = |interface: &Interface| {
            let folder = class.join(&interface.name);
            let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
            // sysfs shows the namespace it was mounted in, which need not be the thread's.
            let is_same = text("address").is_some_and(|mac| Some(mac.trim()) == interface.mac.as_deref());
            if !is_same || !folder.join("device").exists() {
                return None;
            }
            // Not readable while the link is down; -1 where the driver does not know.
            let mbit: f64 = text("speed")?.trim().parse().ok()?;
            (mbit > 0.0 && !interface.addresses.is_empty()).then(|| Self {
                name: interface.name.clone(),
                speed_bps: mbit * 1e6,
                addresses: interface.addresses.clone(),
            })
        };
        interfaces.iter().filter_map(nic).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hardware_of_this_namespace_with_a_speed_counts() {
        let class = tempfile::tempdir().unwrap();
        let interface = |name: &str, mac: &str, speed: Option<&str>, device: bool| {
            let folder = class.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("address"), "02:00:00:00:00:01\n").unwrap();
            if let Some(speed) = speed {
                fs::write(folder.join("speed"), speed).unwrap();
            }
            if device {
                fs::create_dir_all(folder.join("device")).unwrap();
            }
            Interface {
                name: name.to_owned(),
                mac: Some(mac.to_owned()),
                addresses: vec!["192.0.2.1".parse().unwrap()],
            }
        };
        let ours = "02:00:00:00:00:01";
        let interfaces = [
            interface("eth0", ours, Some("10000\n"), true),
            interface("eth1", "02:00:00:00:00:02", Some("10000\n"), true),
            interface("down0", ours, None, true),
            interface("virtio0", ours, Some("-1\n"), true),
            interface("tun0", ours, Some("10\n"), false),
        ];
        let nics = Nic::of(class.path(), &interfaces);
        assert_eq!(nics.len(), 1, "{nics:?}");
        assert_eq!((nics[0].name.as_str(), nics[0].speed_bps), ("eth0", 1e10));
    }
}
