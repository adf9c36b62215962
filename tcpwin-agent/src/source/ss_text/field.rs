//! The fields of `ss`'s information line, each registered once: its name, and how its value is written.
//!
//! The names are those of iproute2's misc/ss.c of all ages. A value ends where its grammar ends, so that what lost its blank in a copy
//! (`data_segs_in:81send`) can be told apart again.

use super::value::{self, Kind, Value};

/// A field that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name, as `ss` prints it.
    pub name: &'static str,
    /// What it said.
    pub value: Value,
}

/// `name:value`, in the order in which `ss` prints them.
const FIELDS: &[(&str, Kind)] = &[
    ("timer", Kind::Timer),
    ("uid", Kind::Count),
    ("ino", Kind::Count),
    ("sk", Kind::Text),
    ("cgroup", Kind::Text),
    ("v6only", Kind::Count),
    ("fwmark", Kind::Text),
    ("tos", Kind::Text),
    ("tclass", Kind::Text),
    ("class_id", Kind::Text),
    ("priority", Kind::Text),
    ("proc_ctx", Kind::Text),
    ("sock_ctx", Kind::Text),
    ("md5keys", Kind::Text),
    ("skmem", Kind::Memory),
    ("mem", Kind::Memory),
    (CONGESTION_NAME, Kind::Text),
    ("wscale", Kind::Scale),
    ("rto", Kind::Millis),
    ("backoff", Kind::Count),
    ("rtt", Kind::Pair),
    ("ato", Kind::Millis),
    ("qack", Kind::Count),
    ("mss", Kind::Count),
    ("pmtu", Kind::Count),
    ("rcvmss", Kind::Count),
    ("advmss", Kind::Count),
    ("cwnd", Kind::Count),
    ("ssthresh", Kind::Count),
    ("bytes_sent", Kind::Total),
    ("bytes_retrans", Kind::Total),
    ("bytes_acked", Kind::Total),
    ("bytes_received", Kind::Total),
    ("segs_out", Kind::Count),
    ("segs_in", Kind::Count),
    ("data_segs_out", Kind::Count),
    ("data_segs_in", Kind::Count),
    ("dctcp", Kind::Group),
    ("bbr", Kind::Group),
    ("vegas", Kind::Group),
    ("send", Kind::Rate),
    ("lastsnd", Kind::Millis),
    ("lastrcv", Kind::Millis),
    ("lastack", Kind::Millis),
    ("pacing_rate", Kind::Rate),
    ("max_pacing_rate", Kind::Rate),
    ("delivery_rate", Kind::Rate),
    ("delivered", Kind::Count),
    ("delivered_ce", Kind::Count),
    ("received_ce", Kind::Count),
    ("busy", Kind::Share),
    ("rwnd_limited", Kind::Share),
    ("sndbuf_limited", Kind::Share),
    ("unacked", Kind::Count),
    ("retrans", Kind::Ratio),
    ("lost", Kind::Count),
    ("sacked", Kind::Count),
    ("dsack_dups", Kind::Count),
    ("fackets", Kind::Count),
    ("reordering", Kind::Count),
    ("reord_seen", Kind::Count),
    ("rcv_rtt", Kind::Millis),
    ("rcv_space", Kind::Count),
    ("rcv_ssthresh", Kind::Count),
    ("notsent", Kind::Count),
    ("minrtt", Kind::Millis),
    ("rcv_ooopack", Kind::Count),
    ("rcv_oopack", Kind::Count),
    ("snd_wnd", Kind::Count),
    ("rcv_wnd", Kind::Count),
    ("rehash", Kind::Count),
    ("total_rto", Kind::Count),
    ("total_rto_recoveries", Kind::Count),
    ("total_rto_time", Kind::Share),
    ("delivered_e1_bytes", Kind::Total),
    ("delivered_e0_bytes", Kind::Total),
    ("delivered_ce_bytes", Kind::Total),
    ("received_e1_bytes", Kind::Total),
    ("received_e0_bytes", Kind::Total),
    ("received_ce_bytes", Kind::Total),
    ("accecn_fail_mode", Kind::Text),
    ("accecn_opt_seen", Kind::Text),
    // The upper-layer protocol's own tail.
    ("version", Kind::Text),
    ("cipher", Kind::Text),
    ("rxconf", Kind::Text),
    ("txconf", Kind::Text),
    ("flags", Kind::Text),
    ("token", Kind::Text),
    ("seq", Kind::Text),
    ("sfseq", Kind::Text),
    ("ssnoff", Kind::Text),
    ("maplen", Kind::Text),
    // Of a Multipath TCP socket.
    ("subflows", Kind::Count),
    ("subflows_max", Kind::Count),
    ("subflows_total", Kind::Count),
    ("add_addr_signal", Kind::Count),
    ("add_addr_signal_max", Kind::Count),
    ("add_addr_accepted", Kind::Count),
    ("add_addr_accepted_max", Kind::Count),
    ("local_addr_used", Kind::Count),
    ("local_addr_max", Kind::Count),
    ("write_seq", Kind::Text),
    ("snd_una", Kind::Text),
    ("rcv_nxt", Kind::Text),
    ("retransmits", Kind::Count),
    ("last_data_sent", Kind::Millis),
    ("last_data_recv", Kind::Millis),
    ("last_ack_recv", Kind::Millis),
];

/// Words that stand alone.
const FLAGS: &[&str] = &[
    "ts",
    "usec_ts",
    "sack",
    "ecn",
    "ecnseen",
    "accecn",
    "fastopen",
    "app_limited",
    "bidir",
    "<->",
    "<--",
    "-->",
    "---",
    "tcp-ulp-tls",
    "tcp-ulp-mptcp",
    "tcp-ulp-smc",
    "tcp-ulp-espintcp",
    "no_rx_pad",
    "no_pad_rx",
    "zc_ro_tx",
    "tx_max_payload_len",
    "remote_key",
    "csum_enabled",
    "fallback",
    "server_side",
];

/// Congestion controls, of the kernel and of its patches.
const CONGESTION: &[&str] = &[
    "cubic",
    "reno",
    "bbr",
    "bbr1",
    "bbr2",
    "bbr3",
    "bbrplus",
    "dctcp",
    "dctcp-reno",
    "prague",
    "vegas",
    "westwood",
    "htcp",
    "bic",
    "highspeed",
    "hybla",
    "illinois",
    "lp",
    "scalable",
    "veno",
    "yeah",
    "cdg",
    "nv",
    "brutal",
    "tsunami",
    "nanqinlang",
    "hystart",
    "newreno",
    "tcp_bbr",
];

/// Fields whose value is told apart by a blank, as `ss` prints rates.
const BLANK: &[&str] = &["send", "pacing_rate", "delivery_rate"];

/// The congestion control's name.
pub const CONGESTION_NAME: &str = "congestion";
/// The processes that hold the socket.
pub const USERS: &str = "users";

/// A field at the start of a word, and what of the word is left.
#[must_use]
pub fn take(word: &str) -> Option<(Field, &str)> {
    flag(word).or_else(|| named(word)).or_else(|| glued_flag(word))
}

/// A word that stands alone.
fn flag(word: &str) -> Option<(Field, &str)> {
    if let Some(name) = FLAGS.iter().find(|name| **name == word) {
        let value = Value::Flag;
        return Some((Field { name, value }, ""));
    }
    CONGESTION.contains(&word).then(|| (congestion(word), ""))
}

/// The congestion control.
#[must_use]
pub fn congestion(name: &str) -> Field {
    Field {
        name: CONGESTION_NAME,
        value: Value::Text(name.to_owned()),
    }
}

/// `name:value`.
fn named(word: &str) -> Option<(Field, &str)> {
    let (name, rest) = word.split_once(':')?;
    let (name, kind) = FIELDS.iter().find(|(known, _)| *known == name)?;
    let (value, rest) = value::take(*kind, rest)?;
    Some((Field { name, value }, rest))
}

/// A flag that lost the blank behind it: `cubicwscale:7,7`.
fn glued_flag(word: &str) -> Option<(Field, &str)> {
    let names = FLAGS.iter().chain(CONGESTION);
    let (flag, rest) = names
        .filter_map(|name| Some((*name, word.strip_prefix(name)?)))
        .filter(|(_, rest)| named(rest).is_some())
        .max_by_key(|(name, _)| name.len())?;
    let (field, _) = self::flag(flag)?;
    Some((field, rest))
}

/// The rate that follows a word of its own: `send 9.5Mbps`.
#[must_use]
pub fn take_rate<'a>(name: &str, next: &'a str) -> Option<(Field, &'a str)> {
    let name = BLANK.iter().find(|known| **known == name)?;
    let (value, rest) = value::take_rate(next, true)?;
    Some((Field { name, value }, rest))
}

/// The value that follows after `name: `.
#[must_use]
pub fn take_apart<'a>(word: &str, next: &'a str) -> Option<(Field, &'a str)> {
    let name = word.strip_suffix(':')?;
    let (name, kind) = FIELDS.iter().find(|(known, _)| *known == name)?;
    let (value, rest) = value::take(*kind, next)?;
    Some((Field { name, value }, rest))
}

/// If a value in parentheses begins here and does not end: its rest stands in the next words.
#[must_use]
pub fn is_open(word: &str) -> bool {
    let Some((name, value)) = word.split_once(':') else {
        return false;
    };
    let takes_group = FIELDS
        .iter()
        .any(|(known, kind)| *known == name && matches!(kind, Kind::Memory | Kind::Group | Kind::Timer))
        || name == "inet-sockopt";
    takes_group && (value.is_empty() || value.starts_with('(')) && !value.contains(')')
}

/// If nothing but fields is in the word, glued or not.
#[must_use]
pub fn is_whole(mut word: &str) -> bool {
    let mut is_any = false;
    while !word.is_empty() {
        let Some((_, rest)) = take(word) else {
            return false;
        };
        is_any = true;
        word = rest;
    }
    is_any
}

/// If the word is the name of a rate, which follows it.
#[must_use]
pub fn is_rate_name(word: &str) -> bool {
    BLANK.contains(&word)
}
