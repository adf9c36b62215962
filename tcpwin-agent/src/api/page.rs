//! The page for people, at `/`: plain files of this program, which ask the API as anybody does. Nothing in them comes from
//! elsewhere, and the browser is told to hold them to that.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::classify::{Bound, Limit, Side};
use crate::snapshot::figures::{limit_text, side_text};

use super::{App, Refusal};

/// Nothing but what this server serves: no inline script or style, no frame around it, no form that goes elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Name, kind and text of each file.
const FILES: &[(&str, &str, &str)] = &[
    ("page.css", CSS, include_str!("page/page.css")),
    ("table.css", CSS, include_str!("page/table.css")),
    ("icon.svg", SVG, include_str!("page/icon.svg")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("ask.js", SCRIPT, include_str!("page/ask.js")),
    ("live.js", SCRIPT, include_str!("page/live.js")),
    ("place.js", SCRIPT, include_str!("page/place.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("text.js", SCRIPT, include_str!("page/text.js")),
    ("words.js", SCRIPT, include_str!("page/words.js")),
    ("headline.js", SCRIPT, include_str!("page/headline.js")),
    ("findings.js", SCRIPT, include_str!("page/findings.js")),
    ("hour.js", SCRIPT, include_str!("page/hour.js")),
    ("connections.js", SCRIPT, include_str!("page/connections.js")),
    ("columns.js", SCRIPT, include_str!("page/columns.js")),
    ("detail.js", SCRIPT, include_str!("page/detail.js")),
    ("bdp.js", SCRIPT, include_str!("page/bdp.js")),
    ("budget.js", SCRIPT, include_str!("page/budget.js")),
    ("remedies.js", SCRIPT, include_str!("page/remedies.js")),
];

const INDEX: &str = include_str!("page/index.html");

pub(super) async fn index() -> Response {
    sent(HTML, INDEX)
}

/// One of its files.
pub(super) async fn file(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    if name == "words.json" {
        return Json(words(&app.telemetry_path)).into_response();
    }
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, text)) => sent(kind, text),
        None => Refusal(StatusCode::NOT_FOUND, "the page has no such file".to_owned()).into_response(),
    }
}

fn sent(kind: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, &'static str); 3] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}

/// What the names of the API mean, in the words that `top` has for them, and where the metrics are.
fn words(telemetry_path: &str) -> Value {
    const SIDES: [Side; 6] = [
        Side::LocalApp,
        Side::LocalKernel,
        Side::PeerKernel,
        Side::PeerApp,
        Side::Path,
        Side::Nobody,
    ];
    let limits: Map<String, Value> = Limit::ALL
        .iter()
        .map(|limit| {
            let said = json!({ "bound": limit.bound(), "text": limit_text(*limit) });
            (limit.name().to_owned(), said)
        })
        .collect();
    let sides = SIDES.map(|side| json!({ "name": side, "text": side_text(side) }));
    json!({ "bounds": Bound::ALL, "limits": limits, "sides": sides, "telemetry_path": telemetry_path })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_served() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/page");
        let there: BTreeSet<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut served: BTreeSet<String> = FILES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        served.insert("index.html".to_owned());
        assert_eq!(there, served);
    }

    /// Names of programs and hosts are anybody's: they become text, never markup or code. And nothing is fetched from elsewhere.
    #[test]
    fn nothing_makes_markup_or_code_of_text_or_leaves_this_host() {
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "javascript:",
            "https://",
            "http://",
        ];
        for (name, _, text) in FILES.iter().chain(&[("index.html", HTML, INDEX)]) {
            // The name of SVG's namespace is no address.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for word in forbidden {
                assert!(!text.contains(word), "{name} has {word}");
            }
        }
        assert!(!INDEX.contains("style=") && !INDEX.contains("<style") && !INDEX.contains(" on"));
    }

    #[test]
    fn every_side_has_words() {
        let words = words("/metrics");
        assert_eq!(words["limits"]["rwnd"]["bound"], "window");
        assert_eq!(words["sides"].as_array().unwrap().len(), 6);
        assert_eq!(words["bounds"][0], "window");
    }
}
