//! A segment, read frame by frame until its end or the first fault.

use std::io::{self, Read, Seek, SeekFrom};

use super::frame::{Frame, FrameError, HEAD, Head, Kind, MAGIC, VERSION};
use super::header::Header;
use super::input::Inputs;
use crate::units::Instant;

/// Why a file cannot be replayed at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something else.
    #[error("it is no recording of tcpwin")]
    Stranger,
    /// Of another version.
    #[error(
        "it is a recording of format {0}, this tcpwin reads format {VERSION} only: use the tcpwin that made it"
    )]
    Version(u32),
    /// Nothing of it is whole.
    #[error("not even its first frame is whole: {0}")]
    Begin(Fault),
}

/// Where a segment stops being readable, and why.
#[derive(Debug, thiserror::Error)]
#[error("at byte {offset}: {kind}; {lost}")]
pub struct Fault {
    /// Where the frame begins that is not whole.
    pub offset: u64,
    /// What is wrong with it.
    pub kind: FaultKind,
    lost: Lost,
}

/// What is wrong with a frame.
#[derive(Debug, thiserror::Error)]
pub enum FaultKind {
    /// The file ends within it.
    #[error("the file ends within a frame")]
    Cut,
    /// The file ends between frames, without the mark of an orderly end.
    #[error("the recording stops without its end mark: its recorder was killed, or still runs")]
    NoEnd,
    /// Not the bytes that were written.
    #[error("the frame is damaged: {0}")]
    Damaged(#[from] FrameError),
    /// Whole, but it holds what this version cannot read.
    #[error("the frame cannot be read: {0}")]
    Malformed(postcard::Error),
    /// The system refuses.
    #[error("cannot read: {0}")]
    Io(io::Error),
}

#[derive(Debug)]
struct Lost(Option<u64>);

impl std::fmt::Display for Lost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => formatter.write_str("up to a second may be missing"),
            Some(bytes) => write!(formatter, "{bytes} bytes from there on are lost"),
        }
    }
}

/// A segment that is open.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// Of the next frame.
    offset: u64,
    header: Header,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads magic, version and header.
    ///
    /// # Errors
    /// When it is no recording, or of another version, or its first frame is not whole.
    pub fn open(mut input: R) -> Result<Self, OpenError> {
        let mut lead = [0; 12];
        if fill(&mut input, &mut lead)? < 12 || lead[..8] != MAGIC {
            return Err(OpenError::Stranger);
        }
        let version = u32::from_le_bytes([lead[8], lead[9], lead[10], lead[11]]);
        if version != VERSION {
            return Err(OpenError::Version(version));
        }
        let mut reader = Self {
            input,
            offset: 12,
            header: Header::default(),
            ended: false,
        };
        let first = reader.read().map_err(OpenError::Begin)?;
        let begin = first.filter(|frame| frame.kind == Kind::Begin);
        let begin = begin.ok_or(OpenError::Stranger)?;
        reader.header = postcard::from_bytes(&begin.raw)
            .map_err(|error| OpenError::Begin(reader.fault(12, FaultKind::Malformed(error), 0)))?;
        Ok(reader)
    }

    /// Where and how it was recorded.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Where the next frame begins, bytes.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next frame with inputs or what stood; `None` at the orderly end.
    ///
    /// # Errors
    /// At the first frame that is not whole. Nothing after it is read: what the table would make of it without the frame
    /// would be wrong.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Fault> {
        if self.ended {
            return Ok(None);
        }
        let read = self.read();
        self.ended = !matches!(&read, Ok(Some(frame)) if frame.kind != Kind::End);
        match read {
            Ok(Some(frame)) if frame.kind == Kind::End => Ok(None),
            Ok(None) => Err(Fault {
                offset: self.offset,
                kind: FaultKind::NoEnd,
                lost: Lost(None),
            }),
            read => read,
        }
    }

    /// The fault of a frame whose payload is not what it should be.
    pub fn malformed(&mut self, offset: u64, error: postcard::Error) -> Fault {
        self.ended = true;
        self.fault(
            offset,
            FaultKind::Malformed(error),
            self.offset.saturating_sub(offset),
        )
    }

    /// `None` where the file ends between frames.
    fn read(&mut self) -> Result<Option<Frame>, Fault> {
        let start = self.offset;
        let mut head = [0; HEAD];
        let got = match fill(&mut self.input, &mut head) {
            Ok(0) => return Ok(None),
            Ok(got) => got,
            Err(error) => return Err(self.fault(start, FaultKind::Io(error), 0)),
        };
        if got < HEAD {
            return Err(self.fault(start, FaultKind::Cut, got as u64));
        }
        let head = Head::parse(head).map_err(|error| self.fault(start, error.into(), HEAD as u64))?;
        let mut payload = Vec::new();
        let mut part = (&mut self.input).take(head.packed as u64);
        if let Err(error) = part.read_to_end(&mut payload) {
            return Err(self.fault(start, FaultKind::Io(error), HEAD as u64));
        }
        let taken = HEAD as u64 + payload.len() as u64;
        if payload.len() < head.packed {
            return Err(self.fault(start, FaultKind::Cut, taken));
        }
        let frame = head
            .unpack(&payload)
            .map_err(|error| self.fault(start, error.into(), taken))?;
        self.offset += taken;
        Ok(Some(frame))
    }

    /// With all bytes from `offset` on, those that were `taken` already included.
    fn fault(&mut self, offset: u64, kind: FaultKind, taken: u64) -> Fault {
        // What cannot be counted is lost all the same.
        let rest = io::copy(&mut self.input, &mut io::sink()).unwrap_or(0);
        Fault {
            offset,
            kind,
            lost: Lost(Some(taken + rest)),
        }
    }
}

impl<R: Read + Seek> Reader<R> {
    /// When the last frame that seems whole ends, without reading the payloads; the reader then stands where it stood.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn last_time(&mut self) -> io::Result<Instant> {
        let here = self.input.stream_position()?;
        let length = self.input.seek(SeekFrom::End(0))?;
        self.input.seek(SeekFrom::Start(here))?;
        let mut last = self.header.began;
        let mut next = here;
        loop {
            let mut head = [0; HEAD];
            if fill(&mut self.input, &mut head)? < HEAD {
                break;
            }
            let Ok(head) = Head::parse(head) else { break };
            next += HEAD as u64 + head.packed as u64;
            if next > length {
                break;
            }
            last = last.max(head.at);
            self.input.seek(SeekFrom::Start(next))?;
        }
        self.input.seek(SeekFrom::Start(here))?;
        Ok(last)
    }
}

/// Reads until the room is full or nothing more comes.
fn fill(input: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < room.len() {
        match input.read(&mut room[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// What a recording in memory holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// Whole frames, the first one and the last one not counted.
    pub frames: u64,
    /// Inputs in them.
    pub inputs: u64,
    /// Why there are no more.
    pub fault: Option<String>,
}

/// Reads all of it, whatever the bytes are. What fuzzers call.
#[must_use]
pub fn read_all(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            contents.fault = Some(error.to_string());
            return contents;
        }
    };
    loop {
        let offset = reader.offset();
        let mut inputs = match reader.next_frame() {
            Ok(Some(frame)) => Inputs::new(frame.raw),
            Ok(None) => return contents,
            Err(fault) => {
                contents.fault = Some(fault.to_string());
                return contents;
            }
        };
        contents.frames += 1;
        loop {
            match inputs.take() {
                Ok(Some(_)) => contents.inputs += 1,
                Ok(None) => break,
                Err(error) => {
                    contents.fault = Some(reader.malformed(offset, error).to_string());
                    return contents;
                }
            }
        }
    }
}
