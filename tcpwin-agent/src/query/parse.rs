//! Text to terms, with the column of what is wrong.

use super::field::{self, Op, Test};
use super::{FilterError, Term};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Op(Op),
}

/// A token and the number of characters before it.
type Located = (usize, Token);

/// Adds the terms of `text` to `terms`, up to the first fault.
pub(super) fn parse(text: &str, terms: &mut Vec<Term>) -> Result<(), FilterError> {
    let mut tokens = Vec::new();
    let cut = tokenise(text, &mut tokens);
    let mut rest = tokens.as_slice();
    let mut joined: Option<usize> = None;
    while let Some(((column, token), after)) = rest.split_first() {
        let Token::Word(word) = token else {
            return Err(fault(*column, "a field name comes before this"));
        };
        match after {
            [(_, Token::Op(op)), (at, Token::Word(value)), after @ ..] => {
                terms.push(Term::Test(test(*column, word, *op, *at, value)?));
                rest = after;
                joined = None;
            }
            // A fault that stopped the tokens comes first: `proc="x`.
            [(_, Token::Op(_)), ..] if cut.is_err() => return cut,
            [(at, Token::Op(_)), ..] => return Err(fault(at + 1, "a value comes after this")),
            _ if word == "and" => {
                if terms.is_empty() || joined.is_some() {
                    return Err(fault(*column, "`and` joins two conditions"));
                }
                joined = Some(*column);
                rest = after;
            }
            _ => {
                terms.push(Term::Word(word.to_lowercase()));
                rest = after;
                joined = None;
            }
        }
    }
    match joined {
        _ if cut.is_err() => cut,
        Some(column) => Err(fault(column, "`and` joins two conditions")),
        None => Ok(()),
    }
}

fn test(column: usize, name: &str, op: Op, at: usize, value: &str) -> Result<Test, FilterError> {
    let field = field::find(name).ok_or_else(|| {
        fault(
            column,
            &format!(
                "no field `{name}`; there are {}",
                field::names().collect::<Vec<_>>().join(" ")
            ),
        )
    })?;
    Test::new(field, op, value).map_err(|message| fault(at, &message))
}

fn fault(column: usize, message: &str) -> FilterError {
    FilterError {
        column,
        message: message.to_owned(),
    }
}

fn tokenise(text: &str, tokens: &mut Vec<Located>) -> Result<(), FilterError> {
    let mut chars = text.chars().enumerate().peekable();
    while let Some(&(column, c)) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if let Some(op) = operator(&mut chars) {
            tokens.push((column, Token::Op(op?)));
        } else if c == '"' {
            chars.next();
            let mut word = String::new();
            loop {
                match chars.next() {
                    Some((_, '"')) => break,
                    Some((_, c)) => word.push(c),
                    None => return Err(fault(column, "this quote is not closed")),
                }
            }
            tokens.push((column, Token::Word(word)));
        } else {
            let mut word = String::new();
            while let Some((_, c)) = chars.next_if(|(_, c)| !c.is_whitespace() && !"=<>~!\"".contains(*c)) {
                word.push(c);
            }
            tokens.push((column, Token::Word(word)));
        }
    }
    Ok(())
}

type Chars<'a> = std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'a>>>;

/// The operator that starts here, if one does.
fn operator(chars: &mut Chars<'_>) -> Option<Result<Op, FilterError>> {
    let (column, first) = chars.next_if(|(_, c)| "=<>~!".contains(*c))?;
    let mut then = |wanted: char| chars.next_if(|(_, c)| *c == wanted).is_some();
    Some(Ok(match first {
        '=' => {
            // `==` out of habit.
            then('=');
            Op::Equal
        }
        '~' => Op::Contains,
        '<' => {
            if then('=') {
                Op::AtMost
            } else {
                Op::Less
            }
        }
        '>' => {
            if then('=') {
                Op::AtLeast
            } else {
                Op::More
            }
        }
        _ if then('=') => Op::NotEqual,
        _ if then('~') => Op::ContainsNot,
        _ => return Some(Err(fault(column, "`!` is followed by `=` or `~`"))),
    }))
}
