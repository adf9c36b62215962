//! Writes down what goes into the table, for a file and for those who ask for the same bytes.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;

use super::choice::Choice;
use super::frame::{self, ENOUGH, Kind, MAGIC, VERSION};
use super::header::{About, Header};
use super::input::{Input, Laid};
use super::segments::{SegmentError, Segments};
use super::standing::Standing;
use crate::connection::Table;
use crate::host::{Nic, Sysctl};
use crate::snapshot::Snapshot;
use crate::source::{HostCounts, ProbeCost, Update};
use crate::units::{Instant, Nanos};

/// A frame is written at least so often while anything happens: what a killed recorder loses.
const AT_LEAST: Nanos = Nanos(1_000_000_000);
/// Frames that a reader of the bytes may be behind.
const BEHIND: usize = 256;
/// Readers of the bytes at once.
const STREAMS: usize = 4;

/// The bytes of a recording as they come, whole frames; the first ones are those a segment begins with.
pub type Sink = mpsc::Receiver<Arc<[u8]>>;

/// Where and when a recording is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// CLOCK_REALTIME less CLOCK_MONOTONIC, ns.
    pub wall_offset_ns: i64,
    /// Seconds east of Greenwich.
    pub zone_seconds: i32,
}

/// Writes down what goes into the table, while anybody wants it.
#[derive(Debug)]
pub struct Recorder {
    about: About,
    clocks: Clocks,
    /// Names the recording; 0 before it begins.
    recording: i64,
    segment: u32,
    file: Option<Segments>,
    streams: Vec<mpsc::Sender<Arc<[u8]>>>,
    choice: Choice,
    standing: Standing,
    raw: Vec<u8>,
    last: Instant,
    written: Instant,
    failed: Option<String>,
    lost: u64,
    readers_lost: u64,
}

impl Recorder {
    /// For those who will ask.
    #[must_use]
    pub fn new(about: About, clocks: Clocks) -> Self {
        Self {
            about,
            clocks,
            recording: 0,
            segment: 0,
            file: None,
            streams: Vec::new(),
            choice: Choice::default(),
            standing: Standing::default(),
            raw: Vec::new(),
            last: Instant(0),
            written: Instant(0),
            failed: None,
            lost: 0,
            readers_lost: 0,
        }
    }

    /// Into a file as well, with a choice of what is written: whoever asks for the bytes gets the same.
    #[must_use]
    pub fn with_file(mut self, file: Segments, choice: Choice) -> Self {
        self.about = choice.about(std::mem::take(&mut self.about));
        self.file = Some(file);
        self.choice = choice;
        self
    }

    /// If anybody wants the inputs.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.file.is_some() || !self.streams.is_empty()
    }

    /// Frames that could not be written to the file, and readers that were too slow.
    #[must_use]
    pub const fn losses(&self) -> [(&'static str, u64); 2] {
        [
            ("recording_failed", self.lost),
            ("recording_reader_behind", self.readers_lost),
        ]
    }

    /// Why nothing is written to the file any more; said once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failed.take()
    }

    /// The source tells of a socket.
    pub fn update(&mut self, update: &Update) {
        if !self.is_wanted() {
            return;
        }
        if self.choice.is_all() {
            // Written as `Input::Update`, the first variant, without a copy of it: most of a recording is this.
            self.raw.extend(packed(&(0u8, update)));
        } else {
            self.put(Input::Update(Box::new(update.clone())));
        }
    }

    /// The interfaces as they are now.
    pub fn links(&mut self, own: u32, nics: &[Nic]) {
        let nics = nics.to_vec();
        self.note(Input::Links { own, nics });
    }

    /// Settings of a namespace as they are now.
    pub fn settings(&mut self, netns: u32, sysctl: Option<&Sysctl>) {
        let sysctl = sysctl.cloned().map(Box::new);
        self.note(Input::Settings { netns, sysctl });
    }

    /// The interval ends.
    pub fn tick(&mut self, now: Instant, missed: u64) {
        self.last = now;
        if self.is_wanted() {
            self.put(Input::Tick { now, missed });
        }
    }

    /// What the table asked of others since the last call: belongs to the input before it.
    pub fn answers(&mut self, table: &mut Table) {
        table.note_answers(self.is_wanted());
        for (key, owner) in table.take_answers() {
            let owner = Box::new(owner.as_ref().clone());
            self.put(Input::Owner { key, owner });
        }
        if self.raw.len() >= ENOUGH {
            self.flush();
        }
    }

    /// The tick's snapshot was laid: its inputs are complete, and go out.
    pub fn laid(
        &mut self,
        snapshot: &Snapshot,
        (host_counts, probe_cost): (HostCounts, Option<ProbeCost>),
        table: &mut Table,
    ) {
        let health = &snapshot.health;
        let hooks = health.hooks.iter();
        self.note(Input::Hooks(
            hooks
                .map(|hook| (hook.hook.clone(), hook.missing.clone()))
                .collect(),
        ));
        let losses = health.losses.iter();
        self.note(Input::Losses(
            losses.map(|(cause, count)| (cause.clone(), *count)).collect(),
        ));
        if let Ok(facts) = serde_json::to_string(&snapshot.facts) {
            self.note(Input::Facts(facts));
        }
        self.note(Input::Laid(Laid {
            tick: snapshot.tick,
            interval_us: snapshot.interval_us,
            host_counts,
            probe_cost,
            tick_cpu_us: health.tick_cpu_us,
            cpu_us: health.cpu_us,
            rss_bytes: health.rss_bytes,
        }));
        self.flush();
        self.begin_if_due(table);
    }

    /// Between ticks that are far apart, what there is goes out all the same.
    pub fn keep_up(&mut self, now: Instant) {
        self.last = self.last.max(now);
        if !self.raw.is_empty() && now.since(self.written) >= AT_LEAST {
            self.flush();
        }
    }

    /// The bytes from now on; `None` where too many read them already.
    pub fn subscribe(&mut self, now: Instant, table: &mut Table) -> Option<Sink> {
        self.streams.retain(|stream| !stream.is_closed());
        if self.streams.len() >= STREAMS {
            return None;
        }
        self.last = self.last.max(now);
        self.flush();
        table.note_answers(true);
        let (stream, sink) = mpsc::channel(BEHIND);
        let lead = self.lead(table);
        for part in lead.chunks(1 << 20) {
            stream.try_send(part.into()).ok()?;
        }
        self.streams.push(stream);
        Some(sink)
    }

    /// The first segment is begun before the first input.
    pub fn begin_if_due(&mut self, table: &mut Table) {
        if self.file.as_ref().is_some_and(|file| file.is_due(self.last)) {
            self.end_segment();
            let lead = self.lead(table);
            let wall = self.wall();
            let begun = self.file.as_mut().map(|file| file.begin(self.last, wall, &lead));
            self.segment += 1;
            self.check(begun);
        }
        table.note_answers(self.is_wanted());
    }

    /// Before the first input.
    pub fn begin(&mut self, now: Instant, table: &mut Table) {
        self.last = now;
        self.written = now;
        self.begin_if_due(table);
    }

    fn wall(&self) -> SystemTime {
        let since = i128::from(self.last.0) + i128::from(self.clocks.wall_offset_ns);
        let nanos = u64::try_from(since).unwrap_or(0);
        UNIX_EPOCH + Duration::from_nanos(nanos)
    }

    /// What a segment that begins now begins with.
    fn lead(&mut self, table: &Table) -> Vec<u8> {
        let at = self.last;
        if self.recording == 0 {
            self.recording = i64::try_from(at.0).unwrap_or(0) + self.clocks.wall_offset_ns;
        }
        let header = Header {
            recording: self.recording,
            segment: self.segment,
            goes_on: self.segment > 0,
            began: at,
            wall_offset_ns: self.clocks.wall_offset_ns,
            zone_seconds: self.clocks.zone_seconds,
            about: self.about.clone(),
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend(frame::encode(Kind::Begin, at, &packed(&header)));
        let mut raw = Vec::new();
        let mut add = |input: &Input, bytes: &mut Vec<u8>| {
            raw.extend(packed(input));
            if raw.len() >= ENOUGH {
                bytes.extend(frame::encode(Kind::Standing, at, &raw));
                raw.clear();
            }
        };
        add(&Input::Resume(table.ticked()), &mut bytes);
        // Chosen when they were noted.
        for input in self.standing.first() {
            add(input, &mut bytes);
        }
        for kept in table.kept() {
            if let Some(input) = self.choice.input(Input::Kept(Box::new(kept))) {
                add(&input, &mut bytes);
            }
        }
        if let Some(laid) = self.standing.last() {
            add(laid, &mut bytes);
        }
        bytes.extend(frame::encode(Kind::Standing, at, &raw));
        bytes
    }

    /// Remembers what stands, and writes it down if it is new.
    fn note(&mut self, input: Input) {
        let Some(input) = self.choice.input(input) else {
            return;
        };
        if self.standing.note(&input) && self.is_wanted() {
            self.raw.extend(packed(&input));
        }
    }

    fn put(&mut self, input: Input) {
        if let Some(input) = self.choice.input(input) {
            self.raw.extend(packed(&input));
        }
    }

    fn flush(&mut self) {
        self.written = self.last;
        if self.raw.is_empty() {
            return;
        }
        let frame = frame::encode(Kind::Inputs, self.last, &self.raw);
        self.raw.clear();
        self.raw.shrink_to(ENOUGH);
        let written = self.file.as_mut().map(|file| file.write(&frame));
        self.check(written);
        if !self.streams.is_empty() {
            self.tell(&frame.into());
        }
    }

    fn tell(&mut self, frame: &Arc<[u8]>) {
        let before = self.streams.len();
        let mut closed = 0;
        self.streams.retain(|stream| {
            closed += usize::from(stream.is_closed());
            stream.try_send(Arc::clone(frame)).is_ok()
        });
        self.readers_lost += (before - self.streams.len() - closed) as u64;
    }

    fn end_segment(&mut self) {
        let end = frame::encode(Kind::End, self.last, &[]);
        // Nothing has begun before the first one, and nothing follows a failure.
        if let Some(file) = self.file.as_mut().filter(|file| file.is_open()) {
            let written = file.write(&end);
            self.check(Some(written));
        }
    }

    /// The agent goes on without its recording: it says so once, and counts.
    fn check(&mut self, written: Option<Result<(), SegmentError>>) {
        let Some(Err(error)) = written else { return };
        self.lost += 1;
        self.failed = Some(format!("nothing is recorded from now on: {error}"));
        self.file = None;
    }
}

/// The orderly end: what was not written yet, and the mark.
impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush();
        self.end_segment();
        let end = frame::encode(Kind::End, self.last, &[]);
        self.tell(&end.into());
    }
}

/// Never fails: nothing in a recording is of a kind that postcard lacks.
fn packed<T: serde::Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).unwrap_or_default()
}
