//! One socket as it was printed.

use super::field::{CONGESTION_NAME, Field, USERS};
use super::record::Head;
use super::value::{Value, is_figures};
use crate::observation::pasted::Moment;

/// One socket as it was printed: every token of it, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Socket {
    /// Line of the text where it begins, from 1.
    pub line: usize,
    /// What the paste's clock said before it.
    pub at: Option<Moment>,
    /// Its columns.
    pub head: Head,
    /// Its fields, in the order of the text.
    pub fields: Vec<Field>,
    /// Tokens that were not understood, in the order of the text.
    pub unknown: Vec<String>,
    /// Something was left out (`...`).
    pub elided: bool,
}

/// Fields that each information line has at most once, and that many have: they tell where another one begins.
const ONCE: &[&str] = &[
    CONGESTION_NAME,
    "skmem",
    "rto",
    "rtt",
    "mss",
    "cwnd",
    "timer",
    "bytes_acked",
    "write_seq",
];
/// Words that a value in parentheses may span.
const SPAN: usize = 48;

impl Socket {
    /// The field's value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        Some(&field.value)
    }

    /// The congestion control.
    #[must_use]
    pub fn congestion(&self) -> Option<&str> {
        match self.value(CONGESTION_NAME)? {
            Value::Text(name) => Some(name),
            _ => None,
        }
    }

    /// If the field cannot belong here, since it is here already.
    pub(super) fn has_once(&self, field: &Field) -> bool {
        ONCE.contains(&field.name) && self.value(field.name).is_some()
    }
}

/// `users:(("nc",pid=12,fd=3),…)`: names may hold blanks and parentheses. Gives the field, the words it took beside the first, and
/// what is left of the last one.
pub fn users<'a>(word: &str, ahead: impl Iterator<Item = &'a str>) -> Option<(Field, usize, String)> {
    let begun = word.strip_prefix("users:")?;
    if !begun.starts_with("((") {
        return None;
    }
    let mut text = begun.to_owned();
    let mut ahead = ahead.take(SPAN);
    let mut taken = 0;
    loop {
        if let Some(end) = end_of_users(&text) {
            let left = text.split_off(end);
            let value = Value::Text(text);
            return Some((Field { name: USERS, value }, taken, left));
        }
        text.push(' ');
        text.push_str(ahead.next().filter(|word| !word.is_empty())?);
        taken += 1;
    }
}

/// Where the parentheses close, those in quotes left aside.
fn end_of_users(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// A value whose parenthesis opens in this word, up to where it closes: the words together, and how many were taken.
pub fn closed<'a>(word: &str, ahead: impl Iterator<Item = &'a str>) -> Option<(String, usize)> {
    let mut text = word.to_owned();
    for (at, next) in ahead.take(SPAN).take_while(|word| !word.is_empty()).enumerate() {
        text.push_str(next);
        if next.contains(')') {
            return Some((text, at + 1));
        }
    }
    None
}

/// `inet-sockopt: (…)`: options of the socket, none of which a verdict asks for.
pub fn options(text: &str) -> Option<(Field, &str)> {
    let inside = text.strip_prefix("inet-sockopt:(")?;
    let (inside, left) = inside.split_once(')').filter(|(inside, _)| is_figures(inside))?;
    let value = Value::Text(format!("({inside})"));
    Some((
        Field {
            name: "inet-sockopt",
            value,
        },
        left,
    ))
}
