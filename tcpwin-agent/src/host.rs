//! Facts of the host that verdicts need. Read only; what cannot be read is absent.

use std::path::Path;

pub use self::device::Device;
pub use self::ethtool::{Feature, Features};
pub use self::link::NetLink;
pub use self::listener::{Holder, Listener, Options, holders};
pub use self::namespace::{Growing, Namespace};
pub use self::netstat::{Netstat, Softnet, TcpMemory};
pub use self::nic::Nic;
pub use self::qdisc::{Bucket, Qdisc};
pub use self::route::{Edit, Metric, Metrics, Route};
pub use self::settings::Settings;
pub use self::softirq::CpuTimes;
pub use self::sysctl::{Sizes, Sysctl};

mod device;
mod ethtool;
mod interface;
mod link;
mod listener;
mod namespace;
mod netstat;
mod nic;
mod qdisc;
mod route;
mod rtnetlink;
pub mod settings;
mod softirq;
mod sysctl;

/// The host, as it was when asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Its name (`uname -n`).
    pub name: String,
    /// Kernel release (`uname -r`).
    pub kernel: String,
    /// TCP settings of the network namespace of the calling thread.
    pub sysctl: Sysctl,
}

impl Host {
    /// Asks the running system; cheap enough for once a minute.
    #[must_use]
    pub fn read() -> Self {
        let system = rustix::system::uname();
        Self {
            name: system.nodename().to_string_lossy().into_owned(),
            kernel: system.release().to_string_lossy().into_owned(),
            sysctl: Sysctl::read(Path::new("/proc/sys/net")),
        }
    }
}
