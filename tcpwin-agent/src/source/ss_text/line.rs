//! Which lines of a paste are `ss` output, and which are what people write around it.

use super::unwrap::Line;
use super::{clock, field, record, render};
use crate::observation::pasted::Moment;

/// A line's part in the paste.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Columns or fields of sockets.
    Data(String),
    /// The names of the columns.
    Header,
    /// A time that stands alone.
    Clock(Moment),
    /// A command, or a rule between things.
    Layout,
    /// Anything else.
    Prose(String),
}

/// A line's part, where it stands, and the time in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Its number, from 1.
    pub number: usize,
    /// What it is.
    pub part: Part,
    /// The time in front of its data.
    pub at: Option<Moment>,
}

/// Judges every line, and joins those that were broken within a word.
#[must_use]
pub fn judge(lines: Vec<Line>) -> Vec<Judged> {
    let mut judged: Vec<Judged> = Vec::with_capacity(lines.len());
    // Something of a socket was seen.
    let mut is_open = false;
    for line in lines {
        let (at, text) = without_prefix(&line.text);
        if !line.after_blank
            && let Some(Judged {
                part: Part::Data(before),
                ..
            }) = judged.last_mut()
            && is_broken(before, text)
        {
            before.truncate(before.trim_end().len());
            before.push_str(text.trim_start());
            continue;
        }
        let part = match at {
            Some(moment) if text.trim().is_empty() => Part::Clock(moment),
            _ => part(text, &line.text, is_open),
        };
        is_open |= matches!(part, Part::Data(_));
        judged.push(Judged {
            number: line.number,
            part,
            at,
        });
    }
    judged
}

/// Without a time (and syslog's host and tag) in front.
fn without_prefix(text: &str) -> (Option<Moment>, &str) {
    let words: Vec<_> = text.split_whitespace().take(8).collect();
    let Some((moment, mut taken)) = clock::take(&words) else {
        return (None, text);
    };
    // `host ss[123]:`
    if words
        .get(taken + 1)
        .is_some_and(|word| word.ends_with(':') && !field::is_whole(word) && !field::is_open(word))
    {
        taken += 2;
    }
    let mut rest = text;
    for _ in 0..taken {
        rest = rest.trim_start();
        rest = rest.find(char::is_whitespace).map_or("", |end| &rest[end..]);
    }
    (Some(moment), rest)
}

/// If the line goes on within the last word of the one before: what neither is alone, both are together.
fn is_broken(before: &str, line: &str) -> bool {
    let Some(first) = line.split_whitespace().next() else {
        return false;
    };
    let mut words = before.split_whitespace().rev();
    let Some(last) = words.next() else {
        return false;
    };
    // Longer ones are no fields.
    if last.len() + first.len() > 120
        || field::is_whole(first)
        || record::may_begin(first) && !is_number(first)
    {
        return false;
    }
    let joined = format!("{last}{first}");
    if is_number(first) {
        // `bytes_acked:12` and `345`; in the columns a number stands for itself.
        return last.contains(':') && field::is_whole(&joined) && !record::is_address(last);
    }
    let is_rate = words.next().is_some_and(field::is_rate_name);
    let is_rate =
        |word: &str| is_rate && field::take_rate("send", word).is_some_and(|(_, rest)| rest.is_empty());
    (!field::is_whole(last) && field::is_whole(&joined)) || (!is_rate(last) && is_rate(&joined))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn part(text: &str, whole: &str, is_open: bool) -> Part {
    let trimmed = text.trim();
    // A line of our own, with tokens that look like anything.
    if text.contains(render::UNKNOWN) {
        return Part::Data(text.to_owned());
    }
    if is_rule(trimmed) || is_command(trimmed) {
        return Part::Layout;
    }
    let words = words(text);
    if !words.is_empty() && words.iter().all(|word| is_header(word)) {
        return Part::Header;
    }
    // A comment's or a list's sign in front of data: the output of test programs, diffs, lists.
    let inner = trimmed.trim_start_matches(['#', '+', '-', '*', ';', '/', '•']);
    // `---` and `-->` are the direction of a socket.
    let is_arrow = words.first().is_some_and(|word| field::is_whole(word));
    if inner.len() < trimmed.len() && !is_arrow {
        let words = self::words(inner);
        if !words.is_empty() && words.iter().all(|word| is_header(word)) {
            return Part::Header;
        }
        if is_data(&words, is_open && !words.is_empty()) {
            return Part::Data(inner.to_owned());
        }
    }
    if is_data(&words, is_open) {
        return Part::Data(text.to_owned());
    }
    Part::Prose(whole.trim().to_owned())
}

/// The words of a line, without the rules of a table.
#[must_use]
pub fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| *word != "|").collect()
}

fn is_rule(text: &str) -> bool {
    let is_fence = text.starts_with("~~~") || matches!(text, "text" | "console" | "bash" | "sh" | "shell");
    is_fence || text.len() >= 3 && text.bytes().all(|byte| b"-=|+:_*~# ".contains(&byte))
}

/// A prompt with a command behind it, a bare `ss …`, or the head of `watch`.
fn is_command(text: &str) -> bool {
    let runs_ss = |command: &str| {
        let words: Vec<_> = command.split_whitespace().take(12).collect();
        let at = words
            .iter()
            .position(|word| *word == "ss" || word.ends_with("/ss"));
        at.is_some_and(|at| {
            at == 0
                || matches!(
                    words[0],
                    "sudo" | "watch" | "ip" | "nsenter" | "while" | "kubectl" | "docker"
                )
        })
    };
    let is_watch = text.starts_with("Every ") && text.contains("s: ");
    let after_prompt = text.find(['$', '#', '%', '❯']).filter(|at| *at < 80).map(|at| {
        let sign = text[at..].chars().next().map_or(1, char::len_utf8);
        &text[at + sign..]
    });
    is_watch || runs_ss(text) || after_prompt.is_some_and(runs_ss)
}

/// `Local`, `Address:PortProcess` and what else is made of the columns' names.
fn is_header(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "Netid", "State", "Recv-Q", "Send-Q", "Local", "Peer", "Address", "Port", "Process", "Timer",
        "Users", ":",
    ];
    let mut rest = word;
    while !rest.is_empty() {
        match NAMES.iter().find_map(|name| rest.strip_prefix(name)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    !word.is_empty() && word != ":"
}

fn is_data(words: &[&str], is_open: bool) -> bool {
    let begins = |at: usize| {
        let end = words.len().min(at + record::LONGEST);
        record::may_begin(words[at]) && record::head(&words[at..end]).is_some()
    };
    if (0..words.len()).any(begins) {
        return true;
    }
    let mut strong = 0;
    let mut weak = 0;
    let mut states = 0;
    let mut others = 0;
    let mut named = 0;
    let mut is_within = false;
    for word in words {
        // What stands in parentheses goes with the word before them.
        if is_within || is_number(word) || *word == "..." {
            is_within &= !word.ends_with(')');
            continue;
        }
        is_within = field::is_open(word);
        let is_field = field::take(word).is_some();
        if word.starts_with(render::UNKNOWN)
            || is_field && word.contains(':')
            || record::is_address(word)
            || field::is_open(word)
            || word.starts_with("users:((")
        {
            strong += 1;
        } else if is_field || field::is_rate_name(word) || is_rate(word) || is_elision(word) {
            weak += 1;
        } else if record::state(word).is_some() {
            // Columns may be broken into a line each.
            states += 1;
        } else {
            others += 1;
            named += usize::from(is_named(word));
        }
    }
    if strong + weak + others == 0 {
        return is_open || states == 1;
    }
    weak += states;
    strong > 0 && strong + weak >= others
        || is_open && others == 0
        || is_open && strong + weak + named == words.len()
}

/// `name:value` of a name that is not known, such as a newer `ss` may print.
fn is_named(word: &str) -> bool {
    word.split_once(':').is_some_and(|(name, value)| {
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        is_name && name.len() > 2 && !value.is_empty() && !value.starts_with('/')
    })
}

fn is_rate(word: &str) -> bool {
    field::take_rate("send", word).is_some_and(|(_, rest)| rest.is_empty())
}

/// Something was left out here.
#[must_use]
pub fn is_elision(word: &str) -> bool {
    let bare = word.trim_matches(['[', ']', '<', '>', '(', ')']);
    matches!(bare, "..." | "…" | "snip" | "....") || word.len() > 3 && word.bytes().all(|byte| byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ss_text::unwrap;

    fn parts(text: &str) -> Vec<Part> {
        judge(unwrap::lines(text))
            .into_iter()
            .map(|judged| judged.part)
            .collect()
    }

    fn data(text: &str) -> Part {
        Part::Data(text.to_owned())
    }

    #[test]
    fn output_and_what_people_write_around_it() {
        let told = parts(
            "I think it is the window:\n```\n$ ss -tin dst 192.0.2.9\nState Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
             ESTAB 0 0 192.0.2.1:1 192.0.2.9:2\n cubic cwnd:10\n```\nthe cwnd:10 is not what I would expect here\n\
             # ESTAB 0 0 192.0.2.1:3 192.0.2.9:4\n10:11:12\n",
        );
        assert_eq!(
            told,
            [
                Part::Prose("I think it is the window:".to_owned()),
                Part::Layout,
                Part::Header,
                data("ESTAB 0 0 192.0.2.1:1 192.0.2.9:2"),
                data(" cubic cwnd:10"),
                Part::Prose("the cwnd:10 is not what I would expect here".to_owned()),
                data(" ESTAB 0 0 192.0.2.1:3 192.0.2.9:4"),
                Part::Clock(Moment {
                    seconds: 36_672.0,
                    has_date: false
                }),
            ]
        );
    }

    #[test]
    fn lines_broken_within_a_word_are_joined() {
        for (text, joined) in [
            ("cwnd:10 bytes_acke\nd:123 mss:1", "cwnd:10 bytes_acked:123 mss:1"),
            (
                "cwnd:10 bytes_acked:12\n345 mss:1",
                "cwnd:10 bytes_acked:12345 mss:1",
            ),
            ("cwnd:10 rtt:12.\n5/1 mss:1", "cwnd:10 rtt:12.5/1 mss:1"),
            ("cwnd:10 send 9.5Mb\nps mss:1", "cwnd:10 send 9.5Mbps mss:1"),
        ] {
            assert_eq!(parts(text), [data(joined)], "{text}");
        }
        assert_eq!(parts("cwnd:10 send 9.5Mbps\nmss:1").len(), 2);
    }

    #[test]
    fn prefixes_of_logs_are_taken_off() {
        let judged = judge(unwrap::lines(
            "Nov 30 10:11:12 db1 ss[7]: ESTAB 0 0 192.0.2.1:1 192.0.2.9:2",
        ));
        assert_eq!(judged[0].part, data(" ESTAB 0 0 192.0.2.1:1 192.0.2.9:2"));
        assert!(judged[0].at.is_some());
    }
}
