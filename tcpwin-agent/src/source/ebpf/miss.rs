//! Runs that the kernel skipped: a program that an interrupt brings up again on the same CPU does not run (bpf_trace_run).
//! Counted by the kernel since 5.12, told in fdinfo.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _};

use aya::Ebpf;

use crate::units::{Instant, Nanos};

/// Reading costs a file a program.
const EVERY: Nanos = Nanos(10_000_000_000);

/// The sum over all programs, read now and then.
#[derive(Default)]
pub(super) struct Misses {
    sum: u64,
    next: Instant,
}

impl Misses {
    /// As of the last look.
    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    /// Looks if it is time.
    pub(super) fn look(&mut self, ebpf: &Ebpf, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = Instant(now.0 + EVERY.0);
        self.sum = ebpf
            .programs()
            .filter_map(|(_, program)| {
                let fd = program.fd().ok()?.as_fd().as_raw_fd();
                of(&fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?)
            })
            .sum();
    }
}

fn of(fdinfo: &str) -> Option<u64> {
    fdinfo
        .lines()
        .find_map(|line| line.strip_prefix("recursion_misses:"))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_line_is_found() {
        let text = "pos:\t0\nprog_type:\t26\nrun_cnt:\t0\nrecursion_misses:\t7\nverified_insns:\t88\n";
        assert_eq!(super::of(text), Some(7));
        assert_eq!(super::of("pos:\t0\n"), None);
    }
}
