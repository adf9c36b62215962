//! What may be written next in a filter.

use super::field::{self, Field, Kind};
use super::token::{self, Keyword, Kind as Sign, Op, Token, quoted};

/// Something that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As it is written.
    pub text: String,
    /// What it means, in a few words.
    pub about: &'static str,
}

/// What may stand at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Characters before what a candidate replaces; it goes to the cursor.
    pub from: usize,
    /// The likeliest first.
    pub candidates: Vec<Candidate>,
    /// What is expected here, where it cannot be listed.
    pub hint: Option<String>,
}

/// What comes next, after all that is whole.
#[derive(Clone, Copy, Debug)]
enum Next {
    Condition,
    /// After a whole condition.
    Joint,
    /// After `has`.
    FieldName,
    /// After a field's name.
    Operator(&'static Field),
    /// After a field's name and `not`.
    In(&'static Field),
    Value(&'static Field),
    /// After `in`.
    Values(&'static Field),
    /// Within the parentheses after `in`.
    Item(&'static Field),
    /// After a value in them.
    Comma(&'static Field),
}

/// Candidates for what stands before the cursor, `cursor` characters into `text`. `seen` gives values of a field, by name,
/// that occur among the connections now.
#[must_use]
pub fn complete(text: &str, cursor: usize, seen: impl Fn(&str) -> Vec<String>) -> Completion {
    let before: String = text.chars().take(cursor).collect();
    let cursor = before.chars().count();
    let (mut tokens, cut) = token::tokens(&before);
    let (from, partial) = match (&cut, tokens.last()) {
        (Some(open), _) => (open.column, before.chars().skip(open.column + 1).collect()),
        (None, Some(last)) if last.end == cursor => match last.kind.clone() {
            Sign::Word(word) => {
                let from = last.column;
                tokens.pop();
                (from, word)
            }
            // A quotation is whole.
            Sign::Quoted(_) => return Completion::default(),
            _ => (cursor, String::new()),
        },
        _ => (cursor, String::new()),
    };
    let next = tokens.iter().fold(Next::Condition, Next::after);
    Completion {
        from,
        candidates: fitting(next.candidates(&seen), &partial),
        hint: next.hint(),
    }
}

impl Next {
    fn after(self, token: &Token) -> Self {
        let keyword = token.keyword();
        let is_word = token.text().is_some();
        match self {
            Self::Operator(field) => match (&token.kind, keyword) {
                (Sign::Op(_), _) => return Self::Value(field),
                (_, Some(Keyword::In)) => return Self::Values(field),
                (_, Some(Keyword::Not)) => return Self::In(field),
                _ => {}
            },
            Self::In(field) if keyword == Some(Keyword::In) => return Self::Values(field),
            Self::Values(field) if token.kind == Sign::Open => return Self::Item(field),
            Self::Item(field) if is_word => return Self::Comma(field),
            Self::Comma(field) if token.kind == Sign::Comma => return Self::Item(field),
            Self::FieldName | Self::Value(_) | Self::Values(_) if is_word => return Self::Joint,
            _ => {}
        }
        match (&token.kind, keyword) {
            (Sign::Close | Sign::Quoted(_), _) => Self::Joint,
            (_, Some(Keyword::Has)) => Self::FieldName,
            (Sign::Word(word), None) => field::find(word).map_or(Self::Joint, Self::Operator),
            _ => Self::Condition,
        }
    }

    fn candidates(self, seen: impl Fn(&str) -> Vec<String>) -> Vec<Candidate> {
        let fields = || {
            field::FIELDS
                .iter()
                .map(|field| candidate(field.name, field.about))
        };
        let joints = [
            candidate("and", "both conditions"),
            candidate("or", "one of two conditions"),
        ];
        match self {
            Self::Condition => fields()
                .chain([
                    candidate("not", "the next condition does not hold"),
                    candidate("has", "the field is known"),
                ])
                .collect(),
            Self::Joint => joints.into_iter().chain(fields()).collect(),
            Self::FieldName => fields().collect(),
            Self::Operator(field) => {
                let of = |op: &Op| candidate(op.sign(), meaning(*op));
                field.operators().iter().map(of).collect()
            }
            Self::In(_) => vec![candidate(Op::In.sign(), meaning(Op::In))],
            Self::Value(field) | Self::Values(field) | Self::Item(field) => match &field.kind {
                Kind::Choice(names, _) => names.iter().map(|name| candidate(name, "")).collect(),
                Kind::Text(_) | Kind::Endpoint(_) => {
                    let seen = seen(field.name).into_iter();
                    seen.map(|value| candidate(&quoted(&value), "")).collect()
                }
                Kind::Number(..) => Vec::new(),
            },
            Self::Comma(_) => vec![candidate(",", "another value"), candidate(")", "no more values")],
        }
    }

    /// What a value looks like.
    fn hint(self) -> Option<String> {
        match self {
            Self::Value(field) | Self::Values(field) | Self::Item(field) => match &field.kind {
                Kind::Choice(..) => None,
                _ => Some(field.expects()),
            },
            _ => None,
        }
    }
}

fn candidate(text: &str, about: &'static str) -> Candidate {
    let text = text.to_owned();
    Candidate { text, about }
}

const fn meaning(op: Op) -> &'static str {
    match op {
        Op::Equal => "equal",
        Op::NotEqual => "different",
        Op::Contains => "contains",
        Op::ContainsNot => "does not contain",
        Op::Less => "less",
        Op::AtMost => "at most",
        Op::More => "more",
        Op::AtLeast => "at least",
        Op::In => "one of several, a prefix or a range",
        Op::NotIn => "none of them",
    }
}

/// Those that begin with `partial`, or if none does, those in which it occurs.
fn fitting(all: Vec<Candidate>, partial: &str) -> Vec<Candidate> {
    let partial = partial.to_ascii_lowercase();
    let bare = |candidate: &Candidate| candidate.text.trim_start_matches('"').to_ascii_lowercase();
    let starts = |candidate: &&Candidate| bare(candidate).starts_with(&partial);
    let begin: Vec<Candidate> = all.iter().filter(starts).cloned().collect();
    if !begin.is_empty() {
        return begin;
    }
    all.into_iter()
        .filter(|candidate| bare(candidate).contains(&partial))
        .collect()
}
