//! docs/openapi.json is made of the routes and the types, and answers keep to it.

mod answers;
#[path = "../../../tests/support/openapi.rs"]
mod contract;
mod document;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// `TCPWIN_WRITE_DOCS=1` writes it.
#[test]
fn the_document_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let document = serde_json::to_string_pretty(&document::made()).unwrap() + "\n";
    if std::env::var_os("TCPWIN_WRITE_DOCS").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/openapi.json is old: run this test with TCPWIN_WRITE_DOCS=1, and tell CHANGELOG.md what changed"
    );
}

#[test]
fn the_document_has_every_route_and_no_other() {
    // As they are written, one `.route(` each.
    let code = include_str!("../../api.rs");
    let routes: BTreeSet<String> = code
        .split(".route(")
        .skip(1)
        .map(|rest| match rest.strip_prefix('"') {
            Some(path) => path.split('"').next().unwrap().to_owned(),
            None => {
                assert!(rest.starts_with("&telemetry_path,"), "{rest}");
                "/metrics".to_owned()
            }
        })
        .collect();
    let document = document::made();
    let told: BTreeSet<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(told, routes);
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                if let Some(Value::String(target)) = object.get("$ref") {
                    found.insert(target.clone());
                }
                object.values().for_each(|each| references(each, found));
            }
            Value::Array(list) => list.iter().for_each(|each| references(each, found)),
            _ => {}
        }
    }
    let document = document::made();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}
