//! What a field is compared with.

use std::fmt;

use super::endpoint::Endpoint;
use super::field::{Field, Kind};
use super::token::{Op, quoted};
use super::unit::Unit;

/// A value, read for its field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Lower case.
    Text(String),
    Endpoint(Endpoint),
    Number(f64),
    /// Both ends included; only after `in`.
    Range(f64, f64),
}

impl Value {
    /// `text` as a value of `field`, which takes `op`.
    ///
    /// # Errors
    /// With what is wrong and what is expected.
    pub(super) fn read(field: &Field, op: Op, text: &str) -> Result<Self, String> {
        let partial = matches!(op, Op::Contains | Op::ContainsNot);
        match &field.kind {
            Kind::Number(unit, _) => match unit.range(text) {
                Some(range) if op == Op::In => range.map(|(low, high)| Self::Range(low, high)),
                Some(_) => Err(format!("a range goes with `in`: `{} in {text}`", field.name)),
                None => unit.read(text).map(Self::Number),
            },
            Kind::Choice(names, _) => {
                let lower = text.to_ascii_lowercase();
                if partial || names.contains(&lower.as_str()) {
                    Ok(Self::Text(lower))
                } else {
                    Err(format!("`{}` is one of {}", field.name, names.join(" ")))
                }
            }
            Kind::Endpoint(_) if !partial => Endpoint::read(text)
                .map(Self::Endpoint)
                .ok_or_else(|| format!("`{}` is compared with {}", field.name, Endpoint::EXAMPLE)),
            Kind::Text(_) | Kind::Endpoint(_) => Ok(Self::Text(text.to_ascii_lowercase())),
        }
    }

    /// As it is read again.
    pub(super) fn write(&self, field: &Field, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match &field.kind {
            Kind::Number(unit, _) => *unit,
            _ => Unit::Count,
        };
        let unit = unit.plain();
        match self {
            Self::Text(text) => formatter.write_str(&quoted(text)),
            Self::Endpoint(endpoint) => write!(formatter, "{endpoint}"),
            Self::Number(number) => write!(formatter, "{number}{unit}"),
            Self::Range(low, high) => write!(formatter, "{low}{unit}..{high}{unit}"),
        }
    }

    /// If `number` is it, or in it.
    pub(super) fn holds(&self, number: f64) -> bool {
        match self {
            Self::Number(value) => (number - value).abs() <= f64::EPSILON * value.abs(),
            Self::Range(low, high) => (*low..=*high).contains(&number),
            Self::Text(_) | Self::Endpoint(_) => false,
        }
    }

    /// If `text` is it in any case.
    pub(super) fn equals(&self, text: &str) -> bool {
        matches!(self, Self::Text(value) if value.eq_ignore_ascii_case(text))
    }

    /// If it occurs in `text` in any case.
    pub(super) fn occurs(&self, text: &str) -> bool {
        matches!(self, Self::Text(value) if contains(text, value))
    }
}

/// If `needle`, in lower case, occurs in `text` in any case. Allocates nothing.
pub(super) fn contains(text: &str, needle: &str) -> bool {
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    let Some((first, rest)) = needle.split_first() else {
        return true;
    };
    if text.len() < needle.len() {
        return false;
    }
    (0..=text.len() - needle.len()).any(|at| {
        text[at].to_ascii_lowercase() == *first && text[at + 1..at + needle.len()].eq_ignore_ascii_case(rest)
    })
}
