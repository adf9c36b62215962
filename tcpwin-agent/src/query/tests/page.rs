//! docs/filter.md says what the code does.

use std::fmt::Write as _;
use std::path::Path;

use crate::query::Filter;
use crate::query::field::{self, Field, Kind};
use crate::query::unit::Unit;

fn page() -> String {
    read("filter.md")
}

fn read(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

#[test]
fn the_table_of_fields_is_that_of_the_code() {
    let table = table();
    assert!(
        page().contains(&table),
        "put this table into docs/filter.md:\n{table}"
    );
}

#[test]
fn the_grammar_is_that_of_the_room() {
    let room = include_str!("../../query.rs");
    let grammar: String = room
        .lines()
        .skip_while(|line| *line != "//! ```text")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or("")
                .to_owned()
                + "\n"
        })
        .collect();
    assert!(
        page().contains(&grammar),
        "put this grammar into docs/filter.md:\n{grammar}"
    );
}

#[test]
fn examples_are_filters() {
    let pages = page() + &read("trace.md");
    let examples = pages
        .split("```")
        .filter_map(|block| block.strip_prefix("filter\n"))
        .flat_map(str::lines);
    let mut count = 0;
    for example in examples {
        let text = example.split("  #").next().unwrap_or_default();
        text.parse::<Filter>()
            .unwrap_or_else(|error| panic!("{}", error.pointed(text)));
        count += 1;
    }
    assert!(count > 5, "{count} examples");
}

fn table() -> String {
    let mut table = "| field | also | in the JSON | is | what |\n|---|---|---|---|---|\n".to_owned();
    for field in field::all() {
        let also: Vec<String> = field.also.iter().map(|name| format!("`{name}`")).collect();
        let json = if field.json.is_empty() {
            String::new()
        } else {
            format!("`{}`", field.json)
        };
        let _ = writeln!(
            table,
            "| `{}` | {} | {json} | {} | {} |",
            field.name,
            also.join(" "),
            kind(field),
            field.about
        );
    }
    table
}

fn kind(field: &Field) -> String {
    match &field.kind {
        // Their list is longer than a cell and stands in docs/verdicts.md.
        Kind::Choice(names, _) if names.len() > 8 => "one of a few names".to_owned(),
        Kind::Choice(names, _) => names.join(", "),
        Kind::Text(_) => "text".to_owned(),
        Kind::Endpoint(_) => "address:port".to_owned(),
        Kind::Number(unit, _) => match unit {
            Unit::Count => "number",
            Unit::Share => "0 to 1",
            Unit::Bytes => "bytes",
            Unit::Rate => "bits per second",
            Unit::Rtt => "time, ms",
            Unit::Age => "time, s",
            Unit::Percent => "percent",
        }
        .to_owned(),
    }
}
