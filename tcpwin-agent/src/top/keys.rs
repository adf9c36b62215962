//! The one table of keys. The help screen is made from it.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::action::Action;
use super::prompt::Edit;

mod table;

pub(crate) use table::BINDINGS;

/// Where a key is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The table of connections.
    Overview,
    /// Connections in groups.
    Tree,
    /// Listeners, findings.
    List,
    /// A finding over its connections.
    Finding,
    Host,
    Detail,
    Help,
    /// The filter is being written.
    Prompt,
    /// Columns are being chosen.
    Chooser,
    /// A view is being named.
    Command,
}

/// Keys with one meaning. A sequence has a space between its keys.
pub(crate) struct Binding {
    pub(crate) modes: &'static [Mode],
    pub(crate) keys: &'static [&'static str],
    pub(crate) action: Action,
    pub(crate) help: &'static str,
}

/// What `key` means in `mode` after `prefix`.
pub(crate) fn action(mode: Mode, prefix: Option<&str>, key: KeyEvent) -> Action {
    if key.kind == KeyEventKind::Release {
        return Action::Nothing;
    }
    let Some(name) = name(key) else {
        return Action::Nothing;
    };
    let here = || BINDINGS.iter().filter(|binding| binding.modes.contains(&mode));
    let find = |keys: &str| {
        here()
            .find(|binding| binding.keys.contains(&keys))
            .map(|binding| match (&binding.action, keys.parse()) {
                // Nine keys, one meaning.
                (Action::CopyNumber(_), Ok(number)) => Action::CopyNumber(number),
                (action, _) => action.clone(),
            })
    };
    if let Some(action) = prefix.and_then(|prefix| find(&format!("{prefix} {name}"))) {
        return action;
    }
    if let Some(action) = find(&name) {
        return action;
    }
    let starts = |keys: &&str| {
        keys.strip_prefix(&*name)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    if here().any(|binding| binding.keys.iter().any(&starts)) {
        return Action::Prefix(name);
    }
    match key.code {
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::CONTROL) => Action::Nothing,
        KeyCode::Char(c) if mode == Mode::Prompt => Action::FilterEdit(Edit::Insert(c)),
        KeyCode::Char(c) if mode == Mode::Command => Action::CommandEdit(Edit::Insert(c)),
        _ => Action::Nothing,
    }
}

/// The key as the table writes it.
fn name(key: KeyEvent) -> Option<String> {
    let name = match key.code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(format!("Ctrl-{}", c.to_ascii_lowercase()));
        }
        KeyCode::Char(c) => c.to_string(),
        KeyCode::F(number) => format!("F{number}"),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::Tab => "Tab".to_owned(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        KeyCode::Esc => "Esc".to_owned(),
        KeyCode::Backspace => "Backspace".to_owned(),
        KeyCode::Delete => "Delete".to_owned(),
        KeyCode::Up => "Up".to_owned(),
        KeyCode::Down => "Down".to_owned(),
        KeyCode::Left => "Left".to_owned(),
        KeyCode::Right => "Right".to_owned(),
        KeyCode::Home => "Home".to_owned(),
        KeyCode::End => "End".to_owned(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::table::DIGITS;
    use super::*;
    use crate::top::action::Motion;

    #[test]
    fn no_key_means_two_things_in_one_mode() {
        let mut seen = HashSet::new();
        for binding in BINDINGS {
            for mode in binding.modes {
                for key in binding.keys {
                    assert!(
                        seen.insert((format!("{mode:?}"), *key)),
                        "{key} twice in {mode:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_help_fits_eighty_cells() {
        for binding in BINDINGS {
            assert!(binding.help.len() <= 52, "{}", binding.help);
        }
    }

    #[test]
    fn every_view_has_its_number() {
        for root in crate::top::view::ROOTS {
            let key = KeyEvent::from(KeyCode::Char(root.key));
            for mode in DIGITS {
                assert!(matches!(action(*mode, None, key), Action::Go(view) if view == root.view));
            }
        }
    }

    #[test]
    fn sequences_and_plain_letters() {
        let g = KeyEvent::from(KeyCode::Char('g'));
        assert!(matches!(action(Mode::Overview, None, g), Action::Prefix(prefix) if prefix == "g"));
        assert!(matches!(
            action(Mode::Overview, Some("g"), g),
            Action::Move(Motion::First)
        ));
        assert!(matches!(
            action(Mode::Prompt, None, g),
            Action::FilterEdit(Edit::Insert('g'))
        ));
        let space = KeyEvent::from(KeyCode::Char(' '));
        assert!(matches!(
            action(Mode::Prompt, None, space),
            Action::FilterEdit(Edit::Insert(' '))
        ));
        assert!(matches!(action(Mode::Overview, None, space), Action::Freeze));
        let ctrl = KeyEvent::new(KeyCode::Char('L'), KeyModifiers::CONTROL);
        assert!(matches!(action(Mode::Prompt, None, ctrl), Action::Redraw));
    }
}
