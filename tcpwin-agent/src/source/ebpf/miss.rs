//! Runs that the kernel skipped (bpf_trace_run): while a program is interrupted or preempted in mid-run, it does not run again on
//! the same CPU. For as long as a busy host leaves the preempted task waiting, every event of that kind goes unseen there.
//! Counted by the kernel since 5.12, told in fdinfo.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _};

use aya::Ebpf;

/// The sum over all programs.
#[derive(Default)]
pub(super) struct Misses {
    sum: u64,
}

impl Misses {
    /// As of the last look.
    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    /// Looks, once an interval: it costs a file a program.
    pub(super) fn look(&mut self, ebpf: &Ebpf) {
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
