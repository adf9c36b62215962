//! The kernel's clock as the wall's.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Turns CLOCK_MONOTONIC into the time of day where this program runs.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// Local time since the epoch less CLOCK_MONOTONIC, ns.
    offset_ns: i128,
}

impl Stamp {
    /// As the clocks and the time zone are now.
    #[must_use]
    pub fn now() -> Self {
        let wall = clock_gettime(ClockId::Realtime);
        let monotonic = clock_gettime(ClockId::Monotonic);
        let zone = i128::from(zone_seconds(wall.tv_sec)) * 1_000_000_000;
        Self {
            offset_ns: nanos(wall) - nanos(monotonic) + zone,
        }
    }

    /// With a given offset.
    #[must_use]
    pub const fn with_offset(offset_ns: i128) -> Self {
        Self { offset_ns }
    }

    /// `14:02:11.123`.
    #[must_use]
    pub fn text(self, ts_ns: u64) -> String {
        let millis = (i128::from(ts_ns) + self.offset_ns).div_euclid(1_000_000);
        let of_day = millis.rem_euclid(86_400_000);
        let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
        format!(
            "{hours:02}:{minutes:02}:{:02}.{:03}",
            of_day / 1_000 % 60,
            of_day % 1_000
        )
    }
}

fn nanos(time: Timespec) -> i128 {
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// Seconds east of Greenwich at that time; 0 where the time zone is not known.
pub fn zone_seconds(at: i64) -> i64 {
    // SAFETY: `tm` is a C struct of integers and a pointer that is only written to; all zeros is a valid value.
    let mut local: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values of the right types; the program sets no environment variable
    // that localtime_r could read meanwhile.
    let converted = unsafe { libc::localtime_r(&raw const at, &raw mut local) };
    if converted.is_null() { 0 } else { local.tm_gmtoff }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day() {
        assert_eq!(Stamp::with_offset(0).text(0), "00:00:00.000");
        assert_eq!(
            Stamp::with_offset(50_400_000_000_000).text(131_123_999_999),
            "14:02:11.123"
        );
        assert_eq!(Stamp::with_offset(-1_000_000).text(0), "23:59:59.999");
        assert_eq!(Stamp::now().text(5).len(), 12);
    }
}
