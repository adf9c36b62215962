//! Writing minutes, within bounds.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, params};

use super::HistoryError;
use super::schema::{self, HOUR};
use crate::classify::Remedy;
use crate::connection::{Held, Spent};

/// Minutes that may wait for the disk.
const WAITING: usize = 2;
/// What a row takes beside its text, and what SQLite takes beside rows: measured, see the test of the bound.
const ROW: u64 = 120;
/// Of a minute's share, what rows may take: pages are never full.
const FILL: f64 = 0.8;
/// An empty file: a page for each table and one for their list.
const EMPTY: u64 = 5 * 4_096;

/// How much is kept, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All files together, bytes.
    pub size: u64,
    /// How long.
    pub age: Duration,
}

impl Limits {
    /// What a minute may take so that as many fit as are kept. An hour more than that may be there.
    fn share(&self) -> u64 {
        let hours = self.age.as_secs().div_ceil(HOUR.unsigned_abs()) + 2;
        let files = hours * EMPTY;
        (self.size.saturating_sub(files) / (hours * 60)).max(1)
    }
}

/// A minute of the host.
#[derive(Clone, Debug)]
pub struct Minute {
    /// When it began, seconds since the epoch.
    pub at: i64,
    /// How much of it was watched, s.
    pub seconds: f64,
    /// Name of the host.
    pub host: String,
    /// What happened in it.
    pub spent: Spent,
}

/// The folder of the history, written by one process.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    limits: Limits,
    /// The hour that is open, and its file.
    open: Option<(i64, Connection)>,
}

impl Store {
    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// When it cannot be made or written to.
    pub fn new(directory: &Path, limits: Limits) -> Result<Self, HistoryError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        // Who talks to whom is nobody else's business.
        let made = builder.recursive(true).mode(0o700).create(directory);
        made.map_err(|cause| HistoryError::Folder {
            path: directory.to_owned(),
            cause,
        })?;
        schema::files(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
            limits,
            open: None,
        })
    }

    /// Writes a minute, all of it or nothing.
    ///
    /// # Errors
    /// When the disk or SQLite refuses.
    pub fn write(&mut self, minute: &Minute) -> Result<(), HistoryError> {
        let hour = minute.at - minute.at.rem_euclid(HOUR);
        if self.open.as_ref().is_none_or(|(open, _)| *open != hour) {
            self.open = None;
            self.make_room(minute.at, hour)?;
            let file = schema::open(&schema::file(&self.directory, hour))?;
            self.open = Some((hour, file));
        }
        let share = (self.limits.share() as f64 * FILL) as u64;
        let Some((_, file)) = &mut self.open else {
            return Ok(());
        };
        put(file, minute, share).map_err(|cause| HistoryError::File {
            path: schema::file(&self.directory, hour),
            cause,
        })
    }

    /// Deletes hours that are too old, and the oldest until there is room for a whole one.
    fn make_room(&self, now: i64, hour: i64) -> Result<(), HistoryError> {
        let age = i64::try_from(self.limits.age.as_secs()).unwrap_or(i64::MAX);
        let mut files = schema::files(&self.directory)?;
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
        let needed = self.limits.share() * 60 + EMPTY;
        let mut total: u64 = files.iter().map(|(_, path)| length(path)).sum();
        files.retain(|(of, _)| *of != hour);
        for (of, path) in files {
            let is_old = of + HOUR + age <= now;
            // A clock that was set back leaves hours of the future: they are no use to anybody.
            if is_old || of > hour || total + needed > self.limits.size {
                total -= length(&path).min(total);
                std::fs::remove_file(&path).map_err(|cause| HistoryError::Folder { path, cause })?;
            }
        }
        Ok(())
    }
}

fn put(file: &mut Connection, minute: &Minute, share: u64) -> rusqlite::Result<()> {
    let change = file.transaction()?;
    let at = minute.at;
    // A minute that was watched in two parts: the agent was started anew in it.
    let known: Option<(f64, i64)> = {
        let mut find = change.prepare("SELECT seconds, cut FROM minute WHERE at = ?1")?;
        let mut rows = find.query([at])?;
        match rows.next()? {
            Some(row) => Some((row.get(0)?, row.get(1)?)),
            None => None,
        }
    };
    let mut room = share;
    let mut cut = minute.spent.crowded_out();
    let mut rest = change.prepare(
        "INSERT INTO rest (at, process, cause, seconds, bytes, bytes_not_moved) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (limit, each) in minute.spent.rest() {
        let taken = ROW / 2 + each.program.as_ref().map_or(0, String::len) as u64;
        // Half of the share at most: single connections are what is asked for.
        if room < share / 2 + taken {
            break;
        }
        room -= taken;
        let sum = each.sum;
        rest.execute(params![
            at,
            each.program,
            limit.name(),
            sum.time.seconds(),
            whole(sum.bytes),
            sum.not_moved.map(whole)
        ])?;
    }
    drop(rest);
    let mut row = change.prepare(
        "INSERT INTO held (at, id, netns, local, peer, direction, pid, process, cgroup, cause, seconds, bytes,
                           bytes_not_moved, proof, remedy_side, remedy)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    for held in minute.spent.held() {
        let remedies = held.verdict.remedies();
        let remedy = remedies.first();
        let taken = size(held, remedy);
        if taken > room {
            cut += 1;
            continue;
        }
        room -= taken;
        let process = held.owner.as_ref().and_then(|owner| owner.process.as_ref());
        row.execute(params![
            at,
            held.key.cookie.to_string(),
            held.key.netns,
            held.local.to_string(),
            held.peer.to_string(),
            word(&held.verdict.direction),
            process.map(|process| process.pid),
            held.program,
            held.owner.as_ref().and_then(|owner| owner.cgroup.as_deref()),
            held.verdict.limit.name(),
            held.sum.time.seconds(),
            whole(held.sum.bytes),
            held.sum.not_moved.map(whole),
            held.verdict.proof,
            remedy.map(|remedy| word(&remedy.side)),
            remedy.map(|remedy| remedy.change.as_str()),
        ])?;
    }
    drop(row);
    let (seconds, cut) = match known {
        Some((before, before_cut)) => (before + minute.seconds, before_cut.unsigned_abs() + cut),
        None => (minute.seconds, cut),
    };
    change.execute(
        "INSERT OR REPLACE INTO minute (at, seconds, cut, host) VALUES (?1, ?2, ?3, ?4)",
        params![at, seconds, whole(cut), minute.host],
    )?;
    change.commit()
}

/// The name in JSON.
fn word<T: serde::Serialize>(value: &T) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(str::to_owned)
}

/// SQLite's integers have a sign.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What a row will take.
fn size(held: &Held, remedy: Option<&Remedy>) -> u64 {
    let owner = held.owner.as_ref().and_then(|owner| owner.cgroup.as_ref());
    let text = held.verdict.proof.len()
        + owner.map_or(0, String::len)
        + held.program.as_ref().map_or(0, String::len)
        + remedy.map_or(0, |remedy| remedy.change.len())
        + 60;
    ROW + text as u64
}

/// Writes on a thread of its own: the table does not wait for a disk.
#[derive(Debug)]
pub struct Writer {
    minutes: Option<SyncSender<Minute>>,
    failed: Arc<AtomicU64>,
    dropped: u64,
    failure: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts it.
    ///
    /// # Errors
    /// When the thread cannot be had.
    pub fn start(mut store: Store) -> std::io::Result<Self> {
        let (minutes, waiting) = sync_channel::<Minute>(WAITING);
        let failed = Arc::new(AtomicU64::new(0));
        let failure = Arc::new(Mutex::new(None));
        let (count, say) = (Arc::clone(&failed), Arc::clone(&failure));
        let thread = std::thread::Builder::new()
            .name("tcpwin-history".to_owned())
            .spawn(move || {
                for minute in waiting {
                    if let Err(error) = store.write(&minute) {
                        count.fetch_add(1, Ordering::Relaxed);
                        *say.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                        // Whatever became of the file: the next minute opens it anew.
                        store.open = None;
                    }
                }
            })?;
        Ok(Self {
            minutes: Some(minutes),
            failed,
            dropped: 0,
            failure,
            thread: Some(thread),
        })
    }

    /// Hands a minute over. Never waits: what the disk is too slow for is counted.
    pub fn write(&mut self, minute: Minute) {
        let Some(minutes) = &self.minutes else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = minutes.try_send(minute) {
            self.dropped += 1;
        }
    }

    /// Minutes that are not on disk.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.dropped + self.failed.load(Ordering::Relaxed)
    }

    /// Why the last one could not be written; said once.
    #[must_use]
    pub fn take_failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What was handed over is written.
impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.minutes.take());
        if let Some(thread) = self.thread.take() {
            // A panic was printed where it happened.
            let _ = thread.join();
        }
    }
}
