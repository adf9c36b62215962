//! The host's counters as the snapshot has them.

use std::path::Path;

use procfs::{Current as _, Uptime};

use crate::host::{Device, Netstat, Nic, Softnet, Sysctl, TcpMemory};
use crate::snapshot::{FastOpenCounts, HostFacts, Interface, MemoryPressure};

/// As they are now; what takes two looks is left out.
pub(super) fn read(nics: &[Nic]) -> HostFacts {
    let netstat = Netstat::read();
    let softnet = Softnet::read();
    let sysctl = Sysctl::read(Path::new("/proc/sys/net"));
    HostFacts {
        uptime_s: Uptime::current().ok().map(|uptime| uptime.uptime as u64),
        fastopen: fastopen(&netstat),
        listen_overflows: netstat.tcp_ext("ListenOverflows"),
        listen_drops: netstat.tcp_ext("ListenDrops"),
        windows_closed: netstat.tcp_ext("TCPToZeroWindowAdv"),
        zero_window_drops: netstat.tcp_ext("TCPZeroWindowDrop"),
        memory_pressures: netstat.tcp_ext("TCPMemoryPressures"),
        memory: TcpMemory::read().map(|memory| MemoryPressure {
            used_bytes: memory.used,
            pressure_bytes: memory.pressure,
            limit_bytes: memory.limit,
        }),
        softnet_dropped: softnet.map(|softnet| softnet.dropped),
        softnet_squeezed: softnet.map(|softnet| softnet.squeezed),
        congestion: sysctl.congestion_control,
        default_qdisc: sysctl.default_qdisc,
        interfaces: Device::read(nics).into_iter().map(interface).collect(),
        ..HostFacts::default()
    }
}

fn fastopen(netstat: &Netstat) -> Option<FastOpenCounts> {
    Some(FastOpenCounts {
        active: netstat.tcp_ext("TCPFastOpenActive")?,
        active_failed: netstat.tcp_ext("TCPFastOpenActiveFail")?,
        passive: netstat.tcp_ext("TCPFastOpenPassive")?,
        passive_failed: netstat.tcp_ext("TCPFastOpenPassiveFail")?,
        listen_overflows: netstat.tcp_ext("TCPFastOpenListenOverflow")?,
        cookies_requested: netstat.tcp_ext("TCPFastOpenCookieReqd")?,
        blackholes: netstat.tcp_ext("TCPFastOpenBlackhole")?,
    })
}

fn interface(device: Device) -> Interface {
    Interface {
        name: device.name,
        speed_bps: device.speed_bps.map(|speed| speed as u64),
        qdisc: device.qdisc,
        receive_dropped: device.receive_dropped,
        transmit_dropped: device.transmit_dropped,
    }
}
