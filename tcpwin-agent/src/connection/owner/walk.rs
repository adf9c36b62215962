//! A walk over the open files of all processes, a step at a time.

use std::fs::{self, ReadDir};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::units::{Instant, Nanos};

/// Between the end of a walk and the next, when new sockets are asked for.
const PAUSE: Nanos = Nanos(1_000_000_000);
/// The same when all that is asked for was not found before: sockets of processes that cannot be read.
const LONG_PAUSE: Nanos = Nanos(60_000_000_000);
/// Processes remembered as likely owners.
const LIKELY: usize = 64;

/// The walk, and where it stands.
#[derive(Debug, Default)]
pub struct Walk {
    /// Processes to come, the next one last.
    pending: Vec<u32>,
    /// The process being looked at.
    open: Option<(u32, ReadDir)>,
    /// Something was asked for since the walk began.
    asked: bool,
    /// When the last walk ended.
    ended: Option<Instant>,
    likely: Vec<u32>,
    refused: u64,
    /// Processes that could not be read in the last whole walk.
    pub unreadable: u64,
}

impl Walk {
    /// Something new is looked for.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// This process owns sockets that were looked for: the next walk begins with it.
    pub fn prefer(&mut self, pid: u32) {
        self.likely.retain(|&known| known != pid);
        self.likely.push(pid);
        if self.likely.len() > LIKELY {
            self.likely.remove(0);
        }
    }

    /// Looks at up to `files` open files, and hands the process and inode of each socket to `each`.
    pub fn step(&mut self, now: Instant, files: usize, each: &mut dyn FnMut(u32, u32)) {
        let mut left = files;
        if self.is_over() {
            let pause = if self.asked { PAUSE } else { LONG_PAUSE };
            if self.ended.is_some_and(|ended| now.since(ended) < pause) {
                return;
            }
            self.begin();
            left = left.saturating_sub(self.pending.len() / 2);
        }
        while left > 0 {
            let Some((pid, dir)) = &mut self.open else {
                let Some(pid) = self.pending.pop() else { break };
                match fs::read_dir(PathBuf::from(format!("/proc/{pid}/fd"))) {
                    Ok(dir) => self.open = Some((pid, dir)),
                    // It ended.
                    Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
                    Err(_) => self.refused += 1,
                }
                left -= 1;
                continue;
            };
            match dir.next() {
                Some(Ok(entry)) => {
                    left -= 1;
                    if let Ok(target) = fs::read_link(entry.path())
                        && let Some(inode) = socket_inode(target.as_os_str().as_bytes())
                    {
                        each(*pid, inode);
                    }
                }
                Some(Err(_)) | None => self.open = None,
            }
        }
        if self.is_over() {
            self.ended = Some(now);
            self.unreadable = self.refused;
        }
    }

    fn is_over(&self) -> bool {
        self.open.is_none() && self.pending.is_empty()
    }

    fn begin(&mut self) {
        self.asked = false;
        self.refused = 0;
        self.pending = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        let likely = &self.likely;
        self.pending.retain(|pid| !likely.contains(pid));
        self.pending.extend(likely);
    }
}

/// `socket:[4711]` → 4711.
pub(super) fn socket_inode(link: &[u8]) -> Option<u32> {
    let digits = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
