//! Where the regions of the screen are: the same answer for those who draw and for the mouse.

use ratatui::layout::{Rect, Size};

/// Least size that shows anything useful.
pub(crate) const LEAST: Size = Size::new(60, 12);

/// Regions of the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overview {
    pub(crate) header: Rect,
    /// Column names.
    pub(crate) head: Rect,
    pub(crate) rows: Rect,
    pub(crate) footer: Rect,
}

/// Regions of every other view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) header: Rect,
    pub(crate) body: Rect,
    pub(crate) footer: Rect,
}

/// Lines of the header beside notices.
const HEADER: u16 = 4;

/// If `size` is enough.
pub(crate) const fn fits(size: Size) -> bool {
    size.width >= LEAST.width && size.height >= LEAST.height
}

/// Notices that are shown on a screen of this height.
pub(crate) const fn notices_shown(size: Size, notices: usize) -> u16 {
    let most = if size.height < 20 { 1 } else { 4 };
    if notices < most {
        notices as u16
    } else {
        most as u16
    }
}

/// The overview on a screen of `size` with so many notices and lines in the footer.
pub(crate) fn overview(size: Size, notices: usize, footer: u16) -> Overview {
    let [header, head, rows, footer] = stack(size, [HEADER + notices_shown(size, notices), 1], footer);
    Overview {
        header,
        head,
        rows,
        footer,
    }
}

/// Any other view on a screen of `size`.
pub(crate) fn page(size: Size, footer: u16) -> Page {
    let [header, _, body, footer] = stack(size, [1, 0], footer);
    Page { header, body, footer }
}

/// Two regions from the top, one that takes what is left, one at the bottom.
fn stack(size: Size, top: [u16; 2], bottom: u16) -> [Rect; 4] {
    let mut left = size.height;
    let mut y = 0;
    let mut take = |wanted: u16| {
        let height = wanted.min(left);
        left -= height;
        let rect = Rect::new(0, y, size.width, height);
        y += height;
        rect
    };
    let (first, second) = (take(top[0]), take(top[1]));
    let rest = size.height - first.height - second.height;
    let middle = take(rest.saturating_sub(bottom));
    let last = take(bottom);
    [first, second, middle, last]
}
