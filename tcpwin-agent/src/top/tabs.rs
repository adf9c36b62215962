//! The line of the views' names, and where each stands: the same answer for those who draw and for the mouse.

use std::ops::Range;

use super::state::State;
use super::view::{ROOTS, Root, View};

/// A view's name on the line.
pub(crate) struct Tab {
    pub(crate) view: View,
    pub(crate) text: String,
    /// Cells from the left edge.
    pub(crate) cells: Range<u16>,
}

/// All tabs, in as many words as there is room for.
pub(crate) fn tabs(width: u16) -> Vec<Tab> {
    let forms: [fn(&Root) -> String; 4] = [
        |root| format!(" {} {} ", root.key, root.name),
        |root| format!(" {} {}", root.key, root.name),
        |root| format!(" {} {} ", root.key, root.short),
        |root| format!(" {} ", root.key),
    ];
    let wide = |form: fn(&Root) -> String| ROOTS.iter().map(|root| form(root).len()).sum::<usize>();
    let form = forms
        .into_iter()
        .find(|form| wide(*form) <= usize::from(width))
        .unwrap_or(forms[3]);
    let mut x = 0;
    ROOTS
        .iter()
        .map(|root| {
            let text = form(root);
            let end = x + text.len() as u16;
            let cells = x..end;
            x = end;
            Tab {
                view: root.view,
                text,
                cells,
            }
        })
        .collect()
}

/// The view whose name is at `x`; none where the trail stands instead.
pub(crate) fn at(state: &State, x: u16) -> Option<View> {
    if !state.trail.is_empty() {
        return None;
    }
    tabs(state.size.width)
        .into_iter()
        .find(|tab| tab.cells.contains(&x))
        .map(|tab| tab.view)
}
