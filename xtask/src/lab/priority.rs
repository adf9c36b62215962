//! Who runs first where processors are short. A late relay is a longer path, and a program that is stopped while it holds
//! its socket's lock delays the acknowledgements too; both sleep most of the time, so they may go before others. Real
//! programs go before others too, but none as real-time: one that spins while it waits (curl, while an HTTP/2 upload is
//! held up) would starve whom it waits for. What is judged, the agent, has no such privilege, nor has this process. Best
//! effort: without the right to it, all run as others do.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The nice value of the lab's own programs. Not real time: among builds and busy loops it does nearly as well, and a
/// program that turned busy would starve all that it needs itself.
const PROGRAM_NICE: i32 = -20;

/// Makes the calling thread the path: the lowest real-time priority, before everything that has none.
pub fn of_the_path() {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads a live sched_param; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const lowest) } != 0 {
        let _ = rustix::process::setpriority_process(None, PROGRAM_NICE);
    }
}

/// Makes the calling thread, and those it will start, a program of a flow.
pub fn of_a_program() {
    let _ = rustix::process::setpriority_process(None, PROGRAM_NICE);
}

/// Makes a real program, and all that it will start, one that goes before others.
pub fn of_real_programs(command: &mut Command) {
    // SAFETY: one bare system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            of_a_program();
            Ok(())
        });
    }
}
