//! Sysctl files against what the kernel has.

use super::super::place::{Configured, Place};
use super::{Change, Finding, Kind, Severity, kind};

const UNKNOWN: Kind = kind(
    "sysctl-unknown",
    "a sysctl file sets what this kernel does not have",
);
const DIFFERS: Kind = kind(
    "sysctl-not-in-force",
    "a sysctl file says another value than the kernel has",
);
const KEY: Kind = kind(
    "fastopen-key-format",
    "a sysctl file has a Fast Open key that the kernel refuses",
);

pub(super) const KINDS: &[Kind] = &[UNKNOWN, DIFFERS, KEY];

pub(super) fn find(place: &Place<'_>) -> Vec<Finding> {
    // Files are for the machine's own namespace.
    if !place.is_machines() {
        return Vec::new();
    }
    let lines = place.machine.configured.iter();
    lines.filter_map(|line| judge(place, line)).collect()
}

fn judge(place: &Place<'_>, line: &Configured) -> Option<Finding> {
    let subject = format!("{} of {}", line.name, line.at);
    if line.name == "net.ipv4.tcp_fastopen_key" {
        return (!is_key(&line.value)).then(|| {
            Finding::new(KEY, place, subject, "not four groups of eight digits")
                .because("a key is written xxxxxxxx-xxxxxxxx-xxxxxxxx-xxxxxxxx, in hexadecimal and with the dashes: the kernel refuses anything else, \
                          and the old key stays")
                .reaching("nothing")
                .changed_by(Change::program("put the dashes in, then load the file with `sysctl --system`"))
                .risking("cookies given out before are refused once")
        });
    }
    let Some(now) = &line.now else {
        return Some(
            Finding::new(UNKNOWN, place, subject, line.value.clone())
                .because(match line.name.as_str() {
                    "net.ipv4.tcp_tw_recycle" => {
                        "tcp_tw_recycle went with 4.12: it dropped connections of clients behind one address"
                            .to_owned()
                    }
                    name => format!("this kernel has no {name}: the line does nothing"),
                })
                .rated(Severity::Note)
                .reaching("nothing")
                .changed_by(Change::program("take the line out"))
                .risking("none"),
        );
    };
    // A key may not be read back by everybody; and some are written in another form than they are read.
    if *now == line.value || same_number(now, &line.value) {
        return None;
    }
    let finding = Finding::new(DIFFERS, place, subject, line.value.clone())
        .because(format!(
            "the kernel has {now}: the file was never loaded, a later one says otherwise, or somebody changed it since"
        ))
        .rated(Severity::Note)
        .reaching("nothing yet")
        .changed_by(Change::setting(place, &line.name, &line.value))
        .risking("what was changed by hand since is lost");
    Some(finding)
}

fn same_number(now: &str, file: &str) -> bool {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number(now).is_some() && number(now) == number(file)
}

/// One key or two with a comma between them.
fn is_key(value: &str) -> bool {
    value.split(',').all(|key| {
        let words: Vec<&str> = key.trim().split('-').collect();
        words.len() == 4
            && words
                .iter()
                .all(|word| word.len() == 8 && word.bytes().all(|digit| digit.is_ascii_hexdigit()))
    })
}
