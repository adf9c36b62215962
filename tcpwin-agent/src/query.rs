//! The language in which every exit is told what to show and in which order: conditions of fields, and lists of fields.
//!
//! ```text
//! filter     = [ any ]
//! any        = all { "or" all }
//! all        = one { [ "and" ] one }
//! one        = "not" one | "(" any ")" | "has" field | comparison | word
//! comparison = field op value | field [ "not" ] "in" values
//! op         = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
//! values     = item | "(" item { "," item } ")"
//! item       = value | value ".." value
//! sort       = [ "-" ] field { "," [ "-" ] field }
//! ```
//!
//! A word occurs in any text column; `~` means "contains". What is not known is neither true nor false (Kleene's logic):
//! a comparison of it lets nothing through, and neither does the comparison's `not`. docs/filter.md is the reference.

mod complete;
mod endpoint;
mod field;
mod node;
mod parse;
mod sort;
mod subject;
#[cfg(test)]
mod tests;
mod token;
mod unit;
mod value;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::complete::{Candidate, Completion, complete};
pub use self::sort::Sort;
pub use self::subject::Glimpse;

use self::node::Node;
use self::subject::Subject;
use crate::snapshot::{Connection, TraceEvent};

/// What is wrong with a filter or a sort, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}", column = column + 1)]
pub struct FilterError {
    /// Characters before the fault.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl FilterError {
    /// `text` on a line, and below it a caret at the fault with what is wrong.
    #[must_use]
    pub fn pointed(&self, text: &str) -> String {
        // A control character would move what follows it away from the caret.
        let line: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        format!("{line}\n{:column$}^ {}", "", self.message, column = self.column)
    }
}

/// A parsed filter; the default lets everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    text: String,
    root: Option<Node>,
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let (filter, error) = Self::so_far(text);
        error.map_or(Ok(filter), Err)
    }
}

impl Filter {
    /// What a text that is still being written means, up to its first fault.
    pub(crate) fn so_far(text: &str) -> (Self, Option<FilterError>) {
        let (root, error) = parse::parse(text);
        let text = text.trim().to_owned();
        (Self { text, root }, error)
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// If everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// If `connection` passes. Allocates nothing.
    #[must_use]
    pub fn matches(&self, connection: &Connection) -> bool {
        self.passes(connection.into())
    }

    /// If `event` passes, by what it is and by what it says of its connection. Allocates nothing.
    #[must_use]
    pub fn matches_event(&self, event: &TraceEvent) -> bool {
        self.passes(event.into())
    }

    /// If what is known of a connection passes. Allocates nothing.
    #[must_use]
    pub fn matches_glimpse(&self, glimpse: &Glimpse<'_>) -> bool {
        self.passes(glimpse.into())
    }

    fn passes(&self, subject: Subject<'_>) -> bool {
        self.root
            .as_ref()
            .is_none_or(|root| root.holds(subject) == Some(true))
    }
}

/// In the one way that every equal filter is written.
impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.as_ref().map_or(Ok(()), |root| root.fmt(formatter))
    }
}

/// By its text.
impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// By its text.
impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Names of the fields of connections, with spaces between.
pub(crate) fn field_names() -> String {
    let names = field::FIELDS.iter().map(|field| field.name);
    names.collect::<Vec<_>>().join(" ")
}

/// Where the field of this name stands in a connection's JSON, if it does.
pub(crate) fn json_name(name: &str) -> Option<&'static str> {
    let found = field::find(name).or_else(|| field::in_json(name))?;
    Some(found.json).filter(|json| !json.is_empty())
}
