//! The rooms and the ways between them, read from the code: ARCHITECTURE.md cannot drift.
//!
//! A room is a module of the crate's root with its folder. Tests are left out: they may look anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each room, and the rooms it may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("observation", &["units"]),
    // What TLS peers say in the clear. Pure.
    ("handshake", &[]),
    ("host", &["units"]),
    ("kernel", &["units"]),
    ("source", &["kernel", "observation", "units"]),
    // Pure: the interval is all it knows of connections.
    (
        "classify",
        &["connection::interval", "host", "observation", "units"],
    ),
    // What exits show: figures of the lower rooms, and no way to any of their doings.
    ("snapshot", &["classify", "observation", "units"]),
    (
        "connection",
        &["classify", "host", "observation", "snapshot", "source", "units"],
    ),
    // The one language in which exits are told what to show.
    ("query", &["classify", "observation", "snapshot", "units"]),
    // All that goes into a table, on disk and back.
    (
        "recording",
        &["connection", "host", "observation", "snapshot", "source", "units"],
    ),
    (
        "replay",
        &["connection", "observation", "recording", "snapshot", "units"],
    ),
    // What held connections, on disk and asked for.
    (
        "history",
        &[
            "classify",
            "connection",
            "observation",
            "query",
            "snapshot",
            "units",
        ],
    ),
    // The exits.
    ("exporter", EXIT),
    ("trace", EXIT),
    ("top", EXIT),
    ("attach", EXIT),
    ("explain", EXIT),
    // An active client: it asks a server, and no source.
    (
        "check",
        &["classify", "handshake", "observation", "snapshot", "units"],
    ),
    // Facts of the host are what it judges by.
    (
        "doctor",
        &["classify", "host", "observation", "query", "snapshot", "units"],
    ),
    // It serves what the exporter writes and what an attached screen reads.
    (
        "api",
        &[
            "classify",
            "exporter",
            "observation",
            "query",
            "snapshot",
            "units",
        ],
    ),
    // Arguments, wiring, and what only they use.
    ("config", &["kernel", "observation", "units"]),
    ("logging", &["config"]),
    ("cli", ALL),
    ("daemon", ALL),
    ("main", ALL),
    ("lib", ALL),
];

/// Exits know the snapshot and the words it is written in.
const EXIT: &[&str] = &["classify", "observation", "query", "snapshot", "units"];
/// Only those who wire.
const ALL: &[&str] = &["*"];

/// Each library that has one room, as it is written in code.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("aya::", &["source::ebpf"]),
    ("aya_log::", &["source::ebpf"]),
    ("netlink::", &["host::rtnetlink", "source::sock_diag", "kernel"]),
    ("ratatui::", &["top"]),
    ("crossterm::", &["top"]),
    ("axum::", &["api", "daemon"]),
    ("prometheus_client::", &["exporter"]),
    ("ureq::", &["attach", "exporter::otlp"]),
    ("opentelemetry_proto::", &["exporter::otlp"]),
    ("bcrypt::", &["api"]),
    ("serde_saphyr::", &["api"]),
    ("x509_parser::", &["api", "check"]),
    ("rusqlite::", &["history"]),
    ("lz4_flex::", &["recording"]),
    ("rustls_native_certs::", &["attach", "check", "daemon::otlp"]),
    ("clap::", &["cli", "config", "main"]),
    ("clap_complete::", &["cli"]),
    ("clap_mangen::", &["cli"]),
];

/// What pure rooms do without.
const PURE: &[&str] = &[
    "classify",
    "units",
    "observation",
    "connection::interval",
    "handshake",
    "doctor::finding",
    "doctor::place",
    "doctor::plan",
];
const IMPURE: &[&str] = &[
    "std::time",
    "std::fs",
    "std::env",
    "std::io",
    "std::thread",
    "std::process",
    "tokio::",
    "rustix::",
    "libc::",
    "procfs::",
    "tracing::",
];

#[test]
fn every_edge_between_rooms_is_allowed() {
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let mut faults = BTreeSet::new();
    for file in files() {
        let Some(allowed) = rooms.get(file.room()) else {
            faults.insert(format!(
                "{}: the room `{}` is not in ROOMS",
                file.path.display(),
                file.room()
            ));
            continue;
        };
        for used in file.uses() {
            let within = used.split("::").next() == Some(file.room());
            if !within && !allowed.iter().any(|&way| way == "*" || is_below(&used, way)) {
                faults.insert(format!(
                    "{}: `{}` may not use `{used}`",
                    file.path.display(),
                    file.room()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", listed(faults));
}

#[test]
fn each_library_appears_in_its_room() {
    let mut faults = BTreeSet::new();
    for file in files() {
        for (library, rooms) in LIBRARIES {
            if mentions(&file.code, library) && !rooms.iter().any(|room| is_below(&file.module, room)) {
                faults.insert(format!(
                    "{}: `{library}` belongs in {rooms:?}",
                    file.path.display()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", listed(faults));
}

#[test]
fn pure_rooms_have_no_clock_and_do_no_io() {
    let mut faults = BTreeSet::new();
    for file in files() {
        if PURE.iter().any(|room| is_below(&file.module, room)) {
            for word in IMPURE.iter().filter(|word| mentions(&file.code, word)) {
                faults.insert(format!("{}: `{word}` in a pure room", file.path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", listed(faults));
}

#[test]
fn paths_are_found_however_they_are_written() {
    let file = |module: &str, code: &str| Source {
        path: PathBuf::new(),
        module: module.to_owned(),
        code: stripped(code),
    };
    let used = |module, code| file(module, code).uses().into_iter().collect::<Vec<_>>();
    assert_eq!(
        used(
            "top::screen",
            "use crate::{source::{Update, netns::own}, units};\ncrate :: host::Host"
        ),
        ["host::Host", "source::Update", "source::netns", "units"]
    );
    assert_eq!(
        used("top::screen", "use super::super::source::Update;"),
        ["source::Update"]
    );
    assert_eq!(used("top::screen", "use super::keys;"), Vec::<String>::new());
    assert_eq!(used("top", "let x = tcpwin_agent::source::f();"), ["source::f"]);
    assert_eq!(
        used(
            "top",
            "// crate::source\n\"crate::source\"; /* crate::source */ #[cfg(test)]\nmod tests { use crate::source; }"
        ),
        Vec::<String>::new()
    );
    assert!(mentions("use aya::maps", "aya::"));
    assert!(!mentions("use papaya::maps", "aya::"));
    assert!(is_below("source::ebpf::load", "source::ebpf") && !is_below("source::ebpf2", "source::ebpf"));
}

/// One file of the library, without comments, strings and tests.
struct Source {
    path: PathBuf,
    /// `source::ebpf::load`.
    module: String,
    code: String,
}

impl Source {
    fn room(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }

    /// What it names of the crate, from the root, two names deep.
    fn uses(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        let words = words(&self.code);
        let mut at = 0;
        while at < words.len() {
            let from_root = match words[at] {
                "crate" | "tcpwin_agent" => Some(at + 1),
                "super" if at == 0 || words[at - 1] != "::" => {
                    let (climbed, next) = climb(&words, at);
                    at = next - 1;
                    (climbed >= self.module.split("::").count()).then_some(next)
                }
                _ => None,
            };
            if let Some(next) = from_root
                && words.get(next) == Some(&"::")
            {
                names(&words, next + 1, "", &mut used);
            }
            at += 1;
        }
        used
    }
}

/// How many `super`s follow one another, and where the `::` after the last one is.
fn climb(words: &[&str], mut at: usize) -> (usize, usize) {
    let mut climbed = 1;
    while words.get(at + 1) == Some(&"::") && words.get(at + 2) == Some(&"super") {
        climbed += 1;
        at += 2;
    }
    (climbed, at + 1)
}

/// Collects the paths that start at `at`, through groups; returns where they end.
fn names(words: &[&str], mut at: usize, prefix: &str, used: &mut BTreeSet<String>) -> usize {
    match words.get(at) {
        Some(&"{") => {
            at += 1;
            while let Some(&word) = words.get(at) {
                match word {
                    "}" => return at + 1,
                    "," => at += 1,
                    _ => at = names(words, at, prefix, used).max(at + 1),
                }
            }
            at
        }
        Some(word) if word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') => {
            let path = if prefix.is_empty() {
                (*word).to_owned()
            } else {
                format!("{prefix}::{word}")
            };
            let goes_on = words.get(at + 1) == Some(&"::");
            if goes_on && prefix.is_empty() {
                return names(words, at + 2, &path, used);
            }
            used.insert(path);
            at += 1;
            // Deeper names do not matter, but their groups have to be passed.
            let mut depth = 0;
            while let Some(&word) = words.get(at) {
                match word {
                    "{" => depth += 1,
                    "}" if depth > 0 => depth -= 1,
                    "::" => {}
                    "," | "}" | ";" if depth == 0 => break,
                    _ if depth == 0 && words[at - 1] != "::" => break,
                    _ => {}
                }
                at += 1;
            }
            at
        }
        _ => at,
    }
}

/// Names, `::` and single signs.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = if first.is_alphanumeric() || first == '_' {
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        words.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    words
}

/// Code without comments and strings, up to its tests.
fn stripped(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        code.push_str(&rest[..at]);
        let found = &rest[at..];
        let skipped = if found.starts_with("//") {
            found.find('\n').unwrap_or(found.len())
        } else if found.starts_with("/*") {
            found.find("*/").map_or(found.len(), |end| end + 2)
        } else if found.starts_with('"') {
            string(found)
        } else if found.starts_with("'\"'") || found.starts_with("'/'") {
            3
        } else {
            code.push_str(&found[..1]);
            rest = &found[1..];
            continue;
        };
        rest = &found[skipped..];
    }
    code + rest
}

/// Length of the string that starts here.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn mentions(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// If `path` is `room` or within it.
fn is_below(path: &str, room: &str) -> bool {
    path.strip_prefix(room)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn files() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the sources are there") {
            let path = entry.expect("the sources are there").path();
            if path.file_stem().is_some_and(|stem| stem == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path
                    .strip_prefix(&root)
                    .expect("below the root")
                    .with_extension("");
                let module = inside
                    .iter()
                    .map(|name| name.to_string_lossy())
                    .collect::<Vec<_>>()
                    .join("::");
                let code = stripped(&fs::read_to_string(&path).expect("text"));
                files.push(Source { path, module, code });
            }
        }
    }
    assert!(!files.is_empty());
    files
}

fn listed(faults: BTreeSet<String>) -> String {
    faults.into_iter().collect::<Vec<_>>().join("\n")
}
