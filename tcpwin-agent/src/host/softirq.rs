//! How much of each CPU's time goes into softirq, where packets are received.

use procfs::{CurrentSI as _, KernelStats};

/// The CPUs' times since boot, ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes(Vec<CpuTime>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTime {
    softirq: u64,
    all: u64,
}

impl CpuTimes {
    /// From `/proc/stat`; none where it cannot be read.
    #[must_use]
    pub fn read() -> Self {
        KernelStats::current().map_or_else(|_| Self::default(), |stats| Self::of(&stats))
    }

    fn of(stats: &KernelStats) -> Self {
        let time = |cpu: &procfs::CpuTime| {
            let softirq = cpu.softirq.unwrap_or_default();
            // Time of guests is within user and nice already (`account_guest_time`).
            let rest = [cpu.iowait, cpu.irq, cpu.steal].map(Option::unwrap_or_default);
            CpuTime {
                softirq,
                all: cpu.user + cpu.nice + cpu.system + cpu.idle + softirq + rest.iter().sum::<u64>(),
            }
        };
        Self(stats.cpu_time.iter().map(time).collect())
    }

    /// The share of the time since `before` that the busiest CPU spent in softirq, 0 to 1.
    ///
    /// Unknown if a CPU went on or off line meanwhile: `/proc/stat` lists those that are on line.
    #[must_use]
    pub fn softirq_busiest(&self, before: &Self) -> Option<f64> {
        if self.0.len() != before.0.len() {
            return None;
        }
        let share = |(now, before): (&CpuTime, &CpuTime)| {
            let all = now.all.checked_sub(before.all).filter(|all| *all > 0)?;
            let softirq = now.softirq.checked_sub(before.softirq)?;
            Some((softirq as f64 / all as f64).min(1.0))
        };
        self.0
            .iter()
            .zip(&before.0)
            .filter_map(share)
            .max_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::{ExplicitSystemInfo, FromBufReadSI as _};

    fn times(text: &str) -> CpuTimes {
        let system = ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: 100,
            page_size: 4096,
            is_little_endian: true,
        };
        let text =
            format!("{text}intr 1 2\nctxt 9\nbtime 1\nprocesses 4\nprocs_running 1\nprocs_blocked 0\n");
        CpuTimes::of(&KernelStats::from_buf_read(text.as_bytes(), &system).unwrap())
    }

    #[test]
    fn the_busiest_counts() {
        let before = times(
            "cpu  200 0 0 1000 0 0 20 0 0 0\ncpu0 100 0 0 500 0 0 10 0 0 0\ncpu1 100 0 0 500 0 0 10 0 0 0\n",
        );
        let after = times(
            "cpu  200 0 0 1100 0 0 120 0 0 0\ncpu0 100 0 0 590 0 0 20 0 0 0\ncpu1 100 0 0 510 0 0 100 0 0 0\n",
        );
        assert_eq!(after.softirq_busiest(&before), Some(0.9));
        assert_eq!(after.softirq_busiest(&after), None);
        let one_is_off = times("cpu  1 0 0 1 0 0 1 0 0 0\ncpu0 1 0 0 1 0 0 1 0 0 0\n");
        assert_eq!(after.softirq_busiest(&one_is_off), None);
    }
}
