//! Pasted `ss` output → what it says of each socket.
//!
//! People paste what iproute2 of any age printed, through mail, web pages, terminals and loggers. So nothing is taken from where a word
//! stands: [`unwrap`] undoes what lines went through, [`line`] tells output from prose, and what is left is one stream of words, in
//! which a socket begins where its columns do ([`record`]) and each field ends where its grammar does ([`field`], [`value`]).
//!
//! Nothing is lost: a token is a field, a column, or listed as unknown; a line is output, layout, or listed as text.

mod clock;
mod field;
mod line;
mod observe;
mod record;
mod render;
mod socket;
mod unwrap;
mod value;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use field::Field;
pub use record::{Family, Head};
pub use render::render;
pub use socket::Socket;
pub use value::Value;

use self::line::Part;
use crate::observation::pasted::{Moment, Pasted};

/// What was read of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// TCP and Multipath TCP sockets, in the order of the text.
    pub sockets: Vec<Socket>,
    /// Sockets of other families, which `ss -a` shows too.
    pub others: usize,
    /// Lines that are no `ss` output.
    pub text: Vec<String>,
    /// Lost blanks or line ends had to be put back.
    pub repaired: bool,
}

impl Reading {
    /// The sockets as every source gives them.
    #[must_use]
    pub fn observed(&self) -> Vec<Pasted> {
        self.sockets.iter().map(observe::observe).collect()
    }
}

/// Reads a text. Total, and linear in its length.
#[must_use]
pub fn parse(text: &str) -> Reading {
    let mut reader = Reader::default();
    let judged = line::judge(unwrap::lines(text));
    let mut words = VecDeque::new();
    for line in &judged {
        match &line.part {
            Part::Data(text) => words.extend(line::words(text).into_iter().map(|text| Word {
                text,
                line: line.number,
                at: line.at,
            })),
            Part::Prose(text) => reader.reading.text.push(text.clone()),
            Part::Header => words.push_back(Word {
                text: HEADER,
                line: line.number,
                at: None,
            }),
            Part::Clock(moment) => words.push_back(Word {
                text: HEADER,
                line: line.number,
                at: Some(*moment),
            }),
            Part::Layout => {}
        }
    }
    reader.read(words);
    reader.reading
}

/// Stands between two runs of `ss`; no word of a text is empty.
const HEADER: &str = "";

#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    line: usize,
    at: Option<Moment>,
}

#[derive(Debug, Default)]
struct Reader {
    reading: Reading,
    /// The socket that is being read.
    socket: Option<Socket>,
    /// Its family is none of ours: what follows is left out with it.
    is_other: bool,
    /// What the last clock said.
    at: Option<Moment>,
}

impl Reader {
    fn read(&mut self, mut words: VecDeque<Word<'_>>) {
        while let Some(word) = words.pop_front() {
            if word.at.is_some() {
                self.at = word.at;
            }
            if word.text == HEADER {
                self.finish();
                self.is_other = false;
                continue;
            }
            if !self.begin(word, &mut words) {
                self.field(word, &mut words);
            }
        }
        self.finish();
    }

    fn finish(&mut self) {
        self.reading.sockets.extend(self.socket.take());
    }

    /// The columns of a socket.
    fn begin<'a>(&mut self, word: Word<'a>, words: &mut VecDeque<Word<'a>>) -> bool {
        if !record::may_begin(word.text) {
            return false;
        }
        let ahead = words.iter().take(record::LONGEST - 1).map(|word| word.text);
        // A head does not reach over into another run of `ss`.
        let ahead = ahead.take_while(|text| *text != HEADER);
        let columns: Vec<_> = std::iter::once(word.text).chain(ahead).collect();
        let Some((head, taken, left)) = record::head(&columns) else {
            return false;
        };
        self.finish();
        words.drain(..taken - 1);
        if !left.is_empty() {
            self.reading.repaired = true;
            words.push_front(Word { text: left, ..word });
        }
        self.is_other = head.family == Family::Other;
        if self.is_other {
            self.reading.others += 1;
        } else {
            self.socket = Some(Socket {
                line: word.line,
                at: self.at,
                head,
                ..Socket::default()
            });
        }
        true
    }

    fn field<'a>(&mut self, word: Word<'a>, words: &mut VecDeque<Word<'a>>) {
        if self.is_other {
            return;
        }
        if let Some(unknown) = word.text.strip_prefix(render::UNKNOWN) {
            self.unknown(word, unknown);
            return;
        }
        if line::is_elision(word.text) {
            self.socket(word).elided = true;
            return;
        }
        if let Some((field, taken, left)) = socket::users(word.text, words.iter().map(|word| word.text)) {
            words.drain(..taken);
            self.push(word, field, &left);
            return;
        }
        if field::is_open(word.text) {
            let ahead = words.iter().map(|word| word.text);
            if let Some((joined, taken)) = socket::closed(word.text, ahead) {
                let spanned = words.drain(..taken);
                match field::take(&joined).or_else(|| socket::options(&joined)) {
                    Some((field, left)) => {
                        drop(spanned);
                        let left = left.to_owned();
                        self.push(word, field, &left);
                    }
                    None => {
                        self.unknown(word, word.text);
                        spanned.for_each(|each| self.unknown(each, each.text));
                    }
                }
                return;
            }
        }
        if let Some((field, left)) = field::take(word.text) {
            self.push(word, field, "");
            if !left.is_empty() {
                self.reading.repaired = true;
                words.push_front(Word { text: left, ..word });
            }
            return;
        }
        let next = words.front().map_or(HEADER, |word| word.text);
        if let Some((field, left)) =
            field::take_rate(word.text, next).or_else(|| field::take_apart(word.text, next))
        {
            let next = words.pop_front().unwrap_or(word);
            self.push(word, field, "");
            if !left.is_empty() {
                words.push_front(Word { text: left, ..next });
            }
            return;
        }
        // A congestion control that is not known stands where all others do.
        let is_name = word
            .text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if is_name
            && (next.starts_with("wscale:") || next.starts_with("rto:"))
            && self.socket(word).congestion().is_none()
        {
            self.push(word, field::congestion(word.text), "");
            return;
        }
        self.unknown(word, word.text);
    }

    /// The socket that is being read, or one whose columns were not pasted.
    fn socket(&mut self, word: Word<'_>) -> &mut Socket {
        let at = self.at;
        self.socket.get_or_insert_with(|| Socket {
            line: word.line,
            at,
            ..Socket::default()
        })
    }

    /// A field, and what was glued behind it and is no field: it came out of several words, so it is not read again.
    fn push(&mut self, word: Word<'_>, field: Field, left: &str) {
        // What a socket has once, and comes again, is another look at a socket.
        if self.socket(word).has_once(&field) {
            self.finish();
        }
        self.socket(word).fields.push(field);
        if !left.is_empty() {
            self.unknown(word, left);
        }
    }

    fn unknown(&mut self, word: Word<'_>, token: &str) {
        if !token.is_empty() {
            self.socket(word).unknown.push(token.to_owned());
        }
    }
}
