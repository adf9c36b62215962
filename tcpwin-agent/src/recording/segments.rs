//! The files of a recording: the newest is `FILE`, the one before it `FILE.1`, and so on. What is older than the bounds
//! allow is deleted, the oldest first.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::frame::MAGIC;
use crate::units::Instant;

/// A recording is cut into at least so many segments, so that little is lost when the oldest goes.
const SHARES: u64 = 8;
/// Names looked at: more segments than a recording has.
const MOST: u32 = 1_000;

/// How large and how old a recording may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All segments together, bytes.
    pub size: u64,
    /// Of what is kept; nothing is too old without it.
    pub age: Option<Duration>,
}

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The file is of somebody else.
    #[error("{} exists and is no recording of tcpwin: it is left as it is; give --record another name", .0.display())]
    Stranger(PathBuf),
    /// The system refuses.
    #[error("cannot write the recording {}: {cause}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// What stands at the beginning of a segment is larger than all may be.
    #[error("{} bytes do not fit into the {} bytes that --record-max-size allows", .needed, .allowed)]
    Bound {
        /// How large.
        needed: u64,
        /// How large it may be.
        allowed: u64,
    },
}

/// The segments of `file` that are there, the newest first: `FILE`, `FILE.1`, …
#[must_use]
pub fn segments_of(file: &Path) -> Vec<PathBuf> {
    (0..MOST)
        .map(|number| numbered(file, number))
        .take_while(|path| path.exists())
        .collect()
}

fn numbered(file: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// The files of one recording while it is written.
#[derive(Debug)]
pub struct Segments {
    path: PathBuf,
    limits: Limits,
    file: Option<File>,
    /// Length of the file.
    length: u64,
    /// Of what stood when it began.
    lead: u64,
    began: Instant,
    /// Lengths and ends of those before it, the newest first.
    older: Vec<(u64, SystemTime)>,
}

impl Segments {
    /// Looks at what is there: segments of an earlier run count, and stay as long as the bounds allow.
    ///
    /// # Errors
    /// When `path` is somebody else's file, or its folder cannot be written to.
    pub fn new(path: &Path, limits: Limits) -> Result<Self, SegmentError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |cause| SegmentError::Io { path, cause }
        };
        let mut older = Vec::new();
        for path in segments_of(path) {
            let about = fs::metadata(&path).map_err(io(&path))?;
            // A device or a pipe is never moved out of the way, nor is what somebody else has written.
            let is_ours = about.is_file() && (about.len() == 0 || is_recording(&path).map_err(io(&path))?);
            if !is_ours {
                return Err(SegmentError::Stranger(path));
            }
            let end = about.modified().map_err(io(&path))?;
            older.push((about.len(), end));
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let cause = io::Error::from(io::ErrorKind::NotFound);
            return Err(io(folder)(cause));
        }
        Ok(Self {
            path: path.to_owned(),
            limits,
            file: None,
            length: 0,
            lead: 0,
            began: Instant(0),
            older,
        })
    }

    /// If a segment is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// If the next frame should go into a new segment.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        let full = self.length >= (self.limits.size / SHARES).max(2 * self.lead);
        let share = self
            .limits
            .age
            .map(|age| age / u32::try_from(SHARES).unwrap_or(1));
        let old = share.is_some_and(|share| u128::from(now.since(self.began).0) >= share.as_nanos());
        self.file.is_none() || full || old
    }

    /// Begins a segment with these bytes. `wall` is what the clock on the wall says.
    ///
    /// # Errors
    /// When the system refuses, or the bound is too low.
    pub fn begin(&mut self, now: Instant, wall: SystemTime, bytes: &[u8]) -> Result<(), SegmentError> {
        if self.file.take().is_some() {
            self.older.insert(0, (self.length, wall));
        }
        self.length = 0;
        self.forget_old(wall)?;
        self.make_room(bytes.len() as u64)?;
        self.shift().map_err(|cause| self.failed(cause))?;
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            // Peers and programs are nobody else's business.
            .mode(0o600)
            .open(&self.path);
        self.file = Some(opened.map_err(|cause| self.failed(cause))?);
        self.began = now;
        self.lead = bytes.len() as u64;
        self.write(bytes)
    }

    /// Appends a whole frame.
    ///
    /// # Errors
    /// When the system refuses, or the bound is too low; the file then holds whole frames all the same.
    pub fn write(&mut self, frame: &[u8]) -> Result<(), SegmentError> {
        self.make_room(frame.len() as u64)?;
        let Some(file) = &mut self.file else {
            return Err(self.failed(io::Error::other("no segment was begun")));
        };
        if let Err(cause) = file.write_all(frame) {
            // A part of a frame is worth nothing. If it cannot be taken back, a reader says where it is.
            let _ = file.set_len(self.length);
            self.file = None;
            return Err(self.failed(cause));
        }
        self.length += frame.len() as u64;
        Ok(())
    }

    fn failed(&self, cause: io::Error) -> SegmentError {
        SegmentError::Io {
            path: self.path.clone(),
            cause,
        }
    }

    /// Segments that ended longer ago than is kept.
    fn forget_old(&mut self, wall: SystemTime) -> Result<(), SegmentError> {
        let Some(age) = self.limits.age else { return Ok(()) };
        while let Some((_, end)) = self.older.last()
            && wall.duration_since(*end).is_ok_and(|since| since > age)
        {
            self.delete_oldest()?;
        }
        Ok(())
    }

    fn make_room(&mut self, needed: u64) -> Result<(), SegmentError> {
        let total = |older: &[(u64, SystemTime)]| older.iter().map(|(length, _)| length).sum::<u64>();
        while self.length + total(&self.older) + needed > self.limits.size {
            if self.older.is_empty() {
                return Err(SegmentError::Bound {
                    needed: self.length + needed,
                    allowed: self.limits.size,
                });
            }
            self.delete_oldest()?;
        }
        Ok(())
    }

    fn delete_oldest(&mut self) -> Result<(), SegmentError> {
        // While a segment is open, it has the first name.
        let first = u32::from(self.file.is_some());
        let last = u32::try_from(self.older.len()).unwrap_or(MOST) + first - 1;
        let path = numbered(&self.path, last);
        fs::remove_file(&path).map_err(|cause| SegmentError::Io { path, cause })?;
        self.older.pop();
        Ok(())
    }

    /// `FILE` → `FILE.1` → `FILE.2` …
    fn shift(&self) -> io::Result<()> {
        for number in (0..u32::try_from(self.older.len()).unwrap_or(MOST)).rev() {
            fs::rename(numbered(&self.path, number), numbered(&self.path, number + 1))?;
        }
        Ok(())
    }
}

fn is_recording(path: &Path) -> io::Result<bool> {
    let mut lead = [0; MAGIC.len()];
    match File::open(path)?.read_exact(&mut lead) {
        Ok(()) => Ok(lead == MAGIC),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
