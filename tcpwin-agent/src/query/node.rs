//! The tree of a filter: whether it holds, and how it is written.

use std::fmt;

use super::field::Field;
use super::subject::Subject;
use super::token::{Op, quoted};
use super::value::Value;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Two or more, none of them an `All`.
    All(Vec<Node>),
    /// Two or more, none of them an `Any`.
    Any(Vec<Node>),
    Not(Box<Node>),
    /// The field is known.
    Has(&'static Field),
    /// It occurs somewhere; lower case.
    Word(String),
    Test(Test),
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) field: &'static Field,
    pub(super) op: Op,
    /// One, but for `in`.
    pub(super) values: Vec<Value>,
}

impl Node {
    pub(super) fn word(text: &str) -> Self {
        Self::Word(text.to_ascii_lowercase())
    }

    /// All of `nodes`, if there are any.
    pub(super) fn all(nodes: Vec<Self>) -> Option<Self> {
        joined(nodes, Self::All, |node| match node {
            Self::All(inner) => Ok(inner),
            other => Err(other),
        })
    }

    /// Any of `nodes`, if there are any.
    pub(super) fn any(nodes: Vec<Self>) -> Option<Self> {
        joined(nodes, Self::Any, |node| match node {
            Self::Any(inner) => Ok(inner),
            other => Err(other),
        })
    }

    /// If it holds; `None` where that hangs on what is not known.
    pub(super) fn holds(&self, subject: Subject<'_>) -> Option<bool> {
        match self {
            Self::All(nodes) => decided(nodes, subject, false),
            Self::Any(nodes) => decided(nodes, subject, true),
            Self::Not(node) => node.holds(subject).map(|held| !held),
            Self::Has(field) => Some(field.is_known(subject)),
            Self::Word(word) => Some(subject.mentions(word)),
            Self::Test(test) => test.field.holds(test.op, &test.values, subject),
        }
    }
}

/// `nodes` as one, those of the same kind opened up.
fn joined(
    nodes: Vec<Node>,
    join: fn(Vec<Node>) -> Node,
    open: fn(Node) -> Result<Vec<Node>, Node>,
) -> Option<Node> {
    let mut flat = Vec::with_capacity(nodes.len());
    for node in nodes {
        match open(node) {
            Ok(inner) => flat.extend(inner),
            Err(node) => flat.push(node),
        }
    }
    if flat.len() > 1 {
        return Some(join(flat));
    }
    flat.pop()
}

/// `wanted` once one of them is it; its opposite if all are that.
fn decided(nodes: &[Node], subject: Subject<'_>, wanted: bool) -> Option<bool> {
    let mut known = true;
    for node in nodes {
        match node.holds(subject) {
            Some(held) if held == wanted => return Some(wanted),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!wanted)
}

impl fmt::Display for Node {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(nodes) => list(formatter, nodes, " and ", |node| matches!(node, Self::Any(_))),
            Self::Any(nodes) => list(formatter, nodes, " or ", |_| false),
            Self::Not(node) if matches!(**node, Self::All(_) | Self::Any(_)) => {
                write!(formatter, "not ({node})")
            }
            Self::Not(node) => write!(formatter, "not {node}"),
            Self::Has(field) => write!(formatter, "has {}", field.name),
            Self::Word(word) => formatter.write_str(&quoted(word)),
            Self::Test(test) => test.fmt(formatter),
        }
    }
}

fn list(
    formatter: &mut fmt::Formatter<'_>,
    nodes: &[Node],
    between: &str,
    parenthesised: fn(&Node) -> bool,
) -> fmt::Result {
    for (at, node) in nodes.iter().enumerate() {
        if at > 0 {
            formatter.write_str(between)?;
        }
        if parenthesised(node) {
            write!(formatter, "({node})")?;
        } else {
            write!(formatter, "{node}")?;
        }
    }
    Ok(())
}

impl fmt::Display for Test {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} ", self.field.name, self.op.sign())?;
        let many = self.values.len() > 1;
        formatter.write_str(if many { "(" } else { "" })?;
        for (at, value) in self.values.iter().enumerate() {
            formatter.write_str(if at > 0 { ", " } else { "" })?;
            value.write(self.field, formatter)?;
        }
        formatter.write_str(if many { ")" } else { "" })
    }
}
