//! Where it was measured.

use std::fs;

use serde::Serialize;

/// The machine and its kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// Processor, as /proc/cpuinfo names it.
    pub processor: String,
    /// Processors online.
    pub processors: usize,
    /// Memory, GiB.
    pub memory_gib: f64,
    /// Load average at the start: what else ran meanwhile.
    pub load: String,
    /// Probes of others on the same hooks, which ran in our measurements.
    pub strangers: usize,
}

impl Machine {
    /// This one.
    pub fn read(strangers: usize) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            text.lines()
                .find_map(|line| {
                    Some(
                        line.strip_prefix(name)?
                            .trim_start()
                            .strip_prefix(':')?
                            .trim()
                            .to_owned(),
                    )
                })
                .unwrap_or_default()
        };
        let kilobytes: f64 = field(&text("/proc/meminfo"), "MemTotal")
            .trim_end_matches(" kB")
            .parse()
            .unwrap_or(0.0);
        Self {
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            processor: field(&text("/proc/cpuinfo"), "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kilobytes / f64::from(1 << 20),
            load: text("/proc/loadavg")
                .split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" "),
            strangers,
        }
    }

    /// In one line.
    pub fn line(&self) -> String {
        let strangers = match self.strangers {
            0 => String::new(),
            count => format!("; {count} probes of others on the same hooks: figures by event are too high"),
        };
        format!(
            "Linux {}, {} × {}, {:.0} GiB, load average at the start {}{strangers}",
            self.kernel, self.processors, self.processor, self.memory_gib, self.load
        )
    }
}
