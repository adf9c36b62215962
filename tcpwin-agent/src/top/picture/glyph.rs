//! Signs that are drawn as boxes, since fonts differ in them: blocks and braille.

/// A part of a cell, in eighths of its width and height from the upper left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) width: u8,
    pub(super) height: u8,
}

const fn part(x: u8, y: u8, width: u8, height: u8) -> Part {
    Part { x, y, width, height }
}

/// What to fill for this sign; `None` when it is text.
pub(super) fn parts(sign: char) -> Option<Vec<Part>> {
    let code = sign as u32;
    Some(match code {
        // ▀
        0x2580 => vec![part(0, 0, 8, 4)],
        // ▁ to █, from below.
        0x2581..=0x2588 => {
            let height = (code - 0x2580) as u8;
            vec![part(0, 8 - height, 8, height)]
        }
        // ▉ to ▏, from the left.
        0x2589..=0x258f => vec![part(0, 0, (0x2590 - code) as u8, 8)],
        // ▐
        0x2590 => vec![part(4, 0, 4, 8)],
        0x2800..=0x28ff => braille((code - 0x2800) as u8),
        _ => return None,
    })
}

/// The dots of Unicode's braille patterns: 1 to 3 and 7 on the left, 4 to 6 and 8 on the right.
fn braille(dots: u8) -> Vec<Part> {
    const PLACES: [(u8, u8); 8] = [(1, 0), (1, 2), (1, 4), (5, 0), (5, 2), (5, 4), (1, 6), (5, 6)];
    let is_set = |bit: &usize| dots & (1 << bit) != 0;
    (0..8)
        .filter(is_set)
        .map(|bit| part(PLACES[bit].0, PLACES[bit].1, 2, 1))
        .collect()
}
