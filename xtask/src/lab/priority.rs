//! Who runs first where processors are short. A late relay is a longer path, and a program that is stopped while it holds
//! its socket's lock delays the acknowledgements too: both get a real-time priority, and sleep most of the time. Real
//! programs go before others too, but not as real-time: one that spins while it waits (curl, while an HTTP/2 upload is
//! held up) would starve whom it waits for. What is judged, the agent, has no such privilege, nor has this process. Best
//! effort: without the right to it, nice has to do.

use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::{SCHED_FIFO, SCHED_RR};

/// Of real programs, and where real time is refused.
const NICE: i32 = -20;

/// Makes the calling thread the path: before the programs whose packets it carries.
pub fn of_the_path() {
    real_time(SCHED_FIFO, 2);
}

/// Makes the calling thread, and those it will start, a program of a flow; several take turns.
pub fn of_a_program() {
    real_time(SCHED_RR, 1);
}

/// Makes a real program, and all that it will start, one that goes before others.
pub fn of_real_programs(command: &mut Command) {
    // SAFETY: one bare system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let _ = rustix::process::setpriority_process(None, NICE);
            Ok(())
        });
    }
}

/// Makes the calling thread one that comes after all others: it plays what would be another machine's work.
pub fn of_a_stranger() {
    let _ = rustix::process::setpriority_process(None, -NICE - 1);
}

fn real_time(policy: libc::c_int, priority: libc::c_int) {
    let wanted = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the kernel reads a live sched_param; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const wanted) } != 0 {
        let _ = rustix::process::setpriority_process(None, NICE);
    }
}
