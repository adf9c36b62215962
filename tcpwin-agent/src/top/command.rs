//! The line in which a view is named, `:` before it.

use super::action::Action;
use super::prompt::Edit;
use super::view::ROOTS;

/// What can be said after `:`.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// What else it is called.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) action: Action,
}

/// The command that takes a name: of the preset to put on, without one the next.
const PRESET: &str = "preset";

/// All commands, views first.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    let views = ROOTS.iter().map(|root| Command {
        name: root.name,
        aliases: root.aliases,
        action: Action::Go(root.view),
    });
    let others = [
        ("columns", &[] as &[_], Action::ChooserStart),
        (PRESET, &[], Action::PresetNext),
        ("help", &["keys"], Action::Help),
        ("quit", &["exit"], Action::Quit),
    ];
    views.chain(others.into_iter().map(|(name, aliases, action)| Command {
        name,
        aliases,
        action,
    }))
}

/// What is being written after `:`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandLine {
    text: String,
    /// Which of the candidates Tab has come to.
    chosen: Option<usize>,
}

/// Longest command that can be written, characters.
const LONGEST: usize = 40;

impl CommandLine {
    /// As it stands: what was written, or the candidate that Tab has come to.
    pub(crate) fn text(&self) -> &str {
        match self.chosen.and_then(|at| self.candidates().nth(at)) {
            Some(command) => command.name,
            None => &self.text,
        }
    }

    /// Commands that begin with what was written, or whose other names do; those whose own name does come first.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Command> + '_ {
        let written = match self.preset() {
            Some(_) => PRESET.to_owned(),
            None => self.text.trim().to_ascii_lowercase(),
        };
        let by_alias = written.clone();
        let named = commands().filter(move |command| command.name.starts_with(&written));
        let also = commands().filter(move |command| {
            !command.name.starts_with(&by_alias)
                && command.aliases.iter().any(|alias| alias.starts_with(&by_alias))
        });
        named.chain(also)
    }

    /// The candidate that Enter takes.
    pub(crate) fn at(&self) -> usize {
        self.chosen.unwrap_or(0)
    }

    /// What Enter does.
    pub(crate) fn action(&self) -> Option<Action> {
        if let Some(name) = self.preset() {
            return Some(Action::Preset(name.to_owned()));
        }
        self.candidates().nth(self.at()).map(|command| command.action)
    }

    /// The name after the command that takes one.
    fn preset(&self) -> Option<&str> {
        let (command, name) = self.text.trim().split_once(' ')?;
        command.eq_ignore_ascii_case(PRESET).then(|| name.trim())
    }

    /// On to the next candidate, or back.
    pub(crate) fn complete(&mut self, forward: bool) {
        let count = self.candidates().count();
        if count == 0 {
            return;
        }
        self.chosen = Some(match (self.chosen, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        });
    }

    /// Makes the change; the cursor is always at the end.
    pub(crate) fn edit(&mut self, edit: Edit) {
        if let Some(command) = self.chosen.and_then(|at| self.candidates().nth(at)) {
            self.text = command.name.to_owned();
        }
        self.chosen = None;
        match edit {
            Edit::Insert(c) if self.text.chars().count() < LONGEST && !c.is_control() => self.text.push(c),
            Edit::Backspace => {
                self.text.pop();
            }
            Edit::DeleteWord | Edit::DeleteStart => self.text.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::view::{By, View};

    fn line(text: &str) -> CommandLine {
        let mut line = CommandLine::default();
        for c in text.chars() {
            line.edit(Edit::Insert(c));
        }
        line
    }

    #[test]
    fn the_start_of_a_name_is_enough() {
        let names = |text| line(text).candidates().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(names("pe"), ["peers"]);
        assert_eq!(
            names("p"),
            [
                "processes",
                "peers",
                "preset",
                "containers",
                "listeners",
                "findings"
            ]
        );
        assert_eq!(names("POD"), ["containers"]);
        assert_eq!(names("nothing"), Vec::<&str>::new());
        assert!(matches!(
            line("pr").action(),
            Some(Action::Go(View::Groups(By::Process)))
        ));
        assert!(matches!(line("exit").action(), Some(Action::Quit)));
        assert!(matches!(line("pres").action(), Some(Action::PresetNext)));
        assert!(matches!(line("preset web").action(), Some(Action::Preset(name)) if name == "web"));
        assert!(line("x").action().is_none());
    }

    #[test]
    fn tab_goes_round() {
        let mut line = line("h");
        line.complete(true);
        assert_eq!(line.text(), "host");
        line.complete(true);
        assert_eq!(line.text(), "help");
        line.complete(true);
        assert_eq!(line.text(), "host");
        line.complete(false);
        line.edit(Edit::Backspace);
        assert_eq!(line.text(), "hel");
    }
}
