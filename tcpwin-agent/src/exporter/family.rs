//! Every metric, once: its name, help, unit, labels, bound, an example of its use, and where it is read from.

use std::borrow::Cow;
use std::sync::Arc;

use super::Sent;
use crate::classify::{Direction, Limit};
use crate::snapshot::{Distribution, Held, Snapshot, Witness};

use super::http::HttpCounts;

mod agent;
mod connections;
mod distributions;
mod groups;
mod host;
mod limits;

/// What a scrape reads.
#[derive(Debug)]
pub(super) struct Reading {
    pub snapshot: Arc<Snapshot>,
    pub scrapes: u64,
    pub scrape_ns: u64,
    pub http: Arc<HttpCounts>,
    /// Messages sent by OTLP, by [`Sent`]; `None` if none are to be.
    pub pushes: Option<[u64; Sent::ALL.len()]>,
}

/// How the value moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Always 1; the labels tell.
    Info,
    /// How values are distributed; classic buckets end at these powers of two.
    Histogram(Octaves),
}

/// Upper bounds of classic buckets, as powers of two: few, since each is a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Octaves {
    /// The lowest.
    pub first: i32,
    /// No higher than this.
    pub last: i32,
    /// From one to the next.
    pub step: usize,
}

impl Octaves {
    /// Each of them, in order.
    pub fn bounds(self) -> impl Iterator<Item = i32> {
        (self.first..=self.last).step_by(self.step)
    }
}

/// What the value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds; the name ends in it.
    Seconds,
    /// Bytes; the name ends in it.
    Bytes,
    /// Things of this name.
    Count(&'static str),
}

impl Unit {
    /// As in the help text.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Count(things) => things,
        }
    }
}

/// One metric.
#[derive(Debug)]
pub struct Family {
    /// Name without unit and `_total` or `_info`.
    pub name: &'static str,
    /// What it says; the unit is added unless there is none to tell.
    pub help: &'static str,
    /// Of the value.
    pub unit: Unit,
    /// Of the metric.
    pub kind: Kind,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// Most sets of labels it can have by default: a series each, and of a histogram three, or one in protobuf.
    pub bound: usize,
    /// A query that shows what it is good for.
    pub example: &'static str,
    pub(super) read: for<'a> fn(&'a Reading, &mut Vec<Sample<'a>>),
}

impl Family {
    /// The name as it stands in queries.
    #[must_use]
    pub fn full_name(&self) -> String {
        let unit = match self.unit {
            Unit::Seconds => "_seconds",
            Unit::Bytes => "_bytes",
            Unit::Count(_) => "",
        };
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram(_) => "",
        };
        format!("{}{unit}{suffix}", self.name)
    }

    /// What the host's kernel has counted since it started.
    pub(super) fn is_since_boot(&self) -> bool {
        host::FAMILIES.iter().any(|family| std::ptr::eq(family, self))
    }

    /// The help text with its unit.
    #[must_use]
    pub fn help_text(&self) -> String {
        match self.kind {
            Kind::Info => format!("{}.", self.help),
            _ => format!("{} ({}).", self.help, self.unit.text()),
        }
    }
}

pub(super) enum Value<'a> {
    Count(u64),
    /// With the connection that stands for what was counted last.
    Witnessed(u64, &'a Witness),
    Real(f64),
    Spread(&'a Distribution),
}

/// Labels, in the order of the family's names, and the value.
pub(super) struct Sample<'a> {
    pub labels: Vec<Cow<'a, str>>,
    pub value: Value<'a>,
}

fn one(value: Value<'_>) -> Sample<'_> {
    labelled([], value)
}

fn labelled<'a, const N: usize>(labels: [&'a str; N], value: Value<'a>) -> Sample<'a> {
    Sample {
        labels: labels.map(Cow::Borrowed).to_vec(),
        value,
    }
}

macro_rules! count {
    ($($path:ident).+) => {
        |reading, samples| samples.push(one(Value::Count(reading.$($path).+)))
    };
}
use count;

/// What the host's kernel does not count is absent.
macro_rules! fact {
    ($name:ident) => {
        |reading, samples| {
            let count = reading.snapshot.facts.$name;
            samples.extend(count.map(|count| one(Value::Count(count))));
        }
    };
}
use fact;

/// Every limit in each direction in which it can hold, zeros too: a counter must be there before it grows, or its first
/// growth is lost.
fn by_limit<'a>(samples: &mut Vec<Sample<'a>>, value: impl Fn(Held) -> Value<'a>) {
    for limit in Limit::ALL {
        for direction in directions(limit) {
            let labels = [limit.bound().name(), limit.name(), direction_name(*direction)];
            samples.push(labelled(labels, value((limit, *direction))));
        }
    }
}

/// The ways in which a limit can hold bytes.
const fn directions(limit: Limit) -> &'static [Option<Direction>] {
    const SEND: Option<Direction> = Some(Direction::Send);
    const RECEIVE: Option<Direction> = Some(Direction::Receive);
    match limit {
        Limit::None | Limit::Unknown => &[None],
        _ => &[SEND, RECEIVE],
    }
}

const fn direction_name(direction: Option<Direction>) -> &'static str {
    match direction {
        None => "none",
        Some(Direction::Send) => "send",
        Some(Direction::Receive) => "receive",
    }
}

/// Two directions of every limit but of the two that have none.
const HELD: usize = 2 * Limit::ALL.len() - 2;

/// Every metric, in the order of the page.
pub fn families() -> impl Iterator<Item = &'static Family> {
    limits::FAMILIES
        .iter()
        .chain(&groups::FAMILIES)
        .chain(&connections::FAMILIES)
        .chain(&distributions::FAMILIES)
        .chain(&host::FAMILIES)
        .chain(&agent::FAMILIES)
}
