//! The lab's own clock. It builds traffic and judges it from outside, so it may ask the time.

use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// CLOCK_MONOTONIC in nanoseconds: the same in every process and network namespace.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// A time span given in (fractional) seconds, in nanoseconds.
pub fn seconds_ns(seconds: f64) -> u64 {
    Duration::from_secs_f64(seconds.max(0.0)).as_nanos() as u64
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    }
}

/// A timer descriptor on CLOCK_MONOTONIC.
pub struct Timer {
    fd: OwnedFd,
}

impl Timer {
    /// A disarmed timer whose reads do not block.
    pub fn new() -> Result<Self> {
        Self::with(TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
    }

    /// A timer that fires each `period_ns` and whose [`Timer::wait`] blocks.
    pub fn every(period_ns: u64) -> Result<Self> {
        let timer = Self::with(TimerfdFlags::CLOEXEC)?;
        let new = Itimerspec {
            it_interval: timespec(period_ns),
            it_value: timespec(period_ns),
        };
        timerfd_settime(&timer.fd, TimerfdTimerFlags::empty(), &new).context("cannot arm a timer")?;
        Ok(timer)
    }

    fn with(flags: TimerfdFlags) -> Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags).context("cannot create a timer")?;
        Ok(Self { fd })
    }

    /// Fires once at `at_ns` of [`now_ns`]; a time that has passed fires at once.
    pub fn arm_at(&self, at_ns: u64) -> Result<()> {
        let new = Itimerspec {
            it_interval: timespec(0),
            it_value: timespec(at_ns.max(1)),
        };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &new).context("cannot arm a timer")?;
        Ok(())
    }

    /// Waits for the next expiry; says how many have passed since the last call (0: none, for a non-blocking timer).
    pub fn wait(&self) -> u64 {
        let mut expiries = [0_u8; 8];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.fd, &mut expiries)) {
            Ok(8) => u64::from_ne_bytes(expiries),
            _ => 0,
        }
    }

    /// The descriptor, for poll and epoll.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}

/// The traffic's own pause (a program that thinks or sleeps), never a way to wait for somebody.
pub fn think(ms: f64) {
    let pause = timespec(seconds_ns(ms / 1000.0));
    let _ = rustix::thread::nanosleep(&pause);
}
