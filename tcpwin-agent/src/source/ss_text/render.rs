//! A socket in one canonical form, a line each, as `ss -O` prints it. Read again, it is the same socket.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::field::{CONGESTION_NAME, USERS};
use super::record::{Family, state_name};
use super::{Reading, Socket, Value};

/// Stands before a token that is not understood, so that it is not understood by chance next time.
pub(super) const UNKNOWN: &str = "\u{2047}";

/// Every socket of a reading.
#[must_use]
pub fn render(reading: &Reading) -> String {
    let mut text = String::new();
    for socket in &reading.sockets {
        // Figures without columns belong to the socket before them, unless something stands between; and a line that begins with a
        // number may be the rest of one that was broken.
        if socket.head.local.is_none() || socket.head.state.is_none() {
            text.push_str("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n");
        }
        one(socket, &mut text);
        text.push('\n');
    }
    text
}

fn one(socket: &Socket, to: &mut String) {
    let head = &socket.head;
    let mut words: Vec<String> = Vec::new();
    if head.family == Family::Mptcp {
        words.push("mptcp".to_owned());
    }
    words.extend(head.state.map(|state| state_name(state).to_owned()));
    words.extend(head.recv_q.map(|bytes| bytes.to_string()));
    words.extend(head.send_q.map(|bytes| bytes.to_string()));
    words.extend(head.local.clone());
    words.extend(head.peer.clone());
    words.extend(socket.elided.then(|| "...".to_owned()));
    for field in &socket.fields {
        words.push(match (&field.value, field.name) {
            (Value::Flag, name) => name.to_owned(),
            (Value::Text(name), CONGESTION_NAME) => match super::field::take(name) {
                Some(_) => name.clone(),
                // Known by its place alone.
                None => format!("{CONGESTION_NAME}:{name}"),
            },
            (value @ Value::Text(_), "inet-sockopt") => format!("inet-sockopt: {value}"),
            (value, USERS) => format!("{USERS}:{value}"),
            (value, name) => format!("{name}:{value}"),
        });
    }
    words.extend(socket.unknown.iter().map(|token| format!("{UNKNOWN}{token}")));
    // Mail would take a sign of equality at the end for a line that goes on.
    let is_soft = words.last().is_some_and(|word| word.ends_with('='));
    words.extend(is_soft.then(|| "|".to_owned()));
    let words: Vec<_> = words.iter().map(|word| unmarked(word)).collect();
    // Writing to a string does not fail.
    let _ = write!(to, "{}", words.join(" "));
}

/// Such that nothing in it is taken for markup. The arrows of `ss -e` are not.
fn unmarked(word: &str) -> Cow<'_, str> {
    if word.starts_with("<-") || !word.contains(['&', '<']) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.replace('&', "&amp;").replace('<', "&lt;"))
}
