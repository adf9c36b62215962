//! Text to tokens, each with its column.

use super::FilterError;

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
    In,
    NotIn,
}

impl Op {
    /// As it is written.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Contains => "~",
            Self::ContainsNot => "!~",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}

/// A word that is part of the grammar unless it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
    In,
    Has,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Word(String),
    Quoted(String),
    Op(Op),
    /// `!` alone.
    Bang,
    Open,
    Close,
    Comma,
}

/// What stands in the text, and where.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// Characters before it.
    pub(super) column: usize,
    /// Characters up to its end.
    pub(super) end: usize,
    pub(super) kind: Kind,
}

impl Token {
    /// Its word, quoted or not.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(text) | Kind::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// Its word if that is not quoted.
    pub(super) fn bare(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn keyword(&self) -> Option<Keyword> {
        match &self.kind {
            Kind::Word(word) => keyword(word),
            Kind::Bang => Some(Keyword::Not),
            _ => None,
        }
    }
}

/// `and`, and what hands write out of habit.
fn keyword(word: &str) -> Option<Keyword> {
    const KEYWORDS: [(&str, Keyword); 7] = [
        ("and", Keyword::And),
        ("&&", Keyword::And),
        ("or", Keyword::Or),
        ("||", Keyword::Or),
        ("not", Keyword::Not),
        ("in", Keyword::In),
        ("has", Keyword::Has),
    ];
    let found = KEYWORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.map(|(_, keyword)| *keyword)
}

/// Signs that end a word.
const SIGNS: &str = "=<>~!\"(),";

fn is_sign(c: char) -> bool {
    SIGNS.contains(c)
}

/// `word` as it has to be written to be read as a word again.
pub(super) fn quoted(word: &str) -> std::borrow::Cow<'_, str> {
    let plain = !word.is_empty()
        && !word.starts_with('\'')
        && !word.contains(|c: char| c.is_whitespace() || is_sign(c))
        && keyword(word).is_none();
    if plain {
        return word.into();
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"").into()
}

/// The tokens of `text` up to its first fault.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Option<FilterError>) {
    let mut chars = text.chars().enumerate().peekable();
    let mut tokens = Vec::new();
    while let Some(&(column, c)) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        let kind = match c {
            '"' | '\'' => match quotation(&mut chars, c) {
                Some(text) => Kind::Quoted(text),
                None => {
                    let message = "this quote is not closed".to_owned();
                    return (tokens, Some(FilterError { column, message }));
                }
            },
            _ if is_sign(c) => sign(&mut chars, c),
            _ => {
                let mut word = String::new();
                while let Some((_, c)) = chars.next_if(|(_, c)| !c.is_whitespace() && !is_sign(*c)) {
                    word.push(c);
                }
                Kind::Word(word)
            }
        };
        let end = chars.peek().map_or_else(|| text.chars().count(), |(at, _)| *at);
        tokens.push(Token { column, end, kind });
    }
    (tokens, None)
}

type Chars<'a> = std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'a>>>;

/// What stands between the `quote` that comes next and its like; `\` makes the next character a plain one.
fn quotation(chars: &mut Chars<'_>, quote: char) -> Option<String> {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next()?.1 {
            '\\' => text.push(chars.next()?.1),
            c if c == quote => return Some(text),
            c => text.push(c),
        }
    }
}

/// The sign that starts with `first`, which comes next.
fn sign(chars: &mut Chars<'_>, first: char) -> Kind {
    chars.next();
    let mut then = |wanted: char| chars.next_if(|(_, c)| *c == wanted).is_some();
    match first {
        '(' => Kind::Open,
        ')' => Kind::Close,
        ',' => Kind::Comma,
        '~' => Kind::Op(Op::Contains),
        '<' if then('=') => Kind::Op(Op::AtMost),
        '<' => Kind::Op(Op::Less),
        '>' if then('=') => Kind::Op(Op::AtLeast),
        '>' => Kind::Op(Op::More),
        '!' if then('=') => Kind::Op(Op::NotEqual),
        '!' if then('~') => Kind::Op(Op::ContainsNot),
        '!' => Kind::Bang,
        _ => {
            // `==` and `=~` out of habit.
            if then('~') {
                return Kind::Op(Op::Contains);
            }
            then('=');
            Kind::Op(Op::Equal)
        }
    }
}
