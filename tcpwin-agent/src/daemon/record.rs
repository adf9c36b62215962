//! What a recording is told of this host, and where it goes.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::attach::Attached;
use crate::config::{Config, Record};
use crate::recording::{
    About, Choice, Clocks, Copy, CopyError, Limits, Mask, Recorder, SegmentError, Segments,
};
use crate::snapshot::Health;
use crate::trace::zone_seconds;

/// One that nobody listens to yet.
pub(super) fn recorder(health: &Health, config: &Config) -> Recorder {
    let about = About {
        version: health.version.clone(),
        host: health.host.clone(),
        kernel: health.kernel.clone(),
        source: health.source.clone(),
        source_reason: health.source_reason.clone(),
        capacity: health.table_capacity,
        ..About::default()
    };
    let said = config.path_bandwidth.iter();
    let about = about.with_paths(said.map(|said| (said.prefix, said.rate)));
    Recorder::new(about, clocks())
}

/// The file that was asked for.
pub(super) fn file(record: &Record) -> Result<Option<(Segments, Choice)>, SegmentError> {
    let Some(path) = &record.file else { return Ok(None) };
    let limits = Limits {
        size: record.max_size.bytes(),
        age: record.max_age.map(|age| age.duration()),
    };
    let choice = Choice {
        mask: record.anonymise.then(Mask::random),
        only: record.netns.clone(),
    };
    Ok(Some((Segments::new(path, limits)?, choice)))
}

/// Copies what an agent serves into the file that was asked for, on a thread of its own; nothing where none was.
///
/// # Errors
/// When the agent refuses or the file cannot be written.
pub fn copy_recording(agent: &Attached, record: &Record) -> anyhow::Result<Option<Copy>> {
    let Some((file, choice)) = file(record)? else {
        return Ok(None);
    };
    let copy = Copy::new(file, choice);
    let (agent, written) = (agent.clone(), copy.clone());
    let mut stream = agent.recording()?;
    std::thread::Builder::new()
        .name("tcpwin-record".to_owned())
        .spawn(move || {
            loop {
                match written.segment(stream) {
                    Ok(false) => return,
                    Err(error) => return written.fail(error),
                    // Full: the next segment begins with what stands now.
                    Ok(true) => {}
                }
                match agent.recording() {
                    Ok(next) => stream = next,
                    Err(error) => return written.fail(CopyError::Refused(error.to_string())),
                }
            }
        })?;
    Ok(Some(copy))
}

/// Copies what was chosen of a recording into another, to give it away; says what could not be read.
///
/// # Errors
/// When either cannot be opened, or the other cannot be written.
pub fn cut_recording(from: &Path, record: &Record) -> anyhow::Result<Option<String>> {
    let Some((file, choice)) = file(record)? else {
        return Ok(None);
    };
    let copy = Copy::new(file, choice);
    let stream = BufReader::new(File::open(from)?);
    let outcome = copy.file(stream);
    copy.finish()?;
    match outcome {
        Err(CopyError::Fault(fault)) => Ok(Some(fault.to_string())),
        other => other.map(|()| None).map_err(Into::into),
    }
}

/// Both clocks at one moment.
fn clocks() -> Clocks {
    let wall = clock_gettime(ClockId::Realtime);
    let monotonic = clock_gettime(ClockId::Monotonic);
    let nanos = |time: Timespec| time.tv_sec.saturating_mul(1_000_000_000) + time.tv_nsec;
    Clocks {
        wall_offset_ns: nanos(wall) - nanos(monotonic),
        zone_seconds: i32::try_from(zone_seconds(wall.tv_sec)).unwrap_or(0),
    }
}
