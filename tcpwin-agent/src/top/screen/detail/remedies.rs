//! What to change, ready to copy.

use ratatui::text::{Line, Span};

use super::section;
use crate::classify::Remedy;
use crate::snapshot::figures::side_text;
use crate::top::text::{clean, width, wrap};
use crate::top::theme::Theme;
use crate::units::bytes_text;

/// The section: each change on a line of its own from the left edge, so that a mouse can copy it too.
pub(in crate::top::screen) fn lines(remedies: &[Remedy], cells: usize, theme: Theme) -> Vec<Line<'static>> {
    if remedies.is_empty() {
        return Vec::new();
    }
    let keys = match remedies.len() {
        1 => "y copies it".to_owned(),
        several => format!("1 to {} copy it", several.min(9)),
    };
    let mut lines = vec![section(&format!("what to change: {keys}"), cells, theme)];
    for (number, remedy) in (1_usize..).zip(remedies) {
        lines.push(Line::from(vec![
            Span::styled(format!(" {number} "), theme.key()),
            Span::styled(side_text(remedy.side), theme.title()),
        ]));
        for line in wrap_exact(&clean(&remedy.change, theme.ascii), cells) {
            lines.push(Line::styled(line, theme.key()));
        }
        let caveat = remedy.caveat.as_ref().map(|caveat| format!("But: {caveat}"));
        for text in [Some(&remedy.why), caveat.as_ref()].into_iter().flatten() {
            if text.is_empty() {
                continue;
            }
            for line in wrap(&clean(text, theme.ascii), cells.saturating_sub(5)) {
                lines.push(Line::raw(format!("    {line}")));
            }
        }
        for line in price(remedy)
            .into_iter()
            .flat_map(|price| wrap(&price, cells.saturating_sub(5)))
        {
            lines.push(Line::styled(format!("    {line}"), theme.notice()));
        }
    }
    lines.push(Line::default());
    lines
}

/// What it takes beside typing it.
fn price(remedy: &Remedy) -> Option<String> {
    let opened_anew = remedy
        .new_connections
        .then(|| "for connections opened from then on".to_owned());
    let memory = remedy
        .memory_bytes
        .map(|bytes| format!("may take {} of memory", bytes_text(bytes)));
    let parts: Vec<String> = opened_anew.into_iter().chain(memory).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `text` as it is, cut only where the line ends: what is copied must be what was said.
fn wrap_exact(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(2);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if used + wide > cells {
            lines.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}
