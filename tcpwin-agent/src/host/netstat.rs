//! Counters of the network stack: `/proc/net/netstat`, `/proc/net/sockstat` and `/proc/net/softnet_stat`.

use std::fs;

/// The counters that `nstat` shows, of the network namespace of the process.
#[derive(Clone, Debug, Default)]
pub struct Netstat(String);

impl Netstat {
    /// As they are now; none where they cannot be read.
    #[must_use]
    pub fn read() -> Self {
        Self(fs::read_to_string("/proc/net/netstat").unwrap_or_default())
    }

    /// The counter of this name in `TcpExt`; absent in kernels that do not count it.
    #[must_use]
    pub fn tcp_ext(&self, name: &str) -> Option<u64> {
        let mut lines = self.0.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
        let names = lines.next()?.split_ascii_whitespace();
        let mut values = lines.next()?.split_ascii_whitespace();
        let place = names.into_iter().position(|word| word == name)?;
        values.nth(place)?.parse().ok()
    }
}

/// Memory of all TCP sockets of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpMemory {
    /// In use, bytes.
    pub used: u64,
    /// Above it buffers stop growing (`net.ipv4.tcp_mem`'s second number), bytes.
    pub pressure: u64,
    /// Above it memory is refused (its third number), bytes.
    pub limit: u64,
}

impl TcpMemory {
    /// As it is now. Absent outside the initial network namespace, which has no `tcp_mem`.
    #[must_use]
    pub fn read() -> Option<Self> {
        let sockstat = fs::read_to_string("/proc/net/sockstat").ok()?;
        let tcp_mem = fs::read_to_string("/proc/sys/net/ipv4/tcp_mem").ok()?;
        Self::parse(&sockstat, &tcp_mem, procfs::page_size())
    }

    /// Both files count pages (`sk_memory_allocated`, `sysctl_tcp_mem`).
    fn parse(sockstat: &str, tcp_mem: &str, page: u64) -> Option<Self> {
        let mut tcp = sockstat
            .lines()
            .find_map(|line| line.strip_prefix("TCP:"))?
            .split_ascii_whitespace();
        tcp.find(|word| *word == "mem")?;
        let bytes = |word: &str| word.parse::<u64>().ok()?.checked_mul(page);
        let used = bytes(tcp.next()?)?;
        let mut sizes = tcp_mem.split_ascii_whitespace().skip(1);
        Some(Self {
            used,
            pressure: bytes(sizes.next()?)?,
            limit: bytes(sizes.next()?)?,
        })
    }
}

/// What the CPUs' receive queues could not take, since boot, all CPUs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softnet {
    /// Packets dropped since `net.core.netdev_max_backlog` was full.
    pub dropped: u64,
    /// Times there was more to do than `net.core.netdev_budget` allows at once.
    pub squeezed: u64,
}

impl Softnet {
    /// As it is now.
    #[must_use]
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/net/softnet_stat").ok()?)
    }

    /// A line a CPU that is online; hexadecimal: processed, dropped, time_squeeze, … (`softnet_seq_show`).
    fn parse(text: &str) -> Option<Self> {
        let mut sum = Self {
            dropped: 0,
            squeezed: 0,
        };
        for line in text.lines() {
            let mut words = line
                .split_ascii_whitespace()
                .skip(1)
                .map(|word| u64::from_str_radix(word, 16));
            sum.dropped += words.next()?.ok()?;
            sum.squeezed += words.next()?.ok()?;
        }
        (!text.is_empty()).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Debian's 5.10 and 6.12, the middle cut out.
    const NETSTAT_5_10: &str = "\
TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPMemoryPressures TCPMemoryPressuresChrono TCPFastOpenActive TCPFastOpenActiveFail TCPFastOpenPassive TCPFastOpenPassiveFail TCPFastOpenListenOverflow TCPFastOpenCookieReqd TCPFastOpenBlackhole TCPWqueueTooBig TCPFastOpenPassiveAltKey
TcpExt: 0 12 15 2 40 3 1 7 0 4 9 1 0 0
IpExt: InNoRoutes InTruncatedPkts
IpExt: 0 0
";
    const NETSTAT_6_12: &str = "\
TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPFastOpenBlackhole TCPPLBRehash TCPAORequired
TcpExt: 0 18446744073709551615 3 0 0 0
IpExt: InNoRoutes InTruncatedPkts
IpExt: 0 0
MPTcpExt: MPCapableSYNRX ListenDrops
MPTcpExt: 0 99
";

    #[test]
    fn counters_are_found_by_name() {
        let old = Netstat(NETSTAT_5_10.to_owned());
        assert_eq!(old.tcp_ext("ListenOverflows"), Some(12));
        assert_eq!(old.tcp_ext("TCPFastOpenPassiveAltKey"), Some(0));
        assert_eq!(old.tcp_ext("TCPPLBRehash"), None);
        let new = Netstat(NETSTAT_6_12.to_owned());
        assert_eq!(new.tcp_ext("ListenOverflows"), Some(u64::MAX));
        assert_eq!(new.tcp_ext("ListenDrops"), Some(3));
        assert_eq!(new.tcp_ext("TCPFastOpenActive"), None);
    }

    #[test]
    fn cut_texts_tell_nothing() {
        for text in [
            "",
            "TcpExt:",
            "TcpExt: ListenDrops\n",
            "TcpExt: A ListenDrops\nTcpExt: 1\n",
        ] {
            assert_eq!(Netstat(text.to_owned()).tcp_ext("ListenDrops"), None, "{text}");
        }
        assert_eq!(Softnet::parse(""), None);
        assert_eq!(Softnet::parse("0001 0002\n"), None);
        assert_eq!(TcpMemory::parse("TCP: inuse 1 mem\n", "1 2 3\n", 4096), None);
        assert_eq!(TcpMemory::parse("TCP: inuse 1 mem 4\n", "1 2\n", 4096), None);
    }

    #[test]
    fn memory_is_told_in_bytes() {
        let sockstat = "sockets: used 19\nTCP: inuse 1 orphan 0 tw 40 alloc 1 mem 307\nUDP: inuse 0 mem 5\n";
        assert_eq!(
            TcpMemory::parse(sockstat, "285414\t380555\t570828\n", 4096),
            Some(TcpMemory {
                used: 307 * 4096,
                pressure: 380_555 * 4096,
                limit: 570_828 * 4096,
            })
        );
    }

    #[test]
    fn cpus_are_summed() {
        // 5.10 has thirteen columns, 6.12 fifteen.
        let old = "01835182 00000003 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";
        let new = "05806540 00000001 00000006 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000\n";
        let sum = Softnet {
            dropped: 4,
            squeezed: 16,
        };
        assert_eq!(Softnet::parse(&format!("{old}{new}")), Some(sum));
    }
}
