//! Every metric, once: its name, help, unit, labels, bound and where it is read from.

use std::borrow::Cow;
use std::sync::Arc;

use crate::classify::Limit;
use crate::snapshot::Snapshot;

mod agent;
mod connections;
mod host;

/// What a scrape reads.
#[derive(Debug)]
pub(super) struct Reading {
    pub snapshot: Arc<Snapshot>,
    pub scrapes: u64,
    pub scrape_ns: u64,
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
    /// Most series it can have.
    pub bound: usize,
    pub(super) read: for<'a> fn(&'a Reading, &mut Vec<Sample<'a>>),
}

impl Family {
    /// The help text with its unit.
    #[must_use]
    pub fn help_text(&self) -> String {
        match self.kind {
            Kind::Info => format!("{}.", self.help),
            _ => format!("{} ({}).", self.help, self.unit.text()),
        }
    }
}

pub(super) enum Value {
    Count(u64),
    Real(f64),
}

/// Labels, in the order of the family's names, and the value.
pub(super) struct Sample<'a> {
    pub labels: Vec<Cow<'a, str>>,
    pub value: Value,
}

fn one<'a>(value: Value) -> Sample<'a> {
    labelled([], value)
}

fn labelled<'a, const N: usize>(labels: [&'a str; N], value: Value) -> Sample<'a> {
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

/// One sample a limit, zeros too: a counter must be there before it grows, or its first growth is lost.
fn by_limit<'a>(samples: &mut Vec<Sample<'a>>, value: impl Fn(Limit) -> Value) {
    for limit in Limit::ALL {
        samples.push(labelled([limit.bound().name(), limit.name()], value(limit)));
    }
}

const LIMITS: usize = Limit::ALL.len();

/// Every metric, in the order of the page.
pub fn families() -> impl Iterator<Item = &'static Family> {
    connections::FAMILIES
        .iter()
        .chain(&host::FAMILIES)
        .chain(&agent::FAMILIES)
}
