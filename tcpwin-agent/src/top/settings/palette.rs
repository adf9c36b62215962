//! Colours by what they mean. Each palette has one form for 256 colours and one for the terminal's own sixteen.

use std::str::FromStr;

use ratatui::style::Color;
use serde::{Deserialize, Deserializer, de};

use crate::top::text::meant;

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Window,
    Loss,
    Host,
    Bandwidth,
    App,
    Unknown,
    None,
    Dim,
    Alarm,
    Notice,
    Key,
    Chart,
    Ceiling,
}

/// How many roles there are.
const ROLES: usize = 13;

/// A colour for each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    full: [Color; ROLES],
    sixteen: [Color; ROLES],
}

/// A palette that comes with the program.
struct BuiltIn {
    name: &'static str,
    full: [u8; ROLES],
    sixteen: [Color; ROLES],
}

const BUILT_IN: [BuiltIn; 3] = [
    // The nearest to Okabe and Ito's among the 256, in the order of the roles.
    BuiltIn {
        name: "okabe-ito",
        full: [208, 175, 220, 74, 36, 250, 245, 245, 209, 220, 74, 74, 208],
        sixteen: [
            Color::Yellow,
            Color::Magenta,
            Color::LightRed,
            Color::LightBlue,
            Color::Cyan,
            Color::Gray,
            Color::DarkGray,
            Color::DarkGray,
            Color::LightRed,
            Color::Yellow,
            Color::Cyan,
            Color::Cyan,
            Color::Yellow,
        ],
    },
    // Seven to one and more on black (WCAG 2.2, 1.4.6).
    BuiltIn {
        name: "high-contrast",
        full: [226, 213, 215, 117, 50, 255, 251, 251, 215, 226, 123, 123, 226],
        sixteen: [
            Color::LightYellow,
            Color::LightMagenta,
            Color::LightRed,
            Color::LightCyan,
            Color::LightGreen,
            Color::White,
            Color::Gray,
            Color::Gray,
            Color::LightRed,
            Color::LightYellow,
            Color::LightCyan,
            Color::LightCyan,
            Color::LightYellow,
        ],
    },
    // For a light ground.
    BuiltIn {
        name: "light",
        full: [130, 125, 88, 25, 23, 240, 242, 242, 88, 94, 25, 25, 130],
        sixteen: [
            Color::Red,
            Color::Magenta,
            Color::Red,
            Color::Blue,
            Color::Blue,
            Color::Black,
            Color::DarkGray,
            Color::DarkGray,
            Color::Red,
            Color::Magenta,
            Color::Blue,
            Color::Blue,
            Color::Red,
        ],
    },
];

/// The terminal's own sixteen wherever it is: its theme decides.
const TERMINAL: &str = "terminal";

/// A name that is no palette.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no palette `{name}`; there are {}{}", names().collect::<Vec<_>>().join(", "), meant(name, names()))]
pub struct UnknownPalette {
    name: String,
}

fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|palette| palette.name).chain([TERMINAL])
}

impl Default for Palette {
    fn default() -> Self {
        Self::from(&BUILT_IN[0])
    }
}

impl From<&BuiltIn> for Palette {
    fn from(palette: &BuiltIn) -> Self {
        Self {
            full: palette.full.map(Color::Indexed),
            sixteen: palette.sixteen,
        }
    }
}

impl FromStr for Palette {
    type Err = UnknownPalette;

    fn from_str(name: &str) -> Result<Self, UnknownPalette> {
        if name == TERMINAL {
            let sixteen = BUILT_IN[0].sixteen;
            return Ok(Self {
                full: sixteen,
                sixteen,
            });
        }
        let found = BUILT_IN.iter().find(|palette| palette.name == name);
        found.map(Self::from).ok_or_else(|| UnknownPalette {
            name: name.to_owned(),
        })
    }
}

impl Palette {
    /// On a terminal of 256 colours.
    pub(crate) fn full(&self, role: Role) -> Color {
        self.full[role as usize]
    }

    /// On a terminal of sixteen.
    pub(crate) fn sixteen(&self, role: Role) -> Color {
        self.sixteen[role as usize]
    }

    /// With the reader's own colours; on a terminal of sixteen only those that it has.
    pub(super) fn with(mut self, colors: &Colors) -> Self {
        for (role, color) in colors.roles() {
            let Some(Named(color)) = *color else { continue };
            self.full[role as usize] = color;
            if !matches!(color, Color::Rgb(..) | Color::Indexed(_)) {
                self.sixteen[role as usize] = color;
            }
        }
        self
    }
}

/// The reader's own colours, by role.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Colors {
    window: Option<Named>,
    loss: Option<Named>,
    host: Option<Named>,
    bandwidth: Option<Named>,
    app: Option<Named>,
    unknown: Option<Named>,
    none: Option<Named>,
    dim: Option<Named>,
    alarm: Option<Named>,
    notice: Option<Named>,
    key: Option<Named>,
    chart: Option<Named>,
    ceiling: Option<Named>,
}

impl Colors {
    fn roles(&self) -> [(Role, &Option<Named>); ROLES] {
        [
            (Role::Window, &self.window),
            (Role::Loss, &self.loss),
            (Role::Host, &self.host),
            (Role::Bandwidth, &self.bandwidth),
            (Role::App, &self.app),
            (Role::Unknown, &self.unknown),
            (Role::None, &self.none),
            (Role::Dim, &self.dim),
            (Role::Alarm, &self.alarm),
            (Role::Notice, &self.notice),
            (Role::Key, &self.key),
            (Role::Chart, &self.chart),
            (Role::Ceiling, &self.ceiling),
        ]
    }
}

/// A colour as the file has it.
#[derive(Clone, Copy)]
struct Named(Color);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let color = text.parse::<Color>().ok().filter(|color| *color != Color::Reset);
        color.map(Self).ok_or_else(|| {
            let allowed = "give one of the terminal's sixteen such as \"yellow\" or \"light-blue\", a number from \"0\" to \
                           \"255\", or \"#rrggbb\"";
            de::Error::custom(format!("`{text}` is no colour: {allowed}"))
        })
    }
}

/// Black or white, whichever is the better to read on `ground`.
pub(crate) fn readable_on(ground: Color) -> Color {
    let dark = match ground {
        Color::Black | Color::Red | Color::Blue | Color::Magenta | Color::DarkGray => true,
        other => rgb(other).is_some_and(|rgb| luminance(rgb) < 0.18),
    };
    if dark { Color::White } else { Color::Black }
}

/// Of the colours whose looks do not depend on the terminal.
fn rgb(color: Color) -> Option<[u8; 3]> {
    match color {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(index @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
            let at = index - 16;
            Some([level(at / 36), level(at / 6 % 6), level(at % 6)])
        }
        Color::Indexed(index @ 232..) => Some([8 + (index - 232) * 10; 3]),
        _ => None,
    }
}

/// Relative luminance (WCAG 2.2).
fn luminance(rgb: [u8; 3]) -> f64 {
    let [r, g, b] = rgb.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two luminances (WCAG 2.2).
    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_palette_can_be_read_on_its_ground() {
        for (name, ground, least) in [
            ("okabe-ito", 0.0, 4.5),
            ("high-contrast", 0.0, 7.0),
            ("light", 1.0, 4.5),
        ] {
            let palette: Palette = name.parse().unwrap();
            for color in palette.full {
                let own = luminance(rgb(color).unwrap());
                assert!(
                    contrast(own, ground) >= least,
                    "{name} {color}: {}",
                    contrast(own, ground)
                );
                let text = if readable_on(color) == Color::White {
                    1.0
                } else {
                    0.0
                };
                assert!(
                    contrast(own, text) >= 4.5,
                    "text on {name} {color}: {}",
                    contrast(own, text)
                );
            }
        }
    }

    /// Machado, Oliveira and Fernandes 2009, severity 1; on linear parts.
    const BLINDNESS: [[[f64; 3]; 3]; 2] = [
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ];

    #[test]
    fn classes_stay_apart_for_those_who_see_no_red_or_no_green() {
        let palette = Palette::default();
        let linear = |color: Color| rgb(color).unwrap().map(|part| luminance([part, part, part]));
        for matrix in BLINDNESS {
            let seen: Vec<[f64; 3]> = palette.full[..5]
                .iter()
                .map(|color| {
                    let color = linear(*color);
                    matrix.map(|row| {
                        row.iter()
                            .zip(color)
                            .map(|(a, b)| a * b)
                            .sum::<f64>()
                            .clamp(0.0, 1.0)
                    })
                })
                .collect();
            for (at, a) in seen.iter().enumerate() {
                for b in &seen[at + 1..] {
                    // Perceived parts go with the cube root of the linear ones.
                    let apart: f64 = a.iter().zip(b).map(|(a, b)| (a.cbrt() - b.cbrt()).powi(2)).sum();
                    assert!(apart.sqrt() > 0.1, "{:?} {:?} {apart}", a, b);
                }
            }
        }
    }

    #[test]
    fn own_colours_take_the_place_of_the_palettes() {
        let colors: Colors = toml::from_str("window = \"208\"\nloss = \"light-red\"\n").unwrap();
        let palette = Palette::default().with(&colors);
        assert_eq!(palette.full(Role::Window), Color::Indexed(208));
        assert_eq!(
            palette.sixteen(Role::Window),
            Color::Yellow,
            "sixteen colours have no 208"
        );
        assert_eq!(palette.sixteen(Role::Loss), Color::LightRed);
    }
}
