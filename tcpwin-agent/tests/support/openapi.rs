//! Answers against the schemas of docs/openapi.json, closed: a field that the document does not name is a fault, though the
//! document itself lets clients expect new ones.

use boon::{Compiler, Schemas};
use serde_json::{Map, Value, json};

const PLACE: &str = "memory:///openapi.json";

/// The document's schemas.
pub struct Contract {
    schemas: Value,
}

impl Contract {
    /// Of the document's text.
    pub fn of(document: &Value) -> Self {
        let mut schemas = document["components"]["schemas"].clone();
        close(&mut schemas);
        let text = schemas.to_string().replace("#/components/schemas/", "#/$defs/");
        Self {
            schemas: serde_json::from_str(&text).expect("JSON"),
        }
    }

    /// What in `answer` is not as the schema of this name says, if something is.
    pub fn fault(&self, name: &str, answer: &Value) -> Option<String> {
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{name}"),
            "$defs": self.schemas,
        });
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.enable_format_assertions();
        compiler.add_resource(PLACE, root).expect("a place of its own");
        let compiled = compiler.compile(PLACE, &mut schemas).expect("a schema");
        let validated = schemas.validate(answer, compiled);
        validated.err().map(|error| format!("{error:#}"))
    }
}

/// Lets no object have a property that is not named.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(rules) => {
            rules.values_mut().for_each(close);
            if is_open(rules) {
                rules.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

fn is_open(rules: &Map<String, Value>) -> bool {
    let is_object = rules.get("type").is_some_and(|kind| kind == "object");
    is_object && rules.contains_key("properties") && !rules.contains_key("additionalProperties")
}
