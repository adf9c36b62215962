//! What must not outlive the run: the names under /run/netns. Each is noted here, so that a signal takes them away too.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::{fs, io, thread};

use anyhow::{Context, Result};
use rustix::mount::{UnmountFlags, unmount};

static MOUNTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static SIGNALS: OnceLock<()> = OnceLock::new();
static SIGNAL_PIPE: AtomicI32 = AtomicI32::new(-1);

/// Where iproute2 keeps the names of network namespaces.
pub const NETNS_DIR: &str = "/run/netns";
/// What the names of the lab's namespaces start with; the owner's pid follows.
pub const PREFIX: &str = "tcpwin-";

/// Notes a mounted name, to be taken away at exit.
pub fn note(path: &Path) {
    MOUNTED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .push(path.to_owned());
}

/// Takes a name away: unmounts and unlinks it. The namespace ends with its last process.
pub fn remove(path: &Path) {
    let _ = unmount(path, UnmountFlags::DETACH);
    let _ = fs::remove_file(path);
    MOUNTED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .retain(|noted| noted != path);
}

/// Removes names left by runs whose process is gone (killed with -9). Touches no other name.
pub fn sweep() {
    let Ok(entries) = fs::read_dir(NETNS_DIR) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if owner(name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            remove(&path);
        }
    }
}

/// The pid in a name of ours, `tcpwin-<pid>-<n><a|b>`; `None` for any other name.
fn owner(name: &str) -> Option<u32> {
    let (pid, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let number = rest.strip_suffix(['a', 'b'])?;
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// On SIGINT, SIGTERM or SIGHUP: take all noted names away and exit with 128 + signal. Installed once a process.
pub fn on_signals() -> Result<()> {
    if SIGNALS.set(()).is_err() {
        return Ok(());
    }
    let (read, write) = rustix::pipe::pipe().context("cannot create a pipe")?;
    SIGNAL_PIPE.store(write.as_raw_fd(), Ordering::SeqCst);
    // The handler writes to it as long as the process lives.
    std::mem::forget(write);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: an all-zero sigaction is valid; the handler only calls write(2), which is async-signal-safe.
        let installed = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = forward as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        };
        if installed != 0 {
            return Err(io::Error::last_os_error()).context("cannot install a signal handler");
        }
    }
    thread::Builder::new()
        .name("lab-signals".into())
        .spawn(move || leave(&read))
        .context("cannot start a thread")?;
    Ok(())
}

extern "C" fn forward(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: the descriptor stays open for the whole process, the buffer is one live byte.
    unsafe { libc::write(SIGNAL_PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1) };
}

fn leave(pipe: &OwnedFd) {
    let mut signal = [0_u8; 1];
    if !matches!(
        rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut signal)),
        Ok(1)
    ) {
        return;
    }
    let mounted = MOUNTED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .clone();
    for path in &mounted {
        remove(path);
    }
    let _ = writeln!(
        io::stderr(),
        "lab: ended by signal {}; namespaces removed",
        signal[0]
    );
    // Workers and the agent die with this process (PR_SET_PDEATHSIG, closed stdin).
    std::process::exit(128 + i32::from(signal[0]));
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn only_names_of_the_lab_have_an_owner() {
        assert_eq!(owner("tcpwin-123-0a"), Some(123));
        assert_eq!(owner("tcpwin-123-17b"), Some(123));
        for other in [
            "tcpwin-123",
            "tcpwin-x-0a",
            "tcpwin-123-a",
            "tcpwin-123-0c",
            "other-123-0a",
            "",
        ] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
