//! Settings under `/proc/sys/net`.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Lowest, first and largest size of a buffer, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Kept even under memory pressure.
    pub min: u64,
    /// At the start of a connection.
    pub initial: u64,
    /// What autotuning stops at.
    pub max: u64,
}

/// The settings that bound a connection's windows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// `net.ipv4.tcp_wmem`: the send buffer, where SO_SNDBUF was not set.
    pub tcp_wmem: Option<Sizes>,
    /// `net.ipv4.tcp_rmem`: the receive buffer, where SO_RCVBUF was not set.
    pub tcp_rmem: Option<Sizes>,
    /// `net.core.wmem_max`: most that SO_SNDBUF takes, bytes (the kernel doubles what it takes).
    pub wmem_max: Option<u64>,
    /// `net.core.rmem_max`: most that SO_RCVBUF takes, bytes (the kernel doubles what it takes).
    pub rmem_max: Option<u64>,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: Option<bool>,
    /// `net.ipv4.tcp_retries2`: timeouts in a row after which the kernel gives up, more or less.
    pub tcp_retries2: Option<u8>,
    /// `net.ipv4.tcp_congestion_control`: of new connections.
    pub congestion_control: Option<String>,
    /// `net.core.default_qdisc`: of interfaces that come up, where nothing else is set.
    pub default_qdisc: Option<String>,
}

impl Sysctl {
    /// Reads them below `net`, which is `/proc/sys/net` of the namespace of the calling thread.
    ///
    /// Outside the initial namespace kernels before 6.9 have no `wmem_max` and `rmem_max`.
    #[must_use]
    pub fn read(net: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(net.join(name)).ok();
        let sizes = |name| text(name).and_then(|text| sizes(&text));
        Self {
            tcp_wmem: sizes("ipv4/tcp_wmem"),
            tcp_rmem: sizes("ipv4/tcp_rmem"),
            wmem_max: text("core/wmem_max").and_then(|text| number(&text)),
            rmem_max: text("core/rmem_max").and_then(|text| number(&text)),
            window_scaling: text("ipv4/tcp_window_scaling")
                .and_then(|text| number::<u8>(&text))
                .map(|on| on != 0),
            tcp_retries2: text("ipv4/tcp_retries2").and_then(|text| number(&text)),
            congestion_control: text("ipv4/tcp_congestion_control").and_then(|text| word(&text)),
            default_qdisc: text("core/default_qdisc").and_then(|text| word(&text)),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

fn word(text: &str) -> Option<String> {
    let word = text.trim();
    (!word.is_empty()).then(|| word.to_owned())
}

fn sizes(text: &str) -> Option<Sizes> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(Sizes {
        min: numbers.next()?.ok()?,
        initial: numbers.next()?.ok()?,
        max: numbers.next()?.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read_and_the_rest_is_absent() {
        let net = tempfile::tempdir().unwrap();
        for (name, value) in [
            ("ipv4/tcp_wmem", "4096\t16384\t4194304\n"),
            ("ipv4/tcp_rmem", "4096 oops\n"),
            ("ipv4/tcp_window_scaling", "1\n"),
            ("ipv4/tcp_retries2", "15\n"),
            ("ipv4/tcp_congestion_control", "cubic\n"),
            ("core/wmem_max", "212992\n"),
            ("core/default_qdisc", "fq_codel\n"),
        ] {
            let file = net.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, value).unwrap();
        }
        assert_eq!(
            Sysctl::read(net.path()),
            Sysctl {
                tcp_wmem: Some(Sizes {
                    min: 4096,
                    initial: 16384,
                    max: 4_194_304,
                }),
                tcp_rmem: None,
                wmem_max: Some(212_992),
                rmem_max: None,
                window_scaling: Some(true),
                tcp_retries2: Some(15),
                congestion_control: Some("cubic".to_owned()),
                default_qdisc: Some("fq_codel".to_owned()),
            }
        );
    }

    #[test]
    fn the_running_kernel_has_them() {
        let sysctl = Sysctl::read(Path::new("/proc/sys/net"));
        assert!(sysctl.tcp_wmem.is_some_and(|sizes| sizes.min <= sizes.max));
        assert!(sysctl.congestion_control.is_some());
    }
}
