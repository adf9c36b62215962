//! What processes cost: CPU time and memory, as the kernel accounts them.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::process::shown;

/// The CPU-time clock of another process: all its threads, those that ended too, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct CpuClock(libc::clockid_t);

impl CpuClock {
    /// Of a process that runs.
    pub fn of(pid: u32) -> Result<Self> {
        let mut clock = 0;
        // SAFETY: the kernel's answer goes to a live local.
        let failed = unsafe { libc::clock_getcpuclockid(pid.cast_signed(), &raw mut clock) };
        ensure!(failed == 0, "process {pid} has no CPU clock (error {failed})");
        Ok(Self(clock))
    }

    /// CPU time so far, ns.
    pub fn now_ns(self) -> Result<u64> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel's answer goes to a live local.
        let failed = unsafe { libc::clock_gettime(self.0, &raw mut time) };
        ensure!(failed == 0, "the process whose CPU time is measured has ended");
        Ok(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
    }
}

/// Runs a command to its end; CPU time of it and of what it waited for, ns.
pub fn of_command(command: &mut Command) -> Result<u64> {
    let child = command
        .spawn()
        .with_context(|| format!("cannot start `{}`", shown(command)))?;
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: our own child, waited for once; both answers go to live locals.
    let waited = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
    if waited < 0 || status != 0 {
        bail!("`{}` failed (status {status})", shown(command));
    }
    Ok(nanos(usage.ru_utime) + nanos(usage.ru_stime))
}

fn nanos(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
}

/// Resident memory, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resident {
    /// All of it: anonymous, file and shared pages.
    pub total: u64,
    /// Of it, maps that the kernel programs write and the process only sees (slots, rings).
    pub kernel_maps: u64,
}

impl Resident {
    /// Of a process that runs.
    pub fn of(pid: u32) -> Result<Self> {
        let path = format!("/proc/{pid}/smaps");
        let smaps = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let mut resident = Self::default();
        let mut in_map = false;
        for line in smaps.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("Rss:") => {
                    let bytes = words.next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024;
                    resident.total += bytes;
                    resident.kernel_maps += if in_map { bytes } else { 0 };
                }
                // A mapping's own line starts with its addresses.
                Some(addresses) if addresses.contains('-') => in_map = line.ends_with("anon_inode:bpf-map"),
                _ => {}
            }
        }
        ensure!(resident.total > 0, "{path} tells nothing");
        Ok(resident)
    }
}
