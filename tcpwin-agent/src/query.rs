//! The language in which every exit is told what to show: words that must occur, and comparisons of fields.
//!
//! ```text
//! filter = term { ["and"] term }
//! term   = word | field op value
//! op     = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
//! ```
//!
//! A word occurs in any text column. `~` means "contains". A connection whose field is not known never matches.

mod field;
mod parse;

use std::str::FromStr;

use self::field::Test;
use crate::snapshot::Connection;
use crate::snapshot::figures;

/// What is wrong with a filter, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}", column = column + 1)]
pub struct FilterError {
    /// Characters before the fault.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// A parsed filter; the default lets everything through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    /// Lower case.
    Word(String),
    Test(Test),
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
        let mut terms = Vec::new();
        let error = parse::parse(text, &mut terms).err();
        (
            Self {
                text: text.trim().to_owned(),
                terms,
            },
            error,
        )
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// If everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// If `connection` passes.
    #[must_use]
    pub fn matches(&self, connection: &Connection) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Word(word) => mentions(connection, word),
            Term::Test(test) => test.holds(connection),
        })
    }
}

/// Names of the fields, with spaces between.
pub(crate) fn field_names() -> String {
    field::names().collect::<Vec<_>>().join(" ")
}

/// If `word` occurs in any text of `connection`.
fn mentions(connection: &Connection, word: &str) -> bool {
    let process = connection.process.as_ref();
    contains(&connection.peer, word)
        || contains(&connection.local, word)
        || process.is_some_and(|process| contains(&process.name, word))
        || contains(figures::shown(connection).name(), word)
        || contains(figures::shown(connection).bound().name(), word)
        || connection
            .cgroup
            .as_deref()
            .is_some_and(|cgroup| contains(cgroup, word))
        || connection
            .tcp
            .congestion
            .as_deref()
            .is_some_and(|name| contains(name, word))
        || contains(&connection.proof, word)
}

/// If `needle`, in lower case, occurs in `text` in any case. Allocates nothing.
fn contains(text: &str, needle: &str) -> bool {
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
