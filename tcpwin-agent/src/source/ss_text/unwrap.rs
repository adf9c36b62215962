//! What mail, web pages and terminals do to lines, undone: the text as `ss` printed it, as far as that can be known.

use std::borrow::Cow;

/// A line of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// What it says.
    pub text: String,
    /// A blank line stands before it.
    pub after_blank: bool,
}

/// The lines that say something.
#[must_use]
pub fn lines(text: &str) -> Vec<Line> {
    let text = text.replace('\r', "");
    let is_quoted_printable = text.contains("=3D") || text.contains("=\n");
    let is_html = [
        "&lt;", "&gt;", "&quot;", "&amp;", "&nbsp;", "<br", "<pre", "<code", "<p>", "<td",
    ]
    .iter()
    .any(|sign| text.contains(sign));
    let mut lines = Vec::new();
    let mut after_blank = true;
    let mut soft: Option<(usize, String)> = None;
    for (at, raw) in text.split('\n').enumerate() {
        let mut number = at + 1;
        let mut line = Cow::Borrowed(raw);
        if is_quoted_printable {
            let line = line.to_mut();
            // Of a line that goes on, the marks of quoting are those of its start.
            if let Some((first, begun)) = soft.take() {
                number = first;
                let rest = unquoted(line);
                // The blank behind the mark belongs to the mark.
                let is_quoted = rest.len() < line.len();
                let rest = rest.strip_prefix(' ').filter(|_| is_quoted).unwrap_or(rest);
                *line = begun + rest;
            }
            if line.ends_with('=') {
                line.pop();
                soft = Some((number, std::mem::take(line)));
                continue;
            }
            *line = quoted_printable(line);
        }
        push(&line, number, is_html, &mut after_blank, &mut lines);
    }
    if let Some((number, line)) = soft {
        push(
            &quoted_printable(&line),
            number,
            is_html,
            &mut after_blank,
            &mut lines,
        );
    }
    lines
}

fn push(line: &str, number: usize, is_html: bool, after_blank: &mut bool, lines: &mut Vec<Line>) {
    // Escaped line ends of a log or of JSON are line ends.
    for part in line.split("\\n") {
        let mut text = plain(unquoted(part));
        if is_html {
            text = html(&text);
        }
        if text.trim().is_empty() {
            *after_blank = true;
            continue;
        }
        lines.push(Line {
            number,
            text,
            after_blank: std::mem::take(after_blank),
        });
    }
}

/// Without the marks of quoted mail.
fn unquoted(line: &str) -> &str {
    let mut rest = line;
    while let Some(quoted) = rest.trim_start().strip_prefix('>') {
        rest = quoted;
    }
    rest
}

/// Without colours, markdown's stars and ticks, and blanks of other kinds.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                // CSI … a letter ends it.
                if letters.next_if_eq(&'[').is_some() {
                    while letters.next_if(|next| !next.is_ascii_alphabetic()).is_some() {}
                    letters.next();
                }
            }
            '\u{feff}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{00ad}' | '`' => {}
            '*' if letters.peek() == Some(&'*') => while letters.next_if_eq(&'*').is_some() {},
            '\u{2192}' => text.push_str("->"),
            letter if letter.is_whitespace() || letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    text.replace("\\t", " ")
}

/// `=3D` and what else is sure to be an escape: `pid=12` is none.
fn quoted_printable(line: &str) -> String {
    let mut bytes = Vec::with_capacity(line.len());
    let raw = line.as_bytes();
    let mut at = 0;
    while at < raw.len() {
        let escape = raw.get(at + 1..at + 3).filter(|_| raw[at] == b'=');
        let byte = match escape {
            Some(b"3D" | b"3d") => Some(b'='),
            Some(b"20" | b"09" | b"A0") => Some(b' '),
            Some(b"3E" | b"3e") => Some(b'>'),
            Some(b"3C" | b"3c") => Some(b'<'),
            Some(hex @ [b'A'..=b'F', _]) => std::str::from_utf8(hex)
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        match byte {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(raw[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const TAGS: &[&str] = &[
    "br",
    "p",
    "pre",
    "code",
    "div",
    "span",
    "td",
    "tr",
    "th",
    "table",
    "tbody",
    "thead",
    "b",
    "strong",
    "em",
    "i",
    "font",
    "li",
    "ul",
    "blockquote",
    "tt",
    "body",
    "html",
    "mark",
];

/// Without tags, entities as what they stand for.
fn html(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        text.push_str(before);
        let name = tag[1..].trim_start_matches('/');
        let end = name
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        let close = tag.bytes().take(200).position(|byte| byte == b'>');
        match close.filter(|_| TAGS.contains(&name[..end].to_ascii_lowercase().as_str())) {
            Some(close) => {
                text.push(' ');
                rest = &tag[close + 1..];
            }
            None => {
                text.push('<');
                rest = &tag[1..];
            }
        }
    }
    text.push_str(rest);
    for (entity, sign) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        if text.contains(entity) {
            text = text.replace(entity, sign);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text)
            .into_iter()
            .map(|line| line.text.trim().to_owned())
            .collect()
    }

    #[test]
    fn quoting_of_mail_and_its_soft_line_ends() {
        assert_eq!(texts("> > ESTAB 0 0\n>\n> x"), ["ESTAB 0 0", "x"]);
        let told = texts("> users:((\"nc\",pid=3D12,fd=3D3)) cwnd:1=\n> 0 mss:1448=20\n");
        assert_eq!(told, ["users:((\"nc\",pid=12,fd=3)) cwnd:10 mss:1448"]);
        // Not quoted-printable at all.
        assert_eq!(texts("pid=12,fd=30"), ["pid=12,fd=30"]);
    }

    #[test]
    fn markup_colours_and_entities() {
        assert_eq!(
            texts("**cwnd:200 ssthresh:88** `mss:9`"),
            ["cwnd:200 ssthresh:88 mss:9"]
        );
        assert_eq!(texts("\u{1b}[1;31mESTAB\u{1b}[0m\u{a0}0"), ["ESTAB 0"]);
        assert_eq!(texts("<pre>sk:3b &lt;-&gt;<br>ts</pre>"), ["sk:3b <-> ts"]);
        assert_eq!(texts("sk:3b <-> <client>:80"), ["sk:3b <-> <client>:80"]);
    }

    #[test]
    fn blank_lines_are_remembered() {
        let told = lines("a\n\n  \nb\nc");
        assert_eq!(
            told.iter().map(|line| line.after_blank).collect::<Vec<_>>(),
            [true, true, false]
        );
        assert_eq!(told[1].number, 4);
    }
}
