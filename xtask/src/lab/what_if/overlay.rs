//! A table laid over a scenario's own, with what a remedy says in place of its tokens.

use anyhow::{Context, Result, anyhow};
use toml::{Table, Value};

/// Stands for the number that a remedy gives, as a number.
const NUMBER: &str = "$number";
/// Stands for the number (or the list of numbers) that a remedy gives, as text.
const TEXT: &str = "$text";
/// Stands for the directive that a remedy gives, as its program's configuration takes it.
const DIRECTIVE: &str = "$directive";
/// Takes the key away.
const NONE: &str = "$none";

/// A remedy's change, and the word in it that matters.
#[derive(Clone, Copy, Debug)]
pub struct Advice<'a> {
    /// As one would type it.
    pub change: &'a str,
    /// The word.
    pub word: &'a str,
}

impl<'a> Advice<'a> {
    fn numbers(self) -> Option<&'a str> {
        let (_, after) = self.change.split_once(self.word)?;
        first_numbers(after)
    }

    /// What stands between the backquotes around the word.
    fn directive(self) -> Option<&'a str> {
        let mut quoted = self.change.split('`').skip(1).step_by(2);
        quoted.find(|text| text.contains(self.word))
    }
}

/// The first number in the text, with those that follow it after single blanks: `tcp_wmem` takes three.
fn first_numbers(text: &str) -> Option<&str> {
    let start = text.find(|letter: char| letter.is_ascii_digit())?;
    let rest = &text[start..];
    let end = rest
        .find(|letter: char| !letter.is_ascii_digit() && letter != ' ')
        .unwrap_or(rest.len());
    Some(rest[..end].trim_end())
}

/// Lays one table over another: tables merge, `"$none"` takes a key away, everything else replaces.
pub fn lay_over(base: &mut Table, overlay: &Table, advice: Option<Advice<'_>>) -> Result<()> {
    for (key, new) in overlay {
        match (base.get_mut(key), new) {
            (Some(Value::Table(below)), Value::Table(above)) if same_kind(below, above) => {
                lay_over(below, above, advice)?;
            }
            (_, Value::Table(above)) => {
                let mut below = Table::new();
                lay_over(&mut below, above, advice)?;
                base.insert(key.clone(), Value::Table(below));
            }
            (_, Value::String(text)) if text == NONE => {
                base.remove(key);
            }
            (_, new) => {
                base.insert(key.clone(), substituted(new, advice)?);
            }
        }
    }
    Ok(())
}

/// A pattern of another kind has other keys: it takes the place of the one below.
fn same_kind(below: &Table, above: &Table) -> bool {
    above
        .get("kind")
        .is_none_or(|kind| below.get("kind") == Some(kind))
}

fn substituted(new: &Value, advice: Option<Advice<'_>>) -> Result<Value> {
    let Value::String(text) = new else {
        return Ok(new.clone());
    };
    if ![NUMBER, TEXT, DIRECTIVE].contains(&text.as_str()) {
        return Ok(new.clone());
    }
    let advice = advice.ok_or_else(|| anyhow!("{text} needs `value`: a word of the remedy that has it"))?;
    let found = match text.as_str() {
        DIRECTIVE => advice.directive(),
        _ => advice.numbers(),
    };
    let found = found.ok_or_else(|| anyhow!("{:?} has no {text}", advice.change))?;
    if text != NUMBER {
        return Ok(Value::String(found.to_owned()));
    }
    let number = found
        .parse()
        .with_context(|| format!("the remedy's {found:?} is not one number"))?;
    Ok(Value::Integer(number))
}

#[cfg(test)]
mod tests {
    use super::{Advice, first_numbers};

    #[test]
    fn a_directive_is_what_stands_between_backquotes() {
        let advice = |change| Advice {
            change,
            word: "preread",
        };
        let change = "if the peer is `nginx`: `http2_body_preread_size 1m; client_body_buffer_size 1m;`";
        assert_eq!(
            advice(change).directive(),
            Some("http2_body_preread_size 1m; client_body_buffer_size 1m;")
        );
        assert_eq!(advice("raise preread 4").directive(), None);
        assert_eq!(advice("raise preread 4").numbers(), Some("4"));
    }

    #[test]
    fn numbers_end_where_the_remedy_goes_on() {
        assert_eq!(first_numbers(", 655360)"), Some("655360"));
        assert_eq!(
            first_numbers("=\"4096 16384 4194304\" and"),
            Some("4096 16384 4194304")
        );
        assert_eq!(first_numbers("=1, and a SO_RCVBUF"), Some("1"));
        assert_eq!(first_numbers(")"), None);
    }
}
