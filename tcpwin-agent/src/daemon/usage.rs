//! What the agent itself costs.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// CPU time of the calling thread, µs.
pub(super) fn thread_cpu_us() -> u64 {
    micros(clock_gettime(ClockId::ThreadCPUTime))
}

/// CPU time of the process since its start, µs.
pub(super) fn process_cpu_us() -> u64 {
    micros(clock_gettime(ClockId::ProcessCPUTime))
}

/// Resident memory, bytes; 0 where /proc is not mounted.
pub(super) fn rss_bytes() -> u64 {
    let resident_pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|statm| statm.split_whitespace().nth(1)?.parse::<u64>().ok());
    resident_pages.unwrap_or_default() * procfs::page_size()
}

/// Gives what loading took (the kernel's BTF alone is megabytes) back to the system.
pub(super) fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim takes no pointer and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn micros(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds * 1_000_000 + nanos / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read() {
        assert!(rss_bytes() > 100_000);
        assert!(process_cpu_us() >= thread_cpu_us());
    }
}
