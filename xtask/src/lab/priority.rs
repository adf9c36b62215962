//! Who runs first where processors are short. What the lab is made of (the path, then the programs of its flows) runs
//! before everything that is not real-time: a late relay is a longer path, and a program that is stopped while it holds
//! its socket's lock delays the acknowledgements too. All of it sleeps most of the time. What is judged, the agent, has
//! no such privilege, nor has this process itself. Best effort: without the right to it, all run as others do.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The nice value of programs that spin.
const NICE: libc::c_int = -15;

/// A real-time priority, `SCHED_FIFO`.
#[derive(Clone, Copy, Debug)]
pub enum Priority {
    /// Of the programs of a flow.
    Program = 1,
    /// Of the path.
    Path = 2,
}

/// Gives the calling thread this priority.
pub fn set(priority: Priority) {
    let wanted = libc::sched_param {
        sched_priority: priority as libc::c_int,
    };
    // SAFETY: the kernel reads a live sched_param; 0 is the calling thread. Safe between fork and exec too.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wanted) };
}

/// Gives it to a program and all that it starts.
pub fn of(command: &mut Command, priority: Priority) {
    // SAFETY: one bare system call between fork and exec.
    unsafe {
        command.pre_exec(move || {
            set(priority);
            Ok(())
        });
    }
}

/// Lets a program that spins while it waits run before most, but not as real-time: it would keep the processor from
/// those it waits for. curl does so when an HTTP/2 upload is held up.
pub fn favour(command: &mut Command) {
    // SAFETY: one bare system call between fork and exec; 0 is the calling process.
    unsafe {
        command.pre_exec(|| {
            libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
            Ok(())
        });
    }
}
