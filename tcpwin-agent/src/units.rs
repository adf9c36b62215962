//! Numbers with their unit in the type, and the kernel's clock.

use serde::{Deserialize, Serialize};

/// A moment on the kernel's CLOCK_MONOTONIC, nanoseconds since boot. Given to pure code as an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(pub u64);

impl Instant {
    /// Time since `earlier`; zero if `earlier` is later (events of two CPUs may cross).
    #[must_use]
    pub const fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A span of time, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// A span of time, microseconds: round-trip times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micros(pub u32);

impl Micros {
    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// In milliseconds.
    #[must_use]
    pub fn millis(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

/// An amount of data, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The rate at which this much per `time` flows; zero for no time.
    #[must_use]
    pub fn per(self, time: Nanos) -> BytesPerSec {
        if time.0 == 0 {
            return BytesPerSec(0.0);
        }
        BytesPerSec(self.0 as f64 / time.seconds())
    }

    /// Window ÷ RTT, the throughput a window of this size allows; `None` without a round-trip time.
    #[must_use]
    pub fn per_rtt(self, rtt: Micros) -> Option<BytesPerSec> {
        (rtt.0 > 0).then(|| BytesPerSec(self.0 as f64 / rtt.seconds()))
    }
}

/// A data rate, bytes per second; finite and never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSec(pub f64);

impl BytesPerSec {
    /// In bits per second.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0 * 8.0
    }

    /// Bandwidth-delay product: what must be in flight to carry this rate over a round trip of `rtt`.
    #[must_use]
    pub fn bdp(self, rtt: Micros) -> Bytes {
        Bytes((self.0 * rtt.seconds()).ceil() as u64)
    }
}

/// A rate as people write it: `2.90 Mbit/s`.
#[must_use]
pub fn bits_text(bits_per_second: f64) -> String {
    scaled(
        bits_per_second,
        1000.0,
        &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
    )
}

/// An amount as `ss` and sysctl users read it: exact below 10 KiB, then `64.0 KiB`.
#[must_use]
pub fn bytes_text(bytes: u64) -> String {
    if bytes < 10_240 {
        return format!("{bytes} B");
    }
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A round-trip time: `181 ms`, `0.42 ms`.
#[must_use]
pub fn rtt_text(rtt: Micros) -> String {
    let millis = rtt.millis();
    if millis >= 100.0 {
        format!("{millis:.0} ms")
    } else if millis >= 1.0 {
        format!("{millis:.1} ms")
    } else {
        format!("{millis:.2} ms")
    }
}

/// Three significant digits with the largest prefix that keeps the number at least one.
fn scaled(value: f64, base: f64, names: &[&str]) -> String {
    let mut value = value.max(0.0);
    let mut step = 0;
    while value >= base && step + 1 < names.len() {
        value /= base;
        step += 1;
    }
    let digits = if step == 0 || value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", names[step])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_over_rtt_is_the_posts_arithmetic() {
        let rate = Bytes(65_535).per_rtt(Micros(181_000)).unwrap();
        assert!((rate.bits() - 2.8966e6).abs() < 100.0);
        let rate = Bytes(4 << 20).per_rtt(Micros(30_000)).unwrap();
        assert!((rate.bits() - 1.1185e9).abs() < 1e5);
        assert_eq!(Bytes(1).per_rtt(Micros(0)), None);
    }

    #[test]
    fn bdp_of_ten_gigabit_at_thirty_milliseconds() {
        assert_eq!(BytesPerSec(1.25e9).bdp(Micros(30_000)), Bytes(37_500_000));
    }

    #[test]
    fn text_keeps_three_digits() {
        assert_eq!(bits_text(2_896_574.0), "2.90 Mbit/s");
        assert_eq!(bits_text(0.0), "0 bit/s");
        assert_eq!(bits_text(1.1185e9), "1.12 Gbit/s");
        assert_eq!(bytes_text(65_535), "64.0 KiB");
        assert_eq!(bytes_text(8_160), "8160 B");
        assert_eq!(rtt_text(Micros(181_000)), "181 ms");
    }
}
