//! A walk over the open files of all processes, a step at a time.

use std::ffi::CStr;
use std::fs;
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

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
    open: Option<(u32, Dir)>,
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

    /// Looks at up to `most` open files, and hands the process and inode of each socket to `each`.
    pub fn step(&mut self, now: Instant, most: usize, each: &mut dyn FnMut(u32, u32)) {
        let mut left = most;
        if self.is_over() {
            let pause = if self.asked { PAUSE } else { LONG_PAUSE };
            if self.ended.is_some_and(|ended| now.since(ended) < pause) {
                return;
            }
            self.begin();
            left = left.saturating_sub(self.pending.len() / 2);
        }
        while left > 0 {
            let Some((pid, files)) = &mut self.open else {
                let Some(pid) = self.pending.pop() else { break };
                match open_files(pid) {
                    Ok(files) => self.open = Some((pid, files)),
                    // It ended.
                    Err(Errno::NOENT | Errno::SRCH) => {}
                    Err(_) => self.refused += 1,
                }
                left -= 1;
                continue;
            };
            match files.read() {
                Some(Ok(file)) => {
                    left -= 1;
                    if let Some(inode) = files.fd().ok().and_then(|folder| inode(folder, file.file_name())) {
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

fn open_files(pid: u32) -> Result<Dir, Errno> {
    let path = format!("/proc/{pid}/fd");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Dir::new(rustix::fs::open(path, flags, Mode::empty())?)
}

/// The inode of an open file, if it is a socket. A longer link than the buffer's is none.
fn inode(folder: BorrowedFd<'_>, name: &CStr) -> Option<u32> {
    let mut link = [0; 32];
    let len = rustix::fs::readlinkat_raw(folder, name, &mut link).ok()?;
    socket_inode(&link[..len])
}

/// `socket:[4711]` → 4711.
pub(super) fn socket_inode(link: &[u8]) -> Option<u32> {
    let digits = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
