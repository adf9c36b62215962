//! Settings below `/proc/sys/net` by their names, as they are written there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::Sizes;

/// Those that are read; what a kernel or a namespace lacks is absent.
const NAMES: &[&str] = &[
    "net.core.netdev_budget",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_ecn_fallback",
    "net.ipv4.tcp_fack",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_fastopen_blackhole_timeout_sec",
    "net.ipv4.tcp_fastopen_key",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_snd_mss",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_retries2",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
];

/// The settings of one network namespace, each value with its words one space apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Those of the calling thread's namespace, below `sys`: `/proc/sys`.
    #[must_use]
    pub fn read(sys: &Path) -> Self {
        let setting = |name: &&str| Some(((*name).to_owned(), read(sys, name)?));
        Self(NAMES.iter().filter_map(setting).collect())
    }

    /// These, for tests and for what was read elsewhere.
    #[must_use]
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(pairs.iter().map(pair).collect())
    }

    /// The value as it is written.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value, or its first word, as a number.
    #[must_use]
    pub fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.split(' ').next()?.parse().ok()
    }

    /// A value of three sizes.
    #[must_use]
    pub fn sizes(&self, name: &str) -> Option<Sizes> {
        let mut words = self.text(name)?.split(' ').map(str::parse);
        Some(Sizes {
            min: words.next()?.ok()?,
            initial: words.next()?.ok()?,
            max: words.next()?.ok()?,
        })
    }

    /// A value of two numbers.
    #[must_use]
    pub fn range(&self, name: &str) -> Option<(u32, u32)> {
        let (low, high) = self.text(name)?.split_once(' ')?;
        Some((low.parse().ok()?, high.parse().ok()?))
    }
}

/// One setting as it is now; `None` of one that this kernel or namespace has not, or that may not be read.
#[must_use]
pub fn read(sys: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(sys.join(name.replace('.', "/"))).ok()?;
    Some(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        let settings = Settings::of(&[
            ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
            ("net.ipv4.ip_local_port_range", "32768 60999"),
            ("net.ipv4.tcp_sack", "1"),
        ]);
        assert_eq!(settings.sizes("net.ipv4.tcp_wmem").unwrap().max, 4_194_304);
        assert_eq!(
            settings.range("net.ipv4.ip_local_port_range"),
            Some((32_768, 60_999))
        );
        assert_eq!(settings.number::<u8>("net.ipv4.tcp_sack"), Some(1));
        assert_eq!(settings.number::<u8>("net.ipv4.tcp_fack"), None);
    }

    #[test]
    fn the_running_kernel_has_them() {
        let settings = Settings::read(Path::new("/proc/sys"));
        assert!(settings.sizes("net.ipv4.tcp_rmem").is_some());
        assert!(settings.range("net.ipv4.ip_local_port_range").is_some());
    }
}
