//! docs/top.md says what the code does.
//!
//! `TCPWIN_DOCS=write cargo test -p tcpwin-agent --lib docs` writes what the tests ask for.

use std::fmt::Write as _;
use std::fs;

use crate::top::column::SPECS;
use crate::top::keys::{BINDINGS, Mode};
use crate::top::settings::Settings;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/top.md");

/// The table between the marks of this name is `wanted`, or is made so.
fn check(name: &str, wanted: &str) {
    let text = fs::read_to_string(PATH).unwrap();
    let (open, close) = (
        format!("<!-- {name}: checked by a test -->\n"),
        format!("<!-- /{name} -->"),
    );
    let from = text.find(&open).map(|at| at + open.len()).unwrap();
    let to = text.find(&close).unwrap();
    if std::env::var("TCPWIN_DOCS").is_ok_and(|value| value == "write") {
        fs::write(PATH, format!("{}{wanted}{}", &text[..from], &text[to..])).unwrap();
    } else {
        assert_eq!(
            &text[from..to],
            wanted,
            "{name} of docs/top.md; TCPWIN_DOCS=write writes it"
        );
    }
}

/// Views, or what is being written.
fn place(modes: &[Mode]) -> String {
    let views = [
        Mode::Overview,
        Mode::Tree,
        Mode::List,
        Mode::Finding,
        Mode::Host,
        Mode::Detail,
    ];
    let mut names: Vec<String> = modes
        .iter()
        .map(|mode| format!("{mode:?}").to_lowercase())
        .collect();
    if views.iter().all(|view| modes.contains(view)) {
        names.drain(..views.len());
        names.insert(0, "every view".to_owned());
    }
    names.join(", ")
}

/// One test for both: they write the same file.
#[test]
fn keys_and_columns_are_documented() {
    let mut columns = "| name | what it shows | without a choice |\n|---|---|---|\n".to_owned();
    for spec in &SPECS {
        let rank = spec
            .rank
            .map_or("not shown".to_owned(), |rank| format!("comes {rank}."));
        let _ = writeln!(columns, "| `{}` | {} | {rank} |", spec.name, spec.help);
    }
    check("columns", &columns);
    let mut keys = "| keys | where | what they do |\n|---|---|---|\n".to_owned();
    for binding in BINDINGS {
        let where_to = place(binding.modes);
        let names: Vec<String> = binding
            .keys
            .iter()
            .map(|keys| format!("`{}`", keys.replace(' ', "")))
            .collect();
        let _ = writeln!(keys, "| {} | {} | {} |", names.join(" "), where_to, binding.help);
    }
    check("keys", &keys);
}

#[test]
fn the_settings_of_the_page_are_settings() {
    let text = fs::read_to_string(PATH).unwrap();
    let example = text
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let settings = Settings::parse(PATH.as_ref(), example).unwrap();
    assert_eq!(settings.presets.len(), 2);
}
