//! The segments of a recording one after the other, as one run of inputs.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::recording::frame::Kind;
use crate::recording::{Header, Input, Inputs, OpenError, Reader, segments_of};
use crate::units::{Instant, Nanos};

/// What is played before a moment that is jumped to: verdicts look at the last seconds.
const WARM: Nanos = Nanos(30_000_000_000);

/// Why a recording cannot be played.
#[derive(Debug, thiserror::Error)]
#[error("cannot replay {}: {cause}", .path.display())]
pub struct ReplayError {
    path: PathBuf,
    cause: OpenError,
}

type Open = Reader<BufReader<File>>;

/// A segment and when it is of.
#[derive(Debug)]
struct Segment {
    path: PathBuf,
    goes_on: bool,
    began: Instant,
}

/// The segments, and where in them.
#[derive(Debug)]
pub(super) struct Chain {
    /// The oldest first; never empty.
    segments: Vec<Segment>,
    end: Instant,
    at: usize,
    reader: Open,
    inputs: Inputs,
    /// Of the frame that `inputs` are of.
    offset: u64,
    /// What stood when the segment began is known already: the one before it was read to its end.
    goes_on: bool,
    broken: bool,
    over: bool,
    faults: Vec<String>,
}

impl Chain {
    pub(super) fn open(path: &Path) -> Result<Self, ReplayError> {
        let mut newest = open(path)?;
        let end = newest.last_time().map_err(|cause| ReplayError {
            path: path.to_owned(),
            cause: cause.into(),
        })?;
        let mut segments = VecDeque::<Segment>::new();
        // The first segment of a recording has none before it, whatever lies there.
        let mut may_have_older = true;
        let mut faults = Vec::new();
        let recording = newest.header().recording;
        for path in segments_of(path) {
            let header = match open(&path) {
                Ok(reader) => reader.header().clone(),
                Err(error) if may_have_older => {
                    faults.push(error.to_string());
                    break;
                }
                Err(_) => break,
            };
            if header.recording != recording {
                break;
            }
            may_have_older = header.segment > 0;
            segments.push_front(Segment {
                path,
                goes_on: header.goes_on,
                began: header.began,
            });
        }
        let first = segments.front().map_or(path, |segment| &segment.path);
        let reader = open(first)?;
        Ok(Self {
            segments: segments.into(),
            end,
            at: 0,
            reader,
            inputs: Inputs::default(),
            offset: 0,
            goes_on: false,
            broken: false,
            over: false,
            faults,
        })
    }

    pub(super) const fn header(&self) -> &Header {
        self.reader.header()
    }

    pub(super) fn span(&self) -> (Instant, Instant) {
        let start = self.segments.first().map_or(self.end, |segment| segment.began);
        (start, self.end)
    }

    pub(super) fn faults(&self) -> &[String] {
        &self.faults
    }

    /// If what comes next does not go on from what was before; said once.
    pub(super) fn take_break(&mut self) -> bool {
        std::mem::take(&mut self.broken)
    }

    /// To the last segment that begins early enough before `to`.
    pub(super) fn rewind(&mut self, to: Instant) {
        let early = |segment: &Segment| to.since(segment.began) >= WARM;
        let at = self.segments.iter().rposition(early).unwrap_or(0);
        // A fault that is met twice is told once.
        self.over = !self.enter(at, false);
    }

    /// The next input of any segment.
    pub(super) fn next(&mut self) -> Option<Input> {
        loop {
            if self.over {
                return None;
            }
            match self.inputs.take() {
                Ok(Some(input)) => return Some(input),
                Ok(None) => {}
                Err(error) => {
                    let fault = self.reader.malformed(self.offset, error).to_string();
                    self.fail(&fault);
                    continue;
                }
            }
            self.offset = self.reader.offset();
            match self.reader.next_frame() {
                Ok(Some(frame)) if frame.kind == Kind::Standing && self.goes_on => {}
                Ok(Some(frame)) => self.inputs = Inputs::new(frame.raw),
                Ok(None) => self.leave(true),
                Err(fault) => self.fail(&fault.to_string()),
            }
        }
    }

    fn fail(&mut self, fault: &str) {
        self.tell(fault);
        self.leave(false);
    }

    fn tell(&mut self, fault: &str) {
        let fault = match self.segments.get(self.at) {
            Some(segment) => format!("{}: {fault}", segment.path.display()),
            None => fault.to_owned(),
        };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// To the next segment; `whole` if this one was read to its end.
    fn leave(&mut self, whole: bool) {
        let next = self.at + 1;
        let follows = self.segments.get(next).is_some_and(|segment| segment.goes_on);
        self.over = !self.enter(next, whole && follows);
        self.broken = !self.over && !self.goes_on;
    }

    /// If there is one that can be read.
    fn enter(&mut self, at: usize, goes_on: bool) -> bool {
        self.inputs = Inputs::default();
        self.goes_on = goes_on;
        let Some(segment) = self.segments.get(at) else {
            return false;
        };
        match open(&segment.path) {
            Ok(reader) => {
                self.at = at;
                self.reader = reader;
                true
            }
            // Deleted meanwhile by its recorder, since it is too old.
            Err(error) => {
                self.faults.push(error.to_string());
                self.goes_on = false;
                self.enter(at + 1, false)
            }
        }
    }
}

fn open(path: &Path) -> Result<Open, ReplayError> {
    let failed = |cause| ReplayError {
        path: path.to_owned(),
        cause,
    };
    let file = File::open(path).map_err(|cause| failed(cause.into()))?;
    Reader::open(BufReader::new(file)).map_err(failed)
}
