//! The bytes of a recording into a file: those that an agent serves, for `top` and `trace` that are attached to one, or those of
//! another file, of which a part may be chosen.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::choice::Choice;
use super::frame::{self, Frame, Kind, MAGIC, VERSION};
use super::header::Header;
use super::input::Inputs;
use super::reader::{Fault, OpenError, Reader};
use super::segments::{SegmentError, Segments};
use crate::units::Instant;

/// Why a copy ended.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// What was served is no recording.
    #[error("this cannot be copied: {0}")]
    Open(#[from] OpenError),
    /// It broke off.
    #[error("the recording broke off: {0}")]
    Fault(#[from] Fault),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] SegmentError),
    /// A frame is whole, but no input of this version.
    #[error("a frame cannot be read: {0}")]
    Malformed(#[from] postcard::Error),
    /// The agent is gone, or refuses to go on.
    #[error("nothing more is recorded: {0}")]
    Refused(String),
}

#[derive(Debug)]
struct State {
    file: Segments,
    choice: Choice,
    /// Of the first header: names the recording.
    recording: Option<i64>,
    segment: u32,
    last: Instant,
    over: bool,
    failure: Option<CopyError>,
}

/// A recording that is copied into a file. Clones are of the same one.
#[derive(Clone, Debug)]
pub struct Copy(Arc<Mutex<State>>);

impl Copy {
    /// Nothing is copied yet.
    #[must_use]
    pub fn new(file: Segments, choice: Choice) -> Self {
        Self(Arc::new(Mutex::new(State {
            file,
            choice,
            recording: None,
            segment: 0,
            last: Instant(0),
            over: false,
            failure: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies until the stream ends, the copy is finished (`Ok(false)`), or the file wants a new segment (`Ok(true)`): the
    /// next one has to begin with what stands then, so the agent has to be asked again.
    ///
    /// # Errors
    /// When the stream or the file is at an end that is not orderly.
    pub fn segment(&self, stream: impl Read) -> Result<bool, CopyError> {
        self.frames(stream, true)
    }

    fn frames(&self, stream: impl Read, may_turn: bool) -> Result<bool, CopyError> {
        let mut reader = Reader::open(stream)?;
        let header = reader.header().clone();
        let mut lead = None;
        while let Some(frame) = reader.next_frame()? {
            let mut state = self.state();
            if state.over {
                return Ok(false);
            }
            if lead.is_none() {
                lead = Some(state.lead(&header));
            }
            let bytes = state.turned(&frame)?;
            match &mut lead {
                Some(lead) if frame.kind == Kind::Standing => lead.extend(bytes),
                lead => {
                    // Written before: from here on it is frame by frame.
                    let begun = lead.replace(Vec::new()).unwrap_or_default();
                    state.append(&header, &begun, frame.at, &bytes)?;
                    if may_turn && state.file.is_due(state.last) {
                        state.end()?;
                        return Ok(true);
                    }
                }
            }
        }
        self.finish()?;
        Ok(false)
    }

    /// Copies another file, whatever the size of this one's segments.
    ///
    /// # Errors
    /// As [`Copy::segment`]; what is whole is copied.
    pub fn file(&self, file: impl Read) -> Result<(), CopyError> {
        self.frames(file, false).map(|_| ())
    }

    /// It cannot go on; [`Copy::finish`] tells why.
    pub fn fail(&self, failure: CopyError) {
        let mut state = self.state();
        state.over = true;
        state.failure = Some(failure);
    }

    /// The orderly end of the file.
    ///
    /// # Errors
    /// When it cannot be written, or the copy failed before.
    pub fn finish(&self) -> Result<(), CopyError> {
        let mut state = self.state();
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        if !std::mem::replace(&mut state.over, true) {
            state.end()?;
        }
        Ok(())
    }
}

impl State {
    /// What comes before the frames.
    fn lead(&mut self, header: &Header) -> Vec<u8> {
        let about = self.choice.about(header.about.clone());
        let header = Header {
            recording: *self.recording.get_or_insert(header.recording),
            segment: self.segment,
            // What happened between two requests is not in either.
            goes_on: false,
            about,
            ..header.clone()
        };
        self.segment += 1;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let raw = postcard::to_allocvec(&header).unwrap_or_default();
        bytes.extend(frame::encode(Kind::Begin, header.began, &raw));
        bytes
    }

    fn turned(&mut self, frame: &Frame) -> Result<Vec<u8>, postcard::Error> {
        if self.choice.is_all() {
            return Ok(frame::encode(frame.kind, frame.at, &frame.raw));
        }
        let mut inputs = Inputs::new(frame.raw.clone());
        let mut raw = Vec::with_capacity(frame.raw.len());
        while let Some(input) = inputs.take()? {
            if let Some(input) = self.choice.input(input) {
                raw = postcard::to_extend(&input, raw)?;
            }
        }
        Ok(frame::encode(frame.kind, frame.at, &raw))
    }

    fn append(
        &mut self,
        header: &Header,
        lead: &[u8],
        at: Instant,
        bytes: &[u8],
    ) -> Result<(), SegmentError> {
        self.last = at;
        if !lead.is_empty() {
            self.file.begin(header.began, wall(header, at), lead)?;
        }
        self.file.write(bytes)
    }

    fn end(&mut self) -> Result<(), SegmentError> {
        if !self.file.is_open() {
            return Ok(());
        }
        let end = frame::encode(Kind::End, self.last, &[]);
        self.file.write(&end)
    }
}

fn wall(header: &Header, at: Instant) -> SystemTime {
    let since = i128::from(at.0) + i128::from(header.wall_offset_ns);
    UNIX_EPOCH + Duration::from_nanos(u64::try_from(since).unwrap_or(0))
}
