//! Cells of a terminal → SVG.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::glyph;

/// A cell, in eighths of which blocks are whole numbers of half pixels.
const WIDTH: f32 = 8.0;
const HEIGHT: f32 = 16.0;
/// The baseline within a cell.
const BASE: f32 = 12.5;
/// A dark terminal.
const GROUND: &str = "#15181e";
const TEXT: &str = "#d5d8dd";

/// The look of a cell, its reversal done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    text: String,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    underlined: bool,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let modifier = cell.modifier;
        let text = colour(cell.fg).unwrap_or_else(|| TEXT.to_owned());
        let ground = colour(cell.bg);
        let (text, ground) = if modifier.contains(Modifier::REVERSED) {
            (ground.unwrap_or_else(|| GROUND.to_owned()), Some(text))
        } else {
            (text, ground)
        };
        Self {
            text,
            ground,
            bold: modifier.contains(Modifier::BOLD),
            dim: modifier.contains(Modifier::DIM),
            underlined: modifier.contains(Modifier::UNDERLINED),
        }
    }
}

/// Neighbours that look the same.
struct Run {
    x: u16,
    y: u16,
    len: u16,
    text: String,
    look: Look,
}

/// The picture.
pub(super) fn of(buffer: &Buffer) -> String {
    let (width, height) = (
        f32::from(buffer.area.width) * WIDTH,
        f32::from(buffer.area.height) * HEIGHT,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-10 -10 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"13\">\n\
         <rect x=\"-10\" y=\"-10\" width=\"{w}\" height=\"{h}\" rx=\"6\" fill=\"{GROUND}\"/>\n",
        w = width + 20.0,
        h = height + 20.0,
    );
    for run in runs(buffer) {
        draw(&mut svg, &run);
    }
    svg.push_str("</svg>\n");
    svg
}

fn runs(buffer: &Buffer) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for y in 0..buffer.area.height {
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let look = Look::of(cell);
            match runs.last_mut() {
                Some(run) if run.y == y && run.look == look => {
                    run.text.push_str(cell.symbol());
                    run.len += 1;
                }
                _ => runs.push(Run {
                    x,
                    y,
                    len: 1,
                    text: cell.symbol().to_owned(),
                    look,
                }),
            }
        }
    }
    runs
}

// Writing to a string cannot fail.
fn draw(svg: &mut String, run: &Run) {
    let (x, y) = (f32::from(run.x) * WIDTH, f32::from(run.y) * HEIGHT);
    let width = f32::from(run.len) * WIDTH;
    if let Some(ground) = &run.look.ground {
        rect(svg, [x, y, width, HEIGHT], ground, false);
    }
    if run.look.underlined {
        rect(
            svg,
            [x, y + HEIGHT - 1.0, width, 0.8],
            &run.look.text,
            run.look.dim,
        );
    }
    let mut word = Word::default();
    for (place, sign) in run.text.chars().enumerate() {
        let left = x + place as f32 * WIDTH;
        match glyph::parts(sign) {
            Some(parts) => {
                word.end(svg, y, &run.look);
                for part in parts {
                    let [across, down] = [WIDTH / 8.0, HEIGHT / 8.0];
                    let place = [
                        left + f32::from(part.x) * across,
                        y + f32::from(part.y) * down,
                        f32::from(part.width) * across,
                        f32::from(part.height) * down,
                    ];
                    rect(svg, place, &run.look.text, run.look.dim);
                }
            }
            None if sign == ' ' => word.end(svg, y, &run.look),
            None => word.push(sign, left),
        }
    }
    word.end(svg, y, &run.look);
}

/// Text without a space: each is put in its place by itself, so that no font can move the columns.
#[derive(Default)]
struct Word {
    x: f32,
    text: String,
}

impl Word {
    fn push(&mut self, sign: char, x: f32) {
        if self.text.is_empty() {
            self.x = x;
        }
        self.text.push(sign);
    }

    fn end(&mut self, svg: &mut String, y: f32, look: &Look) {
        if self.text.is_empty() {
            return;
        }
        let length = self.text.chars().count() as f32 * WIDTH;
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" fill=\"{}\"",
            self.x,
            y + BASE,
            look.text
        );
        if self.text.chars().count() > 1 {
            let _ = write!(svg, " textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"");
        }
        if look.bold {
            svg.push_str(" font-weight=\"bold\"");
        }
        if look.dim {
            svg.push_str(" opacity=\"0.6\"");
        }
        let _ = writeln!(svg, ">{}</text>", escaped(&self.text));
        self.text.clear();
    }
}

fn rect(svg: &mut String, [x, y, width, height]: [f32; 4], fill: &str, dim: bool) {
    let opacity = if dim { " opacity=\"0.6\"" } else { "" };
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{opacity}/>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// `None` for the terminal's own.
fn colour(colour: Color) -> Option<String> {
    let index = match colour {
        Color::Reset => return None,
        Color::Rgb(red, green, blue) => return Some(hex([red, green, blue])),
        Color::Indexed(index) => index,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
    };
    Some(hex(indexed(index)))
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// xterm's 256 colours: sixteen of the terminal's own, a cube of 6 × 6 × 6, and greys.
fn indexed(index: u8) -> [u8; 3] {
    const OWN: [[u8; 3]; 16] = [
        [0x15, 0x18, 0x1e],
        [0xcd, 0x31, 0x31],
        [0x0d, 0xbc, 0x79],
        [0xe5, 0xe5, 0x10],
        [0x24, 0x72, 0xc8],
        [0xbc, 0x3f, 0xbc],
        [0x11, 0xa8, 0xcd],
        [0xd5, 0xd8, 0xdd],
        [0x66, 0x66, 0x66],
        [0xf1, 0x4c, 0x4c],
        [0x23, 0xd1, 0x8b],
        [0xf5, 0xf5, 0x43],
        [0x3b, 0x8e, 0xea],
        [0xd6, 0x70, 0xd6],
        [0x29, 0xb8, 0xdb],
        [0xff, 0xff, 0xff],
    ];
    match index {
        0..=15 => OWN[usize::from(index)],
        16..=231 => {
            let step = |place: u8| match place % 6 {
                0 => 0,
                level => 55 + 40 * level,
            };
            let index = index - 16;
            [step(index / 36), step(index / 6), step(index)]
        }
        232..=255 => [8 + 10 * (index - 232); 3],
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn colours_are_those_of_xterm() {
        assert_eq!(colour(Color::Reset), None);
        assert_eq!(colour(Color::Indexed(208)).as_deref(), Some("#ff8700"));
        assert_eq!(colour(Color::Indexed(16)).as_deref(), Some("#000000"));
        assert_eq!(colour(Color::Indexed(231)).as_deref(), Some("#ffffff"));
        assert_eq!(colour(Color::Indexed(245)).as_deref(), Some("#8a8a8a"));
        assert_eq!(colour(Color::Rgb(1, 2, 255)).as_deref(), Some("#0102ff"));
    }

    #[test]
    fn words_blocks_and_grounds_are_put_in_their_places() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
        buffer.set_string(0, 0, "a <b>", Style::new().bold());
        buffer.set_string(1, 1, "▂⠃", Style::new().reversed());
        let svg = of(&buffer);
        let lines: Vec<&str> = svg.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "<text x=\"0\" y=\"12.5\" fill=\"#d5d8dd\" font-weight=\"bold\">a</text>",
                "<text x=\"16\" y=\"12.5\" fill=\"#d5d8dd\" textLength=\"24\" lengthAdjust=\"spacingAndGlyphs\" \
                 font-weight=\"bold\">&lt;b&gt;</text>",
                "<rect x=\"8\" y=\"16\" width=\"16\" height=\"16\" fill=\"#d5d8dd\"/>",
                "<rect x=\"8\" y=\"28\" width=\"8\" height=\"4\" fill=\"#15181e\"/>",
                "<rect x=\"17\" y=\"16\" width=\"2\" height=\"2\" fill=\"#15181e\"/>",
                "<rect x=\"17\" y=\"20\" width=\"2\" height=\"2\" fill=\"#15181e\"/>",
                "</svg>",
            ]
        );
    }
}
