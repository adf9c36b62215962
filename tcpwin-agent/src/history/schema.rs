//! The tables of an hour, and its file.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::HistoryError;

/// Any change of the tables makes a new one.
pub(super) const VERSION: i64 = 1;
/// Seconds of a file.
pub(super) const HOUR: i64 = 3_600;
/// How long another process may hold the file: a minute is written in a few milliseconds.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE minute (
  at INTEGER PRIMARY KEY,    -- when it began, seconds since the epoch
  seconds REAL NOT NULL,     -- how much of it was watched
  cut INTEGER NOT NULL,      -- connections held that did not fit
  host TEXT NOT NULL
);
CREATE TABLE held (
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  netns INTEGER NOT NULL,
  local TEXT NOT NULL,
  peer TEXT NOT NULL,
  direction TEXT NOT NULL,
  pid INTEGER,
  process TEXT,
  cgroup TEXT,
  cause TEXT NOT NULL,       -- the limit
  seconds REAL NOT NULL,
  bytes INTEGER NOT NULL,
  bytes_not_moved INTEGER,
  proof TEXT NOT NULL,
  remedy_side TEXT,
  remedy TEXT
);
CREATE TABLE rest (
  at INTEGER NOT NULL,
  process TEXT,
  cause TEXT NOT NULL,
  seconds REAL NOT NULL,
  bytes INTEGER NOT NULL,
  bytes_not_moved INTEGER
);
";

/// The file of the hour that begins at `hour`, seconds since the epoch; `history-2026-11-30T14Z.sqlite`.
pub(super) fn file(directory: &Path, hour: i64) -> PathBuf {
    let (year, month, day) = super::when::date(hour.div_euclid(86_400));
    let of_day = hour.rem_euclid(86_400) / HOUR;
    directory.join(format!(
        "history-{year:04}-{month:02}-{day:02}T{of_day:02}Z.sqlite"
    ))
}

/// The hour that a file is of.
pub(super) fn hour(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?;
    let text = name.strip_prefix("history-")?.strip_suffix("Z.sqlite")?;
    let (date, hour) = text.split_once('T')?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let mut part = || parts.next()?.ok();
    let days = super::when::days(part()?, part()?, part()?)?;
    let hour: i64 = hour.parse().ok()?;
    (0..24).contains(&hour).then_some(days * 86_400 + hour * HOUR)
}

/// The files of a folder, the oldest first.
pub(super) fn files(directory: &Path) -> Result<Vec<(i64, PathBuf)>, HistoryError> {
    let failed = |cause| HistoryError::Folder {
        path: directory.to_owned(),
        cause,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(hour) = hour(&path) {
            files.push((hour, path));
        }
    }
    files.sort();
    Ok(files)
}

/// Opens an hour to write to; makes its tables if it is new.
pub(super) fn open(path: &Path) -> Result<Connection, HistoryError> {
    let failed = |cause| HistoryError::File {
        path: path.to_owned(),
        cause,
    };
    let file = Connection::open(path).map_err(failed)?;
    file.busy_timeout(PATIENCE).map_err(failed)?;
    // One file an hour and nothing beside it: a rollback journal, emptied after each minute. FULL: what is written survives
    // a power cut.
    file.execute_batch("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;")
        .map_err(failed)?;
    match version(&file).map_err(failed)? {
        VERSION => Ok(file),
        0 => {
            let make = format!("BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;");
            file.execute_batch(&make).map_err(failed)?;
            Ok(file)
        }
        found => Err(HistoryError::Version {
            path: path.to_owned(),
            found,
        }),
    }
}

/// Opens an hour to read; `None` where nothing was written to it yet.
pub(super) fn look(path: &Path) -> Result<Option<Connection>, HistoryError> {
    let failed = |cause| HistoryError::File {
        path: path.to_owned(),
        cause,
    };
    // Not read-only: what a killed agent left half written is taken back by whoever opens the file next.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let readable = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(path, flags)
        .or_else(|_| Connection::open_with_flags(path, readable))
        .map_err(failed)?;
    file.busy_timeout(PATIENCE).map_err(failed)?;
    match version(&file).map_err(failed)? {
        VERSION => Ok(Some(file)),
        0 => Ok(None),
        found => Err(HistoryError::Version {
            path: path.to_owned(),
            found,
        }),
    }
}

fn version(file: &Connection) -> rusqlite::Result<i64> {
    file.query_row("PRAGMA user_version", [], |row| row.get(0))
}
