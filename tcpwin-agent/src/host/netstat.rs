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

    /// The same of the namespace of the calling thread: `/proc/net` is that of its process.
    #[must_use]
    pub fn of_thread() -> Self {
        Self(fs::read_to_string("/proc/thread-self/net/netstat").unwrap_or_default())
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
mod tests;
