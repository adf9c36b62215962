//! The fields, and what a comparison does with each kind of them. Their table is in `field/table.rs`.

mod choice;
mod table;

use std::net::SocketAddr;

use super::endpoint::Endpoint;
use super::subject::Subject;
use super::token::Op;
use super::unit::Unit;
use super::value::Value;

pub(super) use self::table::{EVENT_FIELDS, FIELDS};

/// A field that can be compared and sorted by.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// Other names of it.
    pub(super) also: &'static [&'static str],
    /// Where it stands in the JSON of a connection; empty where it is worked out.
    pub(super) json: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
}

/// What it holds, and how it is read.
pub(super) enum Kind {
    /// One of a few names.
    Choice(&'static [&'static str], fn(Subject<'_>) -> Option<&'static str>),
    /// Any text; equal means the whole of it.
    Text(for<'a> fn(Subject<'a>) -> Option<&'a str>),
    /// `address:port`.
    Endpoint(for<'a> fn(Subject<'a>) -> &'a str),
    Number(Unit, fn(Subject<'_>) -> Option<f64>),
}

impl std::fmt::Debug for Field {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// There is one of each name.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The field of this name.
pub(super) fn find(name: &str) -> Option<&'static Field> {
    all().find(|field| field.names().any(|known| known.eq_ignore_ascii_case(name)))
}

/// All fields.
pub(super) fn all() -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().chain(EVENT_FIELDS)
}

/// The field of which this is the name in the JSON, with or without what it stands in.
pub(super) fn in_json(name: &str) -> Option<&'static Field> {
    all().find(|field| {
        let tail = field.json.rsplit('.').next();
        !field.json.is_empty() && (field.json == name || tail == Some(name))
    })
}

/// What to say of a name that is none.
pub(super) fn unknown(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let near: Vec<&str> = match in_json(&lower) {
        Some(field) => vec![field.name],
        None => all()
            .map(|field| field.name)
            .filter(|name| is_near(name, &lower))
            .take(4)
            .collect(),
    };
    if near.is_empty() {
        format!(
            "no field `{name}`; there are {}",
            all().map(|field| field.name).collect::<Vec<_>>().join(" ")
        )
    } else {
        format!("no field `{name}`; did you mean {}?", near.join(" or "))
    }
}

/// If one is the start of the other, or one letter is wrong, missing, too much or in its neighbour's place.
fn is_near(name: &str, written: &str) -> bool {
    const STEM: usize = 3;
    if written.len() >= STEM && (name.starts_with(written) || written.starts_with(name)) {
        return true;
    }
    let (name, written) = (name.as_bytes(), written.as_bytes());
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let start = same(name, written);
    let (name, written) = (&name[start..], &written[start..]);
    let swapped = |a: &[u8], b: &[u8]| a.len() > 1 && b.len() > 1 && a[0] == b[1] && a[1] == b[0];
    match (name.len(), written.len()) {
        (a, b) if a == b && a > 0 => {
            start + a >= STEM
                && (name[1..] == written[1..] || (swapped(name, written) && name[2..] == written[2..]))
        }
        (a, b) if a == b + 1 => start + a >= STEM && name[1..] == *written,
        (a, b) if a + 1 == b => start + a >= STEM && *name == written[1..],
        _ => false,
    }
}

impl Field {
    /// All its names, its own first.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// Operators that make sense with it.
    pub(super) fn operators(&self) -> &'static [Op] {
        const TEXT: &[Op] = &[
            Op::Equal,
            Op::NotEqual,
            Op::Contains,
            Op::ContainsNot,
            Op::In,
            Op::NotIn,
        ];
        const NUMBER: &[Op] = &[
            Op::Equal,
            Op::NotEqual,
            Op::Less,
            Op::AtMost,
            Op::More,
            Op::AtLeast,
            Op::In,
            Op::NotIn,
        ];
        match self.kind {
            Kind::Number(..) => NUMBER,
            _ => TEXT,
        }
    }

    /// # Errors
    /// With what it takes, if not `op`.
    pub(super) fn takes(&self, op: Op) -> Result<(), String> {
        if self.operators().contains(&op) {
            return Ok(());
        }
        let kind = match self.kind {
            Kind::Number(..) => "number",
            _ => "text",
        };
        let signs: Vec<_> = self.operators().iter().map(|op| op.sign()).collect();
        Err(format!("`{}` is a {kind}: use {}", self.name, signs.join(" ")))
    }

    /// What its value looks like, for people.
    pub(super) fn expects(&self) -> String {
        match &self.kind {
            Kind::Choice(names, _) => format!("one of {}", names.join(" ")),
            Kind::Text(_) => "a text, in quotes if it has spaces".to_owned(),
            Kind::Endpoint(_) => Endpoint::EXAMPLE.to_owned(),
            Kind::Number(unit, _) => unit.example().to_owned(),
        }
    }

    /// If `subject` has it.
    pub(super) fn is_known(&self, subject: Subject<'_>) -> bool {
        match &self.kind {
            Kind::Choice(_, of) => of(subject).is_some(),
            Kind::Text(of) => of(subject).is_some(),
            Kind::Endpoint(_) => true,
            Kind::Number(_, of) => of(subject).is_some(),
        }
    }

    /// If it compares so; `None` where it is not known.
    pub(super) fn holds(&self, op: Op, values: &[Value], subject: Subject<'_>) -> Option<bool> {
        match &self.kind {
            Kind::Number(_, of) => Some(compares(op, values, of(subject)?)),
            Kind::Choice(_, of) => Some(agrees(op, values, of(subject)?)),
            Kind::Text(of) => Some(agrees(op, values, of(subject)?)),
            Kind::Endpoint(of) => {
                let text = of(subject);
                if matches!(op, Op::Contains | Op::ContainsNot) {
                    return Some(agrees(op, values, text));
                }
                let parsed: SocketAddr = text.parse().ok()?;
                let is =
                    |value: &Value| matches!(value, Value::Endpoint(endpoint) if endpoint.is(text, parsed));
                let among = values.iter().any(is);
                Some(among != matches!(op, Op::NotEqual | Op::NotIn))
            }
        }
    }
}

fn compares(op: Op, values: &[Value], number: f64) -> bool {
    let ordered = |holds: fn(&f64, &f64) -> bool| {
        values
            .iter()
            .any(|value| matches!(value, Value::Number(value) if holds(&number, value)))
    };
    match op {
        Op::Less => ordered(f64::lt),
        Op::AtMost => ordered(f64::le),
        Op::More => ordered(f64::gt),
        Op::AtLeast => ordered(f64::ge),
        Op::NotEqual | Op::NotIn => !values.iter().any(|value| value.holds(number)),
        _ => values.iter().any(|value| value.holds(number)),
    }
}

fn agrees(op: Op, values: &[Value], text: &str) -> bool {
    match op {
        Op::Contains => values.iter().any(|value| value.occurs(text)),
        Op::ContainsNot => !values.iter().any(|value| value.occurs(text)),
        Op::NotEqual | Op::NotIn => !values.iter().any(|value| value.equals(text)),
        _ => values.iter().any(|value| value.equals(text)),
    }
}
