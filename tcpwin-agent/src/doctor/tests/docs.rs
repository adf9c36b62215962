//! docs/doctor.md and docs/doctor.schema.json say what the code does.
//!
//! `TCPWIN_DOCS=write cargo test -p tcpwin-agent --lib doctor` writes what the tests ask for.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use crate::doctor::{KINDS, Report};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/doctor.md");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/doctor.schema.json");
const OPEN: &str = "<!-- findings: checked by a test -->\n";
const CLOSE: &str = "<!-- /findings -->";

fn is_writing() -> bool {
    std::env::var("TCPWIN_DOCS").is_ok_and(|value| value == "write")
}

#[test]
fn every_kind_of_finding_is_documented() {
    let mut wanted = String::new();
    for (subject, kinds) in KINDS {
        let _ = writeln!(
            wanted,
            "\n### {subject}\n\n| finding | what is wrong |\n|---|---|"
        );
        for kind in *kinds {
            let _ = writeln!(wanted, "| `{}` | {} |", kind.id, kind.about);
        }
    }
    wanted.push('\n');
    let text = fs::read_to_string(PAGE).unwrap();
    let from = text.find(OPEN).map(|at| at + OPEN.len()).unwrap();
    let to = text.find(CLOSE).unwrap();
    if is_writing() {
        fs::write(PAGE, format!("{}{wanted}{}", &text[..from], &text[to..])).unwrap();
    } else {
        assert_eq!(&text[from..to], wanted, "TCPWIN_DOCS=write writes it");
    }
}

#[test]
fn each_kind_has_a_name_of_its_own() {
    let all: Vec<&str> = KINDS
        .iter()
        .flat_map(|(_, kinds)| *kinds)
        .map(|kind| kind.id)
        .collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(all.iter().all(|id| {
        id.bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter == b'-' || letter.is_ascii_digit())
    }));
}

#[test]
fn the_schema_is_the_one_of_the_code() {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Report>();
    let wanted = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if is_writing() {
        fs::write(SCHEMA, wanted).unwrap();
    } else {
        assert_eq!(
            fs::read_to_string(SCHEMA).unwrap(),
            wanted,
            "TCPWIN_DOCS=write writes it"
        );
    }
}
