//! The network namespaces of the host, and how to do something inside one.
//!
//! A namespace is found through the processes in it (`/proc/PID/ns/net`) and the bind mounts that keep it
//! (`/run/netns`, container engines). One that only a thread, an open file or a socket keeps is not found.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

use rustix::thread::LinkNameSpaceType;

use super::kernel_clock;
use crate::units::{Instant, Nanos};

/// Namespaces by number (`ns.inum`), each with a path that leads to it.
pub type Doors = BTreeMap<u32, PathBuf>;

/// Looks for namespaces at most so often.
const EVERY: Nanos = Nanos(5_000_000_000);
/// And so that looking takes at most one part in this many of the time.
const PATIENCE: u64 = 200;

/// When to look for namespaces again: every five seconds, rarer on hosts with many processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discovery {
    next: Instant,
}

impl Discovery {
    /// All namespaces, if it is time to look.
    ///
    /// # Errors
    /// As [`discover`].
    pub fn when_due(&mut self, now: Instant) -> io::Result<Option<Doors>> {
        if now < self.next {
            return Ok(None);
        }
        let start = kernel_clock();
        let doors = discover();
        let cost = kernel_clock().since(start);
        self.next = Instant(now.0 + EVERY.0.max(cost.0 * PATIENCE));
        doors.map(Some)
    }

    /// Makes the next look due.
    pub fn hasten(&mut self) {
        self.next = Instant(0);
    }
}

/// Errors on the way into a namespace.
#[derive(Debug, thiserror::Error)]
pub enum NetnsError {
    /// The path cannot be opened, or `setns` is refused.
    #[error("{operation} {}: {cause}", path.display())]
    Io {
        /// What was being done.
        operation: &'static str,
        /// The way in.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// The process behind the path moved or ended.
    #[error("{} leads to another namespace by now", path.display())]
    Moved {
        /// The way in.
        path: PathBuf,
    },
}

impl NetnsError {
    /// If a capability is missing, not the namespace.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied)
    }

    /// If the way in is no more, and most likely the namespace with it.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Moved { .. } => true,
            Self::Io { cause, .. } => cause.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// The namespace of the calling thread.
///
/// # Errors
/// When `/proc` is not there.
pub fn own() -> io::Result<u32> {
    inum(Path::new("/proc/thread-self/ns/net"))
}

/// The number of the namespace that a `/proc/PID/ns/net` leads to.
///
/// # Errors
/// When the process is gone, or may not be looked at.
pub fn inum(door: &Path) -> io::Result<u32> {
    number(&fs::read_link(door)?)
        .ok_or_else(|| io::Error::other(format!("{} does not name a network namespace", door.display())))
}

/// All namespaces that can be found now. Costs one `readlink` a process.
///
/// # Errors
/// When `/proc` is not there. What may not be read is left out.
pub fn discover() -> io::Result<Doors> {
    let mut doors = Doors::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let path = Path::new("/proc").join(name).join("ns/net");
        if let Some(inum) = fs::read_link(&path).ok().as_deref().and_then(number) {
            doors.entry(inum).or_insert(path);
        }
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for (inum, path) in mounts.lines().filter_map(mounted) {
        // A mount stays when the process ends.
        doors.insert(inum, path);
    }
    Ok(doors)
}

/// Runs `work` on a thread of its own inside the namespace. Needs CAP_SYS_ADMIN.
///
/// # Errors
/// When the namespace cannot be entered; `work` has then not run.
pub fn inside<T: Send>(inum: u32, door: &Path, work: impl FnOnce() -> T + Send) -> Result<T, NetnsError> {
    thread::scope(|scope| {
        scope
            .spawn(|| {
                enter(inum, door)?;
                Ok(work())
            })
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn enter(inum: u32, door: &Path) -> Result<(), NetnsError> {
    let error = |operation, cause| NetnsError::Io {
        operation,
        path: door.to_path_buf(),
        cause,
    };
    let file = fs::File::open(door).map_err(|cause| error("open", cause))?;
    let found = rustix::fs::fstat(&file).map_err(|cause| error("stat", cause.into()))?;
    if found.st_ino != u64::from(inum) {
        return Err(NetnsError::Moved {
            path: door.to_path_buf(),
        });
    }
    rustix::thread::move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|cause| error("setns to", cause.into()))
}

/// `net:[4026531840]` → 4026531840.
fn number(link: &Path) -> Option<u32> {
    link.to_str()?
        .strip_prefix("net:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// A line of mountinfo that keeps a network namespace: its number and mount point.
fn mounted(line: &str) -> Option<(u32, PathBuf)> {
    let (mount, file_system) = line.split_once(" - ")?;
    if !file_system.starts_with("nsfs ") {
        return None;
    }
    let mut fields = mount.split(' ').skip(3);
    let inum = number(Path::new(fields.next()?))?;
    Some((inum, PathBuf::from(unescape(fields.next()?))))
}

/// mountinfo writes space, tab, newline and backslash as three octal digits.
fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        match after
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(byte) => {
                text.push(char::from(byte));
                rest = &after[3..];
            }
            None => {
                text.push('\\');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_mounts_name_their_namespace() {
        assert_eq!(number(Path::new("net:[4026531840]")), Some(4_026_531_840));
        assert_eq!(number(Path::new("mnt:[4026531840]")), None);
        let line = r"98 27 0:4 net:[4026532284] /run/netns/two\040words rw shared:12 - nsfs nsfs rw";
        assert_eq!(
            mounted(line),
            Some((4_026_532_284, PathBuf::from("/run/netns/two words")))
        );
        assert_eq!(
            mounted("98 27 0:4 mnt:[4026532284] /run/snapd rw - nsfs nsfs rw"),
            None
        );
        assert_eq!(
            mounted("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw"),
            None
        );
    }

    #[test]
    fn the_own_namespace_is_found() {
        let own = own().unwrap();
        assert!(discover().unwrap().contains_key(&own));
    }
}
