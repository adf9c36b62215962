//! A frame: length, checksum, kind, time, payload.
//!
//! ```text
//! offset  bytes
//!      0      4  length of the payload
//!      4      4  CRC-32 (that of zlib) of all that follows, payload included
//!      8      1  kind
//!      9      4  length of the payload once unpacked
//!     13      8  time of the last input in it, CLOCK_MONOTONIC, ns
//!     21         payload: one LZ4 block, without a size before it
//! ```
//!
//! Numbers are little-endian. Written with one `write`, so that a process that is killed leaves whole frames and at most
//! one that is cut.

use crate::units::Instant;

/// What a recording begins with.
pub const MAGIC: [u8; 8] = *b"\x89TCPWIN\n";
/// The only version there is. Any change of what a frame holds makes a new one.
pub const VERSION: u32 = 1;
/// Bytes before the payload.
pub const HEAD: usize = 21;
/// Most that a payload may be once unpacked: what a reader has to have room for.
pub const MOST: usize = 8 << 20;
/// A frame is closed at the first whole input beyond it, far enough from [`MOST`].
pub(super) const ENOUGH: usize = 4 << 20;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Where and how the segment was recorded; the first one.
    Begin = 1,
    /// What stood when it began.
    Standing = 2,
    /// What went into the table.
    Inputs = 3,
    /// The recorder ended in order; the last one, and empty.
    End = 4,
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Longer than any frame that is written.
    #[error("its length is that of no frame")]
    Length,
    /// Not the bytes that were written.
    #[error("its checksum is wrong")]
    Checksum,
    /// Checksum and all, but of no kind that this version knows.
    #[error("its kind {0} is not known")]
    Kind(u8),
    /// It does not unpack to the length that it says.
    #[error("it does not unpack")]
    Packed,
}

/// The first bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Length of the payload as it stands there.
    pub packed: usize,
    crc: u32,
    kind: u8,
    raw: usize,
    /// Time of the last input in it.
    pub at: Instant,
}

/// A frame, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it holds.
    pub kind: Kind,
    /// Time of the last input in it.
    pub at: Instant,
    /// The payload.
    pub raw: Vec<u8>,
}

/// The frame as it is written. `raw` is no longer than [`MOST`].
pub(super) fn encode(kind: Kind, at: Instant, raw: &[u8]) -> Vec<u8> {
    let most = lz4_flex::block::get_maximum_output_size(raw.len());
    let mut bytes = vec![0; HEAD + most];
    // Never fails with that much room.
    let packed = lz4_flex::block::compress_into(raw, &mut bytes[HEAD..]).unwrap_or(0);
    bytes.truncate(HEAD + packed);
    bytes[..4].copy_from_slice(&(packed as u32).to_le_bytes());
    bytes[8] = kind as u8;
    bytes[9..13].copy_from_slice(&(raw.len() as u32).to_le_bytes());
    bytes[13..21].copy_from_slice(&at.0.to_le_bytes());
    let crc = crc32fast::hash(&bytes[8..]);
    bytes[4..8].copy_from_slice(&crc.to_le_bytes());
    bytes
}

impl Head {
    /// # Errors
    /// When no frame is that long.
    pub fn parse(bytes: [u8; HEAD]) -> Result<Self, FrameError> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (packed, raw) = (number(0) as usize, number(9) as usize);
        if raw > MOST || packed > lz4_flex::block::get_maximum_output_size(MOST) {
            return Err(FrameError::Length);
        }
        let mut at = [0; 8];
        at.copy_from_slice(&bytes[13..]);
        Ok(Self {
            packed,
            crc: number(4),
            kind: bytes[8],
            raw,
            at: Instant(u64::from_le_bytes(at)),
        })
    }

    /// The frame with its payload.
    ///
    /// # Errors
    /// When the bytes are not those that were written.
    pub fn unpack(self, payload: &[u8]) -> Result<Frame, FrameError> {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&[self.kind]);
        crc.update(&(self.raw as u32).to_le_bytes());
        crc.update(&self.at.0.to_le_bytes());
        crc.update(payload);
        if payload.len() != self.packed || crc.finalize() != self.crc {
            return Err(FrameError::Checksum);
        }
        let kind = match self.kind {
            1 => Kind::Begin,
            2 => Kind::Standing,
            3 => Kind::Inputs,
            4 => Kind::End,
            other => return Err(FrameError::Kind(other)),
        };
        let raw = lz4_flex::block::decompress(payload, self.raw).map_err(|_| FrameError::Packed)?;
        if raw.len() != self.raw {
            return Err(FrameError::Packed);
        }
        Ok(Frame {
            kind,
            at: self.at,
            raw,
        })
    }
}
