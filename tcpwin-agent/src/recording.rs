//! Recordings: everything that went into the one table of connections, in order, so that a replay comes to the same
//! verdicts, byte for byte.
//!
//! A recording is one file or several *segments*, each of which can be read by itself. A segment is the magic, the
//! version, and frames ([`frame`]): one that says where and how it was recorded, some that tell what stood when it began,
//! then at least one a second with the table's [`Input`]s, and one that marks an orderly end. Frames know nothing of each
//! other, so that what is whole before a fault can always be read. docs/recording.md has the bytes.

mod anonymise;
mod choice;
mod copy;
pub mod frame;
mod header;
mod input;
mod reader;
mod recorder;
mod segments;
mod standing;

pub use anonymise::Mask;
pub use choice::Choice;
pub use copy::{Copy, CopyError};
pub use header::{About, Header};
pub use input::{Input, Inputs, Laid};
pub use reader::{Contents, Fault, FaultKind, OpenError, Reader, read_all};
pub use recorder::{Clocks, Recorder, Sink};
pub use segments::{Limits, SegmentError, Segments, segments_of};
