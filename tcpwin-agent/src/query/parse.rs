//! Tokens to a tree, with the column of what is wrong. What a person or a request may write is bounded in every way.

use super::FilterError;
use super::field::{self, Field};
use super::node::{Node, Test};
use super::token::{self, Keyword, Kind, Op, Token};
use super::value::Value;

/// Longest filter, characters.
const LONGEST: usize = 4_096;
/// Most `not` and parentheses inside one another: the tree is walked by recursion.
const DEEPEST: usize = 32;
/// Most conditions.
const MOST_CONDITIONS: usize = 64;
/// Most values, all conditions together.
const MOST_VALUES: usize = 256;

/// The tree of `text` up to its first fault.
pub(super) fn parse(text: &str) -> (Option<Node>, Option<FilterError>) {
    if text.chars().nth(LONGEST).is_some() {
        let message = format!("a filter has at most {LONGEST} characters");
        let column = LONGEST;
        return (None, Some(FilterError { column, message }));
    }
    let (tokens, cut) = token::tokens(text);
    let mut parser = Parser {
        tokens: &tokens,
        cut,
        depth: 0,
        conditions: 0,
        values: 0,
        fault: None,
    };
    let root = parser.any();
    if let Some(token) = parser.tokens.first() {
        parser.fail(token.column, "no `(` stands before this");
    }
    (root, parser.fault.or(parser.cut))
}

struct Parser<'a> {
    /// Those that are still to be read.
    tokens: &'a [Token],
    /// What ended the tokens early.
    cut: Option<FilterError>,
    depth: usize,
    conditions: usize,
    values: usize,
    /// The first fault; nothing is read after it.
    fault: Option<FilterError>,
}

impl Parser<'_> {
    /// Notes the first fault. Where the tokens were cut, what seems to be missing may be what could not be read.
    fn fail(&mut self, column: usize, message: impl Into<String>) {
        let message = message.into();
        let fault = match &self.cut {
            Some(cut) if self.tokens.is_empty() => cut.clone(),
            _ => FilterError { column, message },
        };
        self.fault.get_or_insert(fault);
    }

    /// The column of the keyword, if it comes next.
    fn take(&mut self, keyword: Keyword) -> Option<usize> {
        let (first, rest) = self.tokens.split_first()?;
        (first.keyword() == Some(keyword)).then(|| {
            self.tokens = rest;
            first.column
        })
    }

    /// Conditions with `or` between.
    fn any(&mut self) -> Option<Node> {
        let mut nodes: Vec<Node> = self.all().into_iter().collect();
        while self.fault.is_none()
            && let Some(column) = self.take(Keyword::Or)
        {
            let lonely = nodes.is_empty();
            match self.all() {
                Some(node) if !lonely => nodes.push(node),
                _ => self.fail(column, "`or` joins two conditions"),
            }
        }
        Node::any(nodes)
    }

    /// Conditions with `and` or nothing between.
    fn all(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        let mut joined = None;
        while self.fault.is_none() {
            if let Some(column) = self.take(Keyword::And) {
                if nodes.is_empty() || joined.is_some() {
                    self.fail(column, "`and` joins two conditions");
                }
                joined = Some(column);
            } else if let Some(node) = self.one() {
                nodes.push(node);
                joined = None;
            } else {
                break;
            }
        }
        if let Some(column) = joined {
            self.fail(column, "`and` joins two conditions");
        }
        Node::all(nodes)
    }

    /// The condition that comes next, if one does.
    fn one(&mut self) -> Option<Node> {
        let (first, rest) = self.tokens.split_first()?;
        match (&first.kind, first.keyword()) {
            (Kind::Close, _) | (_, Some(Keyword::And | Keyword::Or)) => return None,
            (Kind::Op(_), _) | (_, Some(Keyword::In)) => {
                self.fail(first.column, "a field name comes before this");
                return None;
            }
            (Kind::Comma, _) => {
                self.fail(
                    first.column,
                    "commas stand between values, as in `limit in (rwnd, sndbuf)`",
                );
                return None;
            }
            _ => self.tokens = rest,
        }
        match (&first.kind, first.keyword()) {
            (Kind::Open, _) => self.deeper(first.column, |parser| parser.parentheses(first.column)),
            (_, Some(Keyword::Not)) => {
                let negated = self.deeper(first.column, Self::one);
                if negated.is_none() {
                    self.fail(first.column, "`not` comes before a condition");
                }
                negated.map(|node| Node::Not(Box::new(node)))
            }
            (_, Some(Keyword::Has)) => self.has(first.column),
            _ => self.condition(first),
        }
    }

    fn deeper(&mut self, column: usize, read: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        if self.depth == DEEPEST {
            let message = format!("more than {DEEPEST} `not` and parentheses inside one another");
            self.fail(column, message);
            return None;
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// After the `(` at `column`.
    fn parentheses(&mut self, column: usize) -> Option<Node> {
        let inner = self.any();
        match self.tokens.split_first() {
            Some((token, rest)) if token.kind == Kind::Close => {
                if inner.is_none() {
                    self.fail(column, "nothing stands in these parentheses");
                }
                self.tokens = rest;
            }
            // Whatever else is in the way is a fault already.
            _ => self.fail(column, "this `(` is not closed"),
        }
        inner
    }

    /// After the `has` at `column`.
    fn has(&mut self, column: usize) -> Option<Node> {
        self.count(column)?;
        let Some((token, name)) = self.tokens.first().and_then(|token| Some((token, token.bare()?))) else {
            self.fail(
                column,
                "`has` comes before a field name; quote it to look for the word",
            );
            return None;
        };
        self.tokens = &self.tokens[1..];
        self.field(token.column, name).map(Node::Has)
    }

    /// A comparison or a word, of which `first` was read.
    fn condition(&mut self, first: &Token) -> Option<Node> {
        self.count(first.column)?;
        let tokens = self.tokens;
        let next = |at: usize| tokens.get(at).and_then(Token::keyword);
        let (op, read) = match tokens.first().map(|token| &token.kind) {
            Some(Kind::Op(op)) => (*op, 1),
            _ if next(0) == Some(Keyword::In) => (Op::In, 1),
            _ if next(0) == Some(Keyword::Not) && next(1) == Some(Keyword::In) => (Op::NotIn, 2),
            _ => return Some(Node::word(first.text()?)),
        };
        let (sign, rest) = (&tokens[read - 1], &tokens[read..]);
        self.tokens = rest;
        let Some(name) = first.bare() else {
            self.fail(first.column, "a field name is not quoted");
            return None;
        };
        let field = self.field(first.column, name)?;
        if let Err(message) = field.takes(op) {
            self.fail(tokens[0].column, message);
            return None;
        }
        let values = match op {
            Op::In | Op::NotIn => self.values(sign, field)?,
            _ => vec![self.value(sign, field, op)?],
        };
        Some(Node::Test(Test { field, op, values }))
    }

    /// The value after `sign`.
    fn value(&mut self, sign: &Token, field: &Field, op: Op) -> Option<Value> {
        let Some((token, text)) = self.tokens.first().and_then(|token| Some((token, token.text()?))) else {
            let message = format!("a value comes after this: {}", field.expects());
            self.fail(sign.end, message);
            return None;
        };
        self.values += 1;
        if self.values > MOST_VALUES {
            self.fail(token.column, format!("more than {MOST_VALUES} values"));
            return None;
        }
        self.tokens = &self.tokens[1..];
        match Value::read(field, op, text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.fail(token.column, message);
                None
            }
        }
    }

    /// The values after `sign`, which is `in`.
    fn values(&mut self, sign: &Token, field: &Field) -> Option<Vec<Value>> {
        let Some(open) = self.tokens.first().filter(|token| token.kind == Kind::Open) else {
            return Some(vec![self.value(sign, field, Op::In)?]);
        };
        self.tokens = &self.tokens[1..];
        let mut values = vec![self.value(open, field, Op::In)?];
        loop {
            match self.tokens.split_first() {
                Some((token, rest)) if token.kind == Kind::Comma => {
                    self.tokens = rest;
                    values.push(self.value(token, field, Op::In)?);
                }
                Some((token, rest)) if token.kind == Kind::Close => {
                    self.tokens = rest;
                    return Some(values);
                }
                Some((token, _)) => {
                    self.fail(
                        token.column,
                        "a `,` or the `)` after the values comes before this",
                    );
                    return None;
                }
                None => {
                    self.fail(open.column, "this `(` is not closed");
                    return None;
                }
            }
        }
    }

    fn field(&mut self, column: usize, name: &str) -> Option<&'static Field> {
        let found = field::find(name);
        if found.is_none() {
            self.fail(column, field::unknown(name));
        }
        found
    }

    /// One condition more.
    fn count(&mut self, column: usize) -> Option<()> {
        self.conditions += 1;
        if self.conditions > MOST_CONDITIONS {
            self.fail(column, format!("more than {MOST_CONDITIONS} conditions"));
            return None;
        }
        Some(())
    }
}
