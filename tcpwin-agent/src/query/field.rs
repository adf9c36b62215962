//! The fields that a filter compares, each in one place, and the comparison.

use std::fmt::Write as _;

use super::contains;
use crate::classify::{Bound, Direction, Limit};
use crate::snapshot::Connection;
use crate::snapshot::figures;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    NotEqual,
    Contains,
    ContainsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// A field that can be compared.
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    /// One of a few names.
    Choice(&'static [&'static str], fn(&Connection) -> &'static str),
    /// Any text; equal means the whole of it.
    Text(fn(&Connection) -> Option<&str>),
    /// `address:port`; equal also means the address, `:port`, or a start that ends in `.` or `:`.
    Endpoint(fn(&Connection) -> &str),
    Number(Unit, fn(&Connection) -> Option<f64>),
}

/// What a bare number means and which units it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Count,
    Bytes,
    Rate,
    /// Microseconds inside, milliseconds where no unit is written.
    Rtt,
    /// Microseconds inside, seconds where no unit is written.
    Age,
    Percent,
}

const BOUNDS: [&str; 7] = {
    let mut names = [""; 7];
    let mut at = 0;
    while at < names.len() {
        names[at] = Bound::ALL[at].name();
        at += 1;
    }
    names
};

const LIMITS: [&str; Limit::ALL.len()] = {
    let mut names = [""; Limit::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Limit::ALL[at].name();
        at += 1;
    }
    names
};

fn direction(connection: &Connection) -> &'static str {
    match connection.direction {
        Direction::Send => "send",
        Direction::Receive => "receive",
    }
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
}

const FIELDS: &[Field] = &[
    field(
        "bound",
        Kind::Choice(&BOUNDS, |c| figures::shown(c).bound().name()),
    ),
    field("limit", Kind::Choice(&LIMITS, |c| figures::shown(c).name())),
    field("dir", Kind::Choice(&["send", "receive"], direction)),
    field(
        "proc",
        Kind::Text(|c| c.process.as_ref().map(|process| process.name.as_str())),
    ),
    field("cgroup", Kind::Text(|c| c.cgroup.as_deref())),
    field("cc", Kind::Text(|c| c.tcp.congestion.as_deref())),
    field("id", Kind::Text(|c| Some(&c.id))),
    field("local", Kind::Endpoint(|c| &c.local)),
    field("peer", Kind::Endpoint(|c| &c.peer)),
    field(
        "pid",
        Kind::Number(Unit::Count, |c| {
            c.process.as_ref().map(|process| f64::from(process.pid))
        }),
    ),
    field(
        "netns",
        Kind::Number(Unit::Count, |c| (c.netns != 0).then(|| f64::from(c.netns))),
    ),
    field("rate", Kind::Number(Unit::Rate, |c| Some(c.rate_bps))),
    field("ceiling", Kind::Number(Unit::Rate, |c| c.ceiling_bps)),
    field("gain", Kind::Number(Unit::Count, figures::gain)),
    field("rtt", Kind::Number(Unit::Rtt, |c| c.tcp.srtt_us.map(f64::from))),
    field(
        "min_rtt",
        Kind::Number(Unit::Rtt, |c| c.tcp.min_rtt_us.map(f64::from)),
    ),
    field("cwnd", Kind::Number(Unit::Count, |c| c.tcp.cwnd.map(f64::from))),
    field(
        "inflight",
        Kind::Number(Unit::Bytes, |c| c.tcp.in_flight_bytes.map(f64::from)),
    ),
    field(
        "snd_wnd",
        Kind::Number(Unit::Bytes, |c| c.tcp.snd_wnd_bytes.map(f64::from)),
    ),
    field(
        "sndbuf",
        Kind::Number(Unit::Bytes, |c| c.tcp.sndbuf_bytes.map(f64::from)),
    ),
    field(
        "unsent",
        Kind::Number(Unit::Bytes, |c| c.tcp.unsent_bytes.map(f64::from)),
    ),
    field(
        "retrans",
        Kind::Number(Unit::Percent, |c| {
            figures::retransmit_share(c).map(|share| share * 100.0)
        }),
    ),
    field("age", Kind::Number(Unit::Age, |c| Some(c.age_us as f64))),
];

/// The field of this name.
pub(super) fn find(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name.eq_ignore_ascii_case(name))
}

/// Names of all fields.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

/// A comparison ready to be made.
#[derive(Clone)]
pub(super) struct Test {
    field: &'static Field,
    op: Op,
    value: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.field.name == other.field.name && self.op == other.op && self.value == other.value
    }
}

impl std::fmt::Debug for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.field.name, self.op, self.value)
    }
}

impl Test {
    /// `field op value`.
    ///
    /// # Errors
    /// With what is wrong with the value or the operator.
    pub(super) fn new(field: &'static Field, op: Op, value: &str) -> Result<Self, String> {
        let ordered = matches!(op, Op::Less | Op::AtMost | Op::More | Op::AtLeast);
        let partial = matches!(op, Op::Contains | Op::ContainsNot);
        let name = field.name;
        let value = match &field.kind {
            Kind::Number(..) if partial => return Err(format!("`{name}` is a number: use = != < <= > >=")),
            Kind::Number(unit, _) => Value::Number(unit.read(value)?),
            _ if ordered => return Err(format!("`{name}` is a text: use = != ~ !~")),
            Kind::Choice(names, _) if !partial && !names.contains(&value) => {
                return Err(format!("`{name}` is one of {}", names.join(" ")));
            }
            _ => Value::Text(value.to_lowercase()),
        };
        Ok(Self { field, op, value })
    }

    /// If it holds for `connection`; never where the field is not known.
    pub(super) fn holds(&self, connection: &Connection) -> bool {
        match (&self.field.kind, &self.value) {
            (Kind::Number(_, of), Value::Number(value)) => {
                of(connection).is_some_and(|number| self.compares(number, *value))
            }
            (Kind::Choice(_, of), Value::Text(value)) => {
                self.agrees(of(connection), value, str::eq_ignore_ascii_case)
            }
            (Kind::Text(of), Value::Text(value)) => {
                of(connection).is_some_and(|text| self.agrees(text, value, str::eq_ignore_ascii_case))
            }
            (Kind::Endpoint(of), Value::Text(value)) => self.agrees(of(connection), value, is_endpoint),
            _ => false,
        }
    }

    fn compares(&self, number: f64, value: f64) -> bool {
        match self.op {
            Op::Less => number < value,
            Op::AtMost => number <= value,
            Op::More => number > value,
            Op::AtLeast => number >= value,
            Op::NotEqual => (number - value).abs() > f64::EPSILON * value.abs(),
            _ => (number - value).abs() <= f64::EPSILON * value.abs(),
        }
    }

    fn agrees(&self, text: &str, value: &str, equal: fn(&str, &str) -> bool) -> bool {
        match self.op {
            Op::Contains => contains(text, value),
            Op::ContainsNot => !contains(text, value),
            Op::NotEqual => !equal(text, value),
            _ => equal(text, value),
        }
    }
}

/// If `value` names the endpoint `text`: all of it, its address, `:port`, or its start up to a `.` or `:`.
fn is_endpoint(text: &str, value: &str) -> bool {
    if text.eq_ignore_ascii_case(value) {
        return true;
    }
    let Some((address, port)) = text.rsplit_once(':') else {
        return false;
    };
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let start = value.trim_start_matches('[');
    value.strip_prefix(':').is_some_and(|wanted| wanted == port)
        || address.eq_ignore_ascii_case(value)
        || bare.eq_ignore_ascii_case(value)
        || (start.ends_with(['.', ':'])
            && bare
                .get(..start.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(start)))
}

impl Unit {
    /// Units and what one is in the field's own measure; the first is the one meant without any.
    fn scales(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Count => &[("", 1.0), ("k", 1e3), ("m", 1e6)],
            Self::Bytes => &[
                ("b", 1.0),
                ("k", 1024.0),
                ("kb", 1024.0),
                ("kib", 1024.0),
                ("m", 1_048_576.0),
                ("mb", 1_048_576.0),
                ("mib", 1_048_576.0),
                ("g", 1_073_741_824.0),
                ("gib", 1_073_741_824.0),
            ],
            Self::Rate => &[
                ("bit", 1.0),
                ("bps", 1.0),
                ("k", 1e3),
                ("kbit", 1e3),
                ("m", 1e6),
                ("mbit", 1e6),
                ("g", 1e9),
                ("gbit", 1e9),
            ],
            Self::Rtt => &[("ms", 1e3), ("us", 1.0), ("µs", 1.0), ("s", 1e6)],
            Self::Age => &[
                ("s", 1e6),
                ("ms", 1e3),
                ("m", 60e6),
                ("h", 3_600e6),
                ("d", 86_400e6),
            ],
            Self::Percent => &[("%", 1.0)],
        }
    }

    /// A number with or without a unit.
    fn read(self, text: &str) -> Result<f64, String> {
        let lower = text.to_lowercase();
        let end = lower
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(lower.len());
        let (number, unit) = lower.split_at(end);
        let number: f64 = number.parse().map_err(|_| format!("`{text}` is no number"))?;
        let unit = unit.trim_end_matches("/s");
        let scales = self.scales();
        let scale = if unit.is_empty() {
            Some(scales[0].1)
        } else {
            scales
                .iter()
                .find(|(name, _)| *name == unit)
                .map(|(_, scale)| *scale)
        };
        scale.map(|scale| number * scale).ok_or_else(|| {
            let mut message = format!("no unit `{unit}` here; there are");
            for (name, _) in scales.iter().filter(|(name, _)| !name.is_empty()) {
                let _ = write!(message, " {name}");
            }
            message
        })
    }
}
