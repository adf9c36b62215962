//! Keys from text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A name in angle brackets that no key has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no key is called <{0}>: there are Enter, Esc, Tab, Up, Down, Left, Right, PgUp, PgDn, Home, End, lt"
)]
pub struct UnknownKey(String);

/// The keys that `text` stands for.
pub(super) fn keys(text: &str) -> impl Iterator<Item = Result<KeyEvent, UnknownKey>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let code = match name {
            Some((name, after)) => {
                rest = after;
                named(name).ok_or_else(|| UnknownKey(name.to_owned()))
            }
            None => {
                rest = &rest[first.len_utf8()..];
                Ok(KeyCode::Char(first))
            }
        };
        Some(code.map(|code| KeyEvent::new(code, KeyModifiers::NONE)))
    })
}

fn named(name: &str) -> Option<KeyCode> {
    Some(match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "lt" => KeyCode::Char('<'),
        _ => return None,
    })
}
