//! Who runs first where processors are short. A late relay is a longer path, and a program that is stopped while it holds
//! its socket's lock delays the acknowledgements too: both get a real-time priority, and sleep most of the time. What is
//! judged, the agent, has none, nor has this process, nor have real programs: they may need a processor for themselves,
//! and what feeds them would starve. Best effort: without the right to it, nice has to do.

use libc::{SCHED_FIFO, SCHED_RR};

/// Where real time is refused.
const NICE: i32 = -20;

/// Makes the calling thread the path: before the programs whose packets it carries.
pub fn of_the_path() {
    real_time(SCHED_FIFO, 2);
}

/// Makes the calling thread, and those it will start, a program of a flow; several take turns.
pub fn of_a_program() {
    real_time(SCHED_RR, 1);
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
