//! As much of JSON Schema (draft 2020-12) as docs/trace.schema.json uses. A keyword that is not known here fails the
//! check: a schema that says more than is checked would be no proof.

use serde_json::Value;

/// Keywords that say nothing about what is allowed.
const NOTES: &[&str] = &["$schema", "$defs", "title", "description", "default", "format"];

/// What is wrong with `value`, if something is.
pub fn fault(root: &Value, value: &Value) -> Option<String> {
    check(root, root, value).err()
}

fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let rules = match schema {
        Value::Object(rules) => rules,
        Value::Bool(true) => return Ok(()),
        _ => return Err("nothing is allowed here".to_owned()),
    };
    for (keyword, rule) in rules {
        let wrong = |what: &str| Err(format!("{value} is not {what} {rule}"));
        match keyword.as_str() {
            "$ref" => {
                let pointer = rule.as_str().unwrap_or_default().trim_start_matches('#');
                let target = root.pointer(pointer).ok_or(format!("no {rule}"))?;
                check(root, target, value)?;
            }
            "type" if !is_type(rule, value) => return wrong("of type"),
            "const" if rule != value => return wrong("equal to"),
            "enum" if !list(rule).contains(value) => return wrong("one of"),
            "minimum" if value.as_f64() < rule.as_f64() => return wrong("at least"),
            "maximum" if value.as_f64() > rule.as_f64() => return wrong("at most"),
            "required" => {
                let missing = list(rule).iter().find(|name| value.get(text(name)).is_none());
                if let Some(name) = missing {
                    return Err(format!("{name} is missing in {value}"));
                }
            }
            "properties" => {
                for (name, schema) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        check(root, schema, value).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
            }
            "items" => {
                for item in list(value) {
                    check(root, rule, item)?;
                }
            }
            "anyOf" | "oneOf" => {
                let outcomes: Vec<_> = list(rule)
                    .iter()
                    .map(|schema| check(root, schema, value))
                    .collect();
                let fitting = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
                if fitting == 0 || (keyword == "oneOf" && fitting > 1) {
                    return Err(format!("{fitting} of {keyword} fit {value}: {outcomes:?}"));
                }
            }
            "type" | "const" | "enum" | "minimum" | "maximum" => {}
            note if NOTES.contains(&note) => {}
            other => {
                return Err(format!(
                    "the keyword `{other}` is not checked: teach tests/support/schema.rs"
                ));
            }
        }
    }
    Ok(())
}

fn is_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match text(name) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => false,
    };
    if rule.is_array() {
        list(rule).iter().any(is)
    } else {
        is(rule)
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
