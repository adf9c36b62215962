//! Reading the history: what held which connections between two moments, and what it cost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection as File, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::HistoryError;
use super::schema::{self, HOUR};
use crate::classify::{Bound, Direction, Limit, Side};
use crate::observation::Origin;
use crate::query::Filter;
use crate::snapshot::{Connection, Process, TcpFields};

/// What a line stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A connection under a limit.
    #[default]
    Connection,
    /// A program.
    Process,
    /// A peer's address.
    Peer,
    /// A limit alone.
    Limit,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// First minute, seconds since the epoch.
    pub from: i64,
    /// The first one after the last.
    pub to: i64,
    /// Which connections.
    pub filter: Filter,
    /// What the lines stand for.
    pub by: By,
}

/// One thing that held something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Class of the limit.
    pub bound: Bound,
    /// The limit.
    pub limit: Limit,
    /// Of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its network namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netns: Option<u32>,
    /// Its end here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The other end; an address alone where the line is a peer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Which way its bytes went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Name of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Its id; absent where the line stands for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its cgroup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// How many connections.
    pub connections: u64,
    /// How long they were held, all together.
    pub seconds: f64,
    /// Bytes moved meanwhile.
    pub bytes: u64,
    /// Bytes that lifting the limit would have moved beside these; absent where that was never known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_not_moved: Option<u64>,
    /// The last sentence with the numbers, of the connection that it cost most.
    pub proof: String,
    /// Who must act.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// All that is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Name of the host.
    pub host: String,
    /// First minute, seconds since the epoch.
    pub from: i64,
    /// The first one after the last.
    pub to: i64,
    /// How much of that was watched, s.
    pub watched_seconds: f64,
    /// Connections that were held and are not among the lines, since a minute had no room for them.
    pub cut: u64,
    /// Connections that a window held at some time.
    pub window_bound: u64,
    /// Bytes that lifting those windows would have moved, where that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes_not_moved: Option<u64>,
    /// What held, the costliest first.
    pub lines: Vec<Line>,
    /// Seconds of connections that nothing held, by limit; not told where a filter is asked for.
    pub rest: BTreeMap<Limit, f64>,
    /// Files that could not be read, a sentence each.
    pub faults: Vec<String>,
}

/// Asks the history in a folder; its agent may run meanwhile, or be dead.
///
/// # Errors
/// When the folder cannot be read.
pub fn ask(directory: &Path, question: &Question) -> Result<Answer, HistoryError> {
    let mut answer = Answer {
        from: question.from,
        to: question.to,
        ..Answer::default()
    };
    let mut lines = Lines::default();
    for (hour, path) in schema::files(directory)? {
        if hour >= question.to || hour + HOUR <= question.from {
            continue;
        }
        if let Err(error) = read(&path, question, &mut answer, &mut lines) {
            answer.faults.push(error.to_string());
        }
    }
    let windows = || lines.0.values().filter(|each| each.line.bound == Bound::Window);
    let connections: BTreeSet<&(String, u32)> = windows().flat_map(|each| &each.known).collect();
    answer.window_bound = connections.len() as u64;
    answer.window_bytes_not_moved = windows()
        .filter_map(|each| each.line.bytes_not_moved)
        .reduce(u64::saturating_add);
    answer.lines = lines.0.into_values().map(|gathered| gathered.line).collect();
    let cost = |line: &Line| (line.bytes_not_moved, line.seconds);
    answer.lines.sort_by(|one, other| {
        let (not_moved, seconds) = cost(other);
        let (less, shorter) = cost(one);
        not_moved.cmp(&less).then(seconds.total_cmp(&shorter))
    });
    Ok(answer)
}

/// What lines are told apart by.
type Which = (Limit, Option<String>, Option<u32>);

/// A line, and the most that one of its rows cost.
struct Gathered {
    line: Line,
    most: (Option<u64>, f64),
    known: BTreeSet<(String, u32)>,
}

#[derive(Default)]
struct Lines(BTreeMap<Which, Gathered>);

fn read(
    path: &Path,
    question: &Question,
    answer: &mut Answer,
    lines: &mut Lines,
) -> Result<(), HistoryError> {
    let Some(file) = schema::look(path)? else {
        return Ok(());
    };
    let mut all = || -> rusqlite::Result<()> {
        minutes(&file, question, answer)?;
        let mut select = file.prepare("SELECT * FROM held WHERE at >= ?1 AND at < ?2 ORDER BY at, rowid")?;
        let mut rows = select.query([question.from, question.to])?;
        while let Some(row) = rows.next()? {
            let line = line(row)?;
            if question.filter.is_empty() || question.filter.matches(&connection(&line)) {
                lines.add(question.by, line);
            }
        }
        Ok(())
    };
    all().map_err(|cause| HistoryError::File {
        path: path.to_owned(),
        cause,
    })
}

fn minutes(file: &File, question: &Question, answer: &mut Answer) -> rusqlite::Result<()> {
    let range = [question.from, question.to];
    let mut select = file.prepare("SELECT seconds, cut, host FROM minute WHERE at >= ?1 AND at < ?2")?;
    let mut rows = select.query(range)?;
    while let Some(row) = rows.next()? {
        answer.watched_seconds += row.get::<_, f64>(0)?;
        answer.cut += row.get::<_, i64>(1)?.unsigned_abs();
        answer.host = row.get(2)?;
    }
    if !question.filter.is_empty() {
        return Ok(());
    }
    let mut select =
        file.prepare("SELECT cause, SUM(seconds) FROM rest WHERE at >= ?1 AND at < ?2 GROUP BY cause")?;
    let mut rows = select.query(range)?;
    while let Some(row) = rows.next()? {
        if let Some(limit) = word::<Limit>(&row.get::<_, String>(0)?) {
            *answer.rest.entry(limit).or_default() += row.get::<_, f64>(1)?;
        }
    }
    Ok(())
}

fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    let text = |name: &str| row.get::<_, Option<String>>(name);
    // A limit of a newer version is not told, and says so.
    let limit = text("cause")?
        .and_then(|name| word(&name))
        .unwrap_or(Limit::Unknown);
    Ok(Line {
        bound: limit.bound(),
        limit,
        id: text("id")?,
        netns: row.get("netns")?,
        local: text("local")?,
        peer: text("peer")?,
        direction: text("direction")?.and_then(|name| word(&name)),
        process: text("process")?,
        pid: row.get("pid")?,
        cgroup: text("cgroup")?,
        connections: 1,
        seconds: row.get("seconds")?,
        bytes: row.get::<_, i64>("bytes")?.unsigned_abs(),
        bytes_not_moved: row
            .get::<_, Option<i64>>("bytes_not_moved")?
            .map(i64::unsigned_abs),
        proof: text("proof")?.unwrap_or_default(),
        side: text("remedy_side")?.and_then(|name| word(&name)),
        change: text("remedy")?,
    })
}

/// A value by its name in JSON.
fn word<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(name.to_owned())).ok()
}

impl Lines {
    fn add(&mut self, by: By, line: Line) {
        let connection = (line.id.clone().unwrap_or_default(), line.netns.unwrap_or(0));
        let address = |peer: &Option<String>| {
            let peer = peer.as_ref()?.parse::<std::net::SocketAddr>().ok()?;
            Some(peer.ip().to_string())
        };
        let which = match by {
            By::Connection => (line.limit, line.id.clone(), line.netns),
            By::Process => (line.limit, line.process.clone(), None),
            By::Peer => (line.limit, address(&line.peer), None),
            By::Limit => (line.limit, None, None),
        };
        let cost = (line.bytes_not_moved, line.seconds);
        let Some(gathered) = self.0.get_mut(&which) else {
            let line = reduced(by, line, &which);
            let known = [connection].into();
            self.0.insert(
                which,
                Gathered {
                    line,
                    most: cost,
                    known,
                },
            );
            return;
        };
        let sum = &mut gathered.line;
        sum.seconds += line.seconds;
        sum.bytes = sum.bytes.saturating_add(line.bytes);
        if let Some(more) = line.bytes_not_moved {
            sum.bytes_not_moved = Some(sum.bytes_not_moved.unwrap_or(0).saturating_add(more));
        }
        if gathered.known.insert(connection) {
            sum.connections += 1;
        }
        // One connection's last word; of several, that of the one it cost most.
        if by == By::Connection || cost > gathered.most {
            gathered.most = cost;
            (sum.proof, sum.side, sum.change) = (line.proof, line.side, line.change);
        }
    }
}

/// Without what is of one connection alone.
fn reduced(by: By, line: Line, which: &Which) -> Line {
    if by == By::Connection {
        return line;
    }
    Line {
        id: None,
        netns: None,
        local: None,
        direction: None,
        pid: None,
        cgroup: None,
        process: which.1.clone().filter(|_| by == By::Process),
        peer: which.1.clone().filter(|_| by == By::Peer),
        ..line
    }
}

/// As the filter knows connections; what the history does not keep is absent.
fn connection(line: &Line) -> Connection {
    let name = line.process.clone();
    let rate = if line.seconds > 0.0 {
        line.bytes as f64 * 8.0 / line.seconds
    } else {
        0.0
    };
    let direction = line.direction.unwrap_or_default();
    Connection {
        id: line.id.clone().unwrap_or_default(),
        netns: line.netns.unwrap_or(0),
        local: line.local.clone().unwrap_or_default(),
        peer: line.peer.clone().unwrap_or_default(),
        direction,
        process: name.map(|name| Process {
            pid: line.pid.unwrap_or(0),
            name,
        }),
        cgroup: line.cgroup.clone(),
        origin: Origin::Seeded,
        age_us: 0,
        bound: line.bound,
        limit: line.limit,
        side: line.side.unwrap_or(Side::Nobody),
        confidence: 0.0,
        prevailing: None,
        rate_bps: rate,
        send_bps: if direction == Direction::Send { rate } else { 0.0 },
        receive_bps: if direction == Direction::Receive {
            rate
        } else {
            0.0
        },
        ceiling_bps: None,
        ceiling_formula: None,
        next: None,
        gain: None,
        nothing_to_gain: false,
        ledger: Vec::new(),
        inconsistent: None,
        budget: None,
        causes: Vec::new(),
        proof: line.proof.clone(),
        remedies: Vec::new(),
        tcp: TcpFields::default(),
        calls: None,
    }
}
