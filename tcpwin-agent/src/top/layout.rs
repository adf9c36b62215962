//! Where the regions of the screen are: the same answer for those who draw and for the mouse.

use ratatui::layout::{Rect, Size};

/// Least size that shows anything useful.
pub(crate) const LEAST: Size = Size::new(60, 12);
/// The same of text that scrolls.
pub(crate) const LEAST_PAGE: Size = Size::new(40, 6);

/// Regions of a view with a list. What is not there is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions {
    /// Host, kernel, source.
    pub(crate) title: Rect,
    /// Names of the views, or the trail.
    pub(crate) tabs: Rect,
    pub(crate) header: Rect,
    /// Text over the list.
    pub(crate) text: Rect,
    /// Column names.
    pub(crate) head: Rect,
    pub(crate) rows: Rect,
    /// What holds the selected connection.
    pub(crate) why: Rect,
    /// The findings under the list, with their own title.
    pub(crate) findings: Rect,
    pub(crate) footer: Rect,
}

/// What a view with a list asks for, in lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) header: u16,
    pub(crate) text: u16,
    /// Column names.
    pub(crate) head: u16,
    /// What holds the selected connection.
    pub(crate) why: u16,
    /// With their title; none are shown where the list needs the room.
    pub(crate) findings: u16,
    pub(crate) footer: u16,
}

/// Regions of every other view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) header: Rect,
    pub(crate) body: Rect,
    pub(crate) footer: Rect,
}

/// From this height on there is room for more than the least.
pub(crate) const ROOMY: u16 = 20;
/// From this height on there is room for everything.
pub(crate) const TALL: u16 = 34;

/// If `size` is enough for `least`.
pub(crate) const fn fits(size: Size, least: Size) -> bool {
    size.width >= least.width && size.height >= least.height
}

/// Notices that are shown on a screen of this height.
pub(crate) const fn notices_shown(size: Size, notices: usize) -> u16 {
    let most = if size.height < ROOMY { 1 } else { 4 };
    if notices < most {
        notices as u16
    } else {
        most as u16
    }
}

/// Lines of the header beside notices: classes and rates; a bar; what else the agent tells of its host.
pub(crate) const fn header_lines(size: Size, has_facts: bool) -> u16 {
    let bar = size.height >= ROOMY;
    let facts = size.height >= TALL && has_facts;
    2 + bar as u16 + facts as u16
}

/// Lines in which a proof fits, nearly always.
pub(crate) const fn why_lines(size: Size) -> u16 {
    if size.width < 160 { 2 } else { 1 }
}

/// A view with a list on a screen of `size`. The list takes what is left.
pub(crate) fn regions(size: Size, wanted: Wanted) -> Regions {
    let mut stack = Stack::new(size);
    let title = stack.top(1);
    let footer = stack.bottom(wanted.footer);
    let tabs = stack.top(1);
    let header = stack.top(wanted.header);
    let text = stack.top(wanted.text);
    let head = stack.top(wanted.head);
    let findings = stack.bottom(wanted.findings);
    let why = stack.bottom(wanted.why);
    Regions {
        title,
        tabs,
        header,
        text,
        head,
        rows: stack.rest(),
        why,
        findings,
        footer,
    }
}

/// Any other view on a screen of `size`.
pub(crate) fn page(size: Size, footer: u16) -> Page {
    let mut stack = Stack::new(size);
    let header = stack.top(1);
    let footer = stack.bottom(footer);
    Page {
        header,
        body: stack.rest(),
        footer,
    }
}

/// Lines that are not given away yet.
struct Stack {
    left: Rect,
}

impl Stack {
    fn new(size: Size) -> Self {
        Self {
            left: Rect::new(0, 0, size.width, size.height),
        }
    }

    fn top(&mut self, wanted: u16) -> Rect {
        let height = wanted.min(self.left.height);
        let taken = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        taken
    }

    fn bottom(&mut self, wanted: u16) -> Rect {
        let height = wanted.min(self.left.height);
        self.left.height -= height;
        Rect {
            y: self.left.bottom(),
            height,
            ..self.left
        }
    }

    fn rest(self) -> Rect {
        self.left
    }
}
