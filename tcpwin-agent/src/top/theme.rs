//! Colours and signs. What a colour says is always said by a letter or word as well.

use ratatui::style::{Color, Modifier, Style};

use super::settings::{Palette, Role, readable_on};
use crate::classify::Bound;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMode {
    /// From NO_COLOR, TERM and COLORTERM.
    #[default]
    Auto,
    /// None: bold, dim and reverse only.
    Never,
    /// The terminal's own sixteen.
    Sixteen,
    /// A colour-blind-safe palette out of 256.
    Full,
}

/// Look of the screens: resolved colours and signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    depth: Depth,
    palette: Palette,
    /// Nothing but ASCII.
    pub(crate) ascii: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    None,
    Sixteen,
    Full,
}

impl Theme {
    /// Resolves `mode` and the wish for ASCII by the environment that `var` reads.
    pub(crate) fn new(mode: ColourMode, ascii: bool, var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let depth = match mode {
            ColourMode::Never => Depth::None,
            ColourMode::Sixteen => Depth::Sixteen,
            ColourMode::Full => Depth::Full,
            ColourMode::Auto if set("NO_COLOR").is_some() || term == "dumb" => Depth::None,
            ColourMode::Auto if term.contains("256color") || set("COLORTERM").is_some() => Depth::Full,
            ColourMode::Auto => Depth::Sixteen,
        };
        // Only a locale that says otherwise: servers often have none set behind a UTF-8 terminal.
        let other_charset = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(set)
            .is_some_and(|locale| {
                let locale = locale.to_ascii_lowercase();
                !locale.contains("utf-8") && !locale.contains("utf8")
            });
        Self {
            depth,
            palette: Palette::default(),
            ascii: ascii || other_charset || matches!(&*term, "linux" | "dumb" | "vt100"),
        }
    }

    /// The same in other colours.
    pub(crate) fn with_palette(self, palette: Palette) -> Self {
        Self { palette, ..self }
    }

    fn pick(self, role: Role) -> Option<Color> {
        match self.depth {
            Depth::None => None,
            Depth::Sixteen => Some(self.palette.sixteen(role)),
            Depth::Full => Some(self.palette.full(role)),
        }
    }

    fn coloured(self, role: Role) -> Style {
        self.pick(role)
            .map_or_else(Style::new, |colour| Style::new().fg(colour))
    }

    /// If any colour is shown.
    pub(crate) fn has_colour(self) -> bool {
        self.depth != Depth::None
    }

    /// Text of a class.
    pub(crate) fn bound(self, bound: Bound) -> Style {
        match bound {
            Bound::Window => self.coloured(Role::Window).add_modifier(Modifier::BOLD),
            Bound::Loss => self.coloured(Role::Loss).add_modifier(Modifier::BOLD),
            Bound::Host => self.coloured(Role::Host).add_modifier(Modifier::BOLD),
            Bound::Bandwidth => self.coloured(Role::Bandwidth),
            Bound::App => self.coloured(Role::App),
            Bound::Unknown => self.coloured(Role::Unknown),
            Bound::None => self.faint(Role::None),
        }
    }

    /// Ground of a class in a stacked bar, with text that can be read on it.
    pub(crate) fn bound_ground(self, bound: Bound) -> Style {
        self.ground(self.bound(bound).fg.unwrap_or(Color::DarkGray))
    }

    /// Ground in `colour`.
    fn ground(self, colour: Color) -> Style {
        if self.has_colour() {
            Style::new().fg(readable_on(colour)).bg(colour)
        } else {
            Style::new()
        }
    }

    /// Ground of a state of the time budget.
    pub(crate) fn budget_ground(self, state: usize) -> Style {
        const STATES: [Role; 6] = [
            Role::None,
            Role::App,
            Role::Window,
            Role::Host,
            Role::Loss,
            Role::Bandwidth,
        ];
        self.pick(STATES[state % STATES.len()])
            .map_or_else(Style::new, |colour| self.ground(colour))
    }

    /// What matters less.
    pub(crate) fn dim(self) -> Style {
        self.faint(Role::Dim)
    }

    fn faint(self, role: Role) -> Style {
        match self.pick(role) {
            None => Style::new().add_modifier(Modifier::DIM),
            Some(colour) => Style::new().fg(colour),
        }
    }

    /// Names of sections and columns.
    pub(crate) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The line of column names.
    pub(crate) fn head(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// The selected row.
    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What must not be overlooked.
    pub(crate) fn alarm(self) -> Style {
        match self.pick(Role::Alarm) {
            None => Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED),
            Some(colour) => self.ground(colour).add_modifier(Modifier::BOLD),
        }
    }

    /// A fault in what the reader wrote.
    pub(crate) fn alarm_text(self) -> Style {
        self.coloured(Role::Alarm).add_modifier(Modifier::BOLD)
    }

    /// What should be known.
    pub(crate) fn notice(self) -> Style {
        self.coloured(Role::Notice)
    }

    /// A key in a hint.
    pub(crate) fn key(self) -> Style {
        self.coloured(Role::Key).add_modifier(Modifier::BOLD)
    }

    /// Bars and lines of charts.
    pub(crate) fn chart(self) -> Style {
        self.coloured(Role::Chart)
    }

    /// The line a chart's main line stays under, and marks on its axis.
    pub(crate) fn ceiling(self) -> Style {
        self.coloured(Role::Ceiling)
    }

    /// A sign, or its ASCII stand-in.
    pub(crate) fn sign(self, sign: Sign) -> &'static str {
        let (unicode, ascii) = match sign {
            Sign::Ellipsis => ("…", "~"),
            Sign::Times => ("×", "x"),
            Sign::Marker => ("▶", ">"),
            Sign::Down => ("▼", "v"),
            Sign::Up => ("▲", "^"),
            Sign::Full => ("█", "#"),
            Sign::Rail => ("│", "|"),
            Sign::Dot => ("·", "-"),
            Sign::Rule => ("─", "-"),
            Sign::Corner => ("└", "+"),
            Sign::Tick => ("┤", "|"),
            Sign::Dash => ("╌", "-"),
            Sign::Into => ("›", ">"),
            Sign::Closed => ("▸", "+"),
            Sign::Open => ("▾", "-"),
        };
        if self.ascii { ascii } else { unicode }
    }

    /// Steps of a sparkline from low to high.
    pub(crate) fn steps(self) -> &'static [char] {
        if self.ascii {
            &['_', '.', '-', '=', '+', '*', '#']
        } else {
            &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
        }
    }
}

/// Signs outside ASCII.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sign {
    Ellipsis,
    Times,
    Marker,
    Down,
    Up,
    Full,
    Rail,
    Dot,
    Rule,
    /// Where two axes meet.
    Corner,
    /// On an axis.
    Tick,
    /// Of a broken line.
    Dash,
    /// Between the steps of the trail.
    Into,
    /// Rows hide behind this one.
    Closed,
    /// They are shown.
    Open,
}

/// The letter of a class: what its colour says.
pub(crate) fn letter(bound: Bound) -> char {
    match bound {
        Bound::Window => 'W',
        Bound::Loss => 'L',
        Bound::Bandwidth => 'B',
        Bound::Host => 'H',
        Bound::App => 'A',
        Bound::Unknown => '?',
        Bound::None => '.',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(mode: ColourMode, vars: &[(&str, &str)]) -> Theme {
        Theme::new(mode, false, |name| {
            vars.iter()
                .find(|(var, _)| *var == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_decides_when_nobody_else_does() {
        assert_eq!(
            theme(ColourMode::Auto, &[("TERM", "xterm-256color")]).depth,
            Depth::Full
        );
        assert_eq!(
            theme(ColourMode::Auto, &[("TERM", "xterm")]).depth,
            Depth::Sixteen
        );
        assert_eq!(
            theme(ColourMode::Auto, &[("TERM", "xterm"), ("NO_COLOR", "1")]).depth,
            Depth::None
        );
        assert_eq!(
            theme(ColourMode::Auto, &[("TERM", "xterm"), ("NO_COLOR", "")]).depth,
            Depth::Sixteen
        );
        assert_eq!(theme(ColourMode::Full, &[("NO_COLOR", "1")]).depth, Depth::Full);
        assert!(theme(ColourMode::Auto, &[("LANG", "C")]).ascii);
        assert!(!theme(ColourMode::Auto, &[("LANG", "C.UTF-8")]).ascii);
        assert!(!theme(ColourMode::Auto, &[]).ascii);
    }
}
