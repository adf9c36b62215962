//! Text that is safe to put on a terminal, in the width there is.

use std::borrow::Cow;

use ratatui::text::Span;

use crate::observation::TcpState;
use crate::snapshot::figures::steers;
use crate::units::{Micros, rtt_text};

/// Cells that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        Span::raw(text).width()
    }
}

/// `text` without anything that could steer the terminal or reorder its line: process names and messages are
/// other people's input. In ASCII mode nothing else than ASCII is left.
pub(crate) fn clean(text: &str, ascii: bool) -> Cow<'_, str> {
    let fine = |c: char| if ascii { matches!(c, ' '..='~') } else { !steers(c) };
    if text.chars().all(fine) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if fine(c) {
            out.push(c);
        } else if ascii {
            out.push_str(spelled(c));
        } else {
            out.push('\u{fffd}');
        }
    }
    Cow::Owned(out)
}

/// The ASCII spelling of the signs that our own sentences use.
fn spelled(c: char) -> &'static str {
    match c {
        '÷' => "/",
        '×' | '✕' => "x",
        '·' => "*",
        '≈' => "~",
        '√' => "sqrt ",
        '≤' => "<=",
        '≥' => ">=",
        '−' | '–' | '—' => "-",
        '→' => "->",
        '…' => "...",
        'µ' | 'μ' => "u",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        _ => "?",
    }
}

/// The start of `text` in `cells`, with `mark` where something was cut off.
pub(crate) fn elide<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let room = cells.saturating_sub(width(mark));
    let mut out = head(text, room).to_owned();
    out.push_str(head(mark, cells));
    Cow::Owned(out)
}

/// Start and end of `text` in `cells`: an address keeps its port.
pub(crate) fn elide_middle<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let port = text.rfind(':').map_or(0, |colon| text.len() - colon);
    let room = cells.saturating_sub(width(mark));
    if !text.is_ascii() || port == 0 || port >= room {
        return elide(text, cells, mark);
    }
    let tail = &text[text.len() - port..];
    Cow::Owned(format!("{}{mark}{tail}", head(text, room - port)))
}

/// As many leading characters as fit in `cells`.
fn head(text: &str, cells: usize) -> &str {
    if text.is_ascii() {
        return &text[..cells.min(text.len())];
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > cells {
            return &text[..at];
        }
    }
    text
}

/// A span of time as people say it: `4.2s`, `3m07s`, `5h12m`, `9d04h`.
pub(crate) fn age_text(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        0..10 => format!("{}.{}s", seconds, micros / 100_000 % 10),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Smoothed and least round-trip time in milliseconds, `181/180`.
pub(crate) fn rtt_pair(srtt_us: Option<u32>, min_rtt_us: Option<u32>) -> String {
    let one = |us: u32| {
        let text = rtt_text(Micros(us));
        text.trim_end_matches(" ms").to_owned()
    };
    match (srtt_us, min_rtt_us) {
        (None, None) => String::new(),
        (srtt, min) => format!(
            "{}/{}",
            srtt.map_or_else(|| "-".to_owned(), one),
            min.map_or_else(|| "-".to_owned(), one)
        ),
    }
}

/// A factor: `×1.4`, `×12`, `>×999`.
pub(crate) fn gain_text(gain: f64, times: &str) -> String {
    if gain >= 1_000.0 {
        format!(">{times}999")
    } else if gain >= 10.0 {
        format!("{times}{gain:.0}")
    } else {
        format!("{times}{gain:.1}")
    }
}

/// A share in percent: `0.03 %`, `1.5 %`, `42 %`.
pub(crate) fn percent_text(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else if percent >= 0.1 {
        format!("{percent:.1} %")
    } else if percent >= 0.01 {
        format!("{percent:.2} %")
    } else {
        "<0.01 %".to_owned()
    }
}

/// A count with its thousands set apart: `65,535`.
pub(crate) fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A state of the socket as `ss` writes it.
pub(crate) fn state_text(state: TcpState) -> &'static str {
    match state {
        TcpState::Established => "ESTAB",
        TcpState::SynSent => "SYN-SENT",
        TcpState::SynRecv | TcpState::NewSynRecv => "SYN-RECV",
        TcpState::FinWait1 => "FIN-WAIT-1",
        TcpState::FinWait2 => "FIN-WAIT-2",
        TcpState::TimeWait => "TIME-WAIT",
        TcpState::Close => "UNCONN",
        TcpState::CloseWait => "CLOSE-WAIT",
        TcpState::LastAck => "LAST-ACK",
        TcpState::Listen => "LISTEN",
        TcpState::Closing => "CLOSING",
    }
}

/// What is added to a complaint about a name: the known one that differs in the fewest letters, if in no more than a third.
pub(crate) fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let name = name.to_ascii_lowercase();
    let nearest = known
        .map(|known| (strsim::damerau_levenshtein(&name, known), known))
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3))
        .min();
    nearest.map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"))
}

/// `text` broken at spaces into lines of at most `cells`; words longer than a line are cut into several.
pub(crate) fn wrap(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= cells {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        while width(word) > cells {
            let cut = head(word, cells);
            // A character wider than the line still has to go somewhere.
            let cut = if cut.is_empty() {
                &word[..word.chars().next().map_or(0, char::len_utf8)]
            } else {
                cut
            };
            lines.push(cut.to_owned());
            word = &word[cut.len()..];
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(clean("nginx", false), "nginx");
        assert_eq!(clean("a\u{1b}[2Jb\nc", false), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(clean("x\u{202e}y\u{200b}", false), "x\u{fffd}y\u{fffd}");
        assert_eq!(clean("65535 B ÷ 181 ms ≈ 2.9\t", true), "65535 B / 181 ms ~ 2.9?");
        assert_eq!(clean("中", true), "?");
    }

    #[test]
    fn what_does_not_fit_says_so() {
        assert_eq!(elide("bandwidth", 9, "…"), "bandwidth");
        assert_eq!(elide("bandwidth", 5, "…"), "band…");
        assert_eq!(elide("中文字", 4, "…"), "中…");
        assert_eq!(elide("abc", 1, "..."), ".");
        assert_eq!(
            elide_middle("[2001:db8::1234:5678]:443", 16, "…"),
            "[2001:db8::…:443"
        );
        assert_eq!(elide_middle("[2001:db8::1]:65535", 6, "…"), "[2001…");
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(age_text(4_250_000), "4.2s");
        assert_eq!(age_text(187_000_000), "3m07s");
        assert_eq!(age_text(788_400_000_000), "9d03h");
        assert_eq!(rtt_pair(Some(181_000), Some(420)), "181/0.42");
        assert_eq!(rtt_pair(None, Some(420)), "-/0.42");
        assert_eq!(gain_text(12.4, "×"), "×12");
        assert_eq!(percent_text(0.00034), "0.03 %");
        assert_eq!(percent_text(1.0), "100 %");
        assert_eq!(count_text(65_535), "65,535");
        assert_eq!(count_text(100), "100");
    }

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        let known = || ["peer", "rate", "process"].into_iter();
        assert_eq!(meant("pere", known()), "; did you mean `peer`?");
        assert_eq!(meant("Procss", known()), "; did you mean `process`?");
        assert_eq!(meant("colour", known()), "");
        assert_eq!(meant("", known()), "");
    }

    #[test]
    fn wrapping_loses_no_letter() {
        assert_eq!(
            wrap("in flight equals snd_wnd", 12),
            ["in flight", "equals", "snd_wnd"]
        );
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("中文", 1), ["中", "文"]);
    }
}
