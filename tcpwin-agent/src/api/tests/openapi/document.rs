//! The document: a line for each path, schemas from the types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::api::{
    EVENT_READERS, LARGE_ANSWERS, LIVE_READERS, connections, events, host, live, overview, pages, select,
};
use crate::snapshot::{Connection, Snapshot, TraceEvent};

/// The answer of `/api/v1/connections`, which is written piece by piece.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is asked for")]
struct Connections {
    /// CLOCK_MONOTONIC of the tick, ns.
    at_ns: u64,
    /// Connections open.
    total: u64,
    /// Of those, how many pass: `offset` and `count` cut the answer, not this.
    matched: u64,
    /// In the order asked for.
    connections: Vec<Connection>,
}

/// Why there is no answer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is asked for")]
struct Error {
    /// A sentence.
    error: String,
    /// Which parameter is wrong, where it is a filter or an order.
    #[schemars(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// The first wrong character of it, from 1.
    #[schemars(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    /// The parameter's value, and below it a caret at that column with what is wrong.
    #[schemars(skip_serializing_if = "Option::is_none")]
    pointed: Option<String>,
}

/// What an event `missed` says: the reader is behind.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is asked for")]
struct Missed {
    /// Always `missed`.
    event: String,
    /// How many events or ticks it was not told.
    count: u64,
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const HTML: &str = "text/html";
const EVENTS: &str = "text/event-stream";
const BYTES: &str = "application/octet-stream";

/// Why a path may refuse, beside what is wrong with the request as such.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refuses {
    /// What tells of single connections.
    Others,
    /// Parameters that mean nothing.
    Wrong,
    /// What is not there.
    Unknown,
    /// More than a few at once, or while the agent begins or ends.
    Busy,
}

use Refuses::{Busy, Others, Unknown, Wrong};

/// One path.
struct Endpoint {
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    kind: &'static str,
    answer: Value,
    parameters: Vec<Value>,
    refuses: &'static [Refuses],
}

/// The whole document.
pub(super) fn made() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut types = settings
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .into_generator();
    let error = schema::<Error>(&mut types);
    schema::<Missed>(&mut types);
    let paths: Map<String, Value> = endpoints(&mut types)
        .into_iter()
        .map(|endpoint| (endpoint.path.to_owned(), described(&endpoint, &error)))
        .collect();
    let mut schemas: Map<String, Value> = types.take_definitions(true);
    schemas.insert("ConnectionPart".to_owned(), part(&schemas["Connection"]));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "tcpwin",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What limits every TCP connection of a host. What is not known is absent, never 0 and never null. \
                            Names that end in _bps are bits per second, in _bytes bytes, in _us microseconds, in _ns nanoseconds. \
                            Within v1 fields may come, none goes or changes its meaning: read on past those that you do not know.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "http://127.0.0.1:10430", "description": "The default; --web.listen-address says where else" }],
        "paths": paths,
        "components": { "schemas": schemas },
    });
    without_null(&mut document["components"]);
    document
}

fn endpoints(types: &mut SchemaGenerator) -> Vec<Endpoint> {
    let text = || json!({ "type": "string" });
    let open = |path, name, summary, kind, answer| Endpoint {
        path,
        name,
        summary,
        kind,
        answer,
        parameters: Vec::new(),
        refuses: &[],
    };
    let own = |path, name, summary, kind, answer, parameters, refuses| Endpoint {
        path,
        name,
        summary,
        kind,
        answer,
        parameters,
        refuses,
    };
    let mut file = open("/page/{file}", "pageFile", "A file of that page", TEXT, text());
    file.parameters = vec![in_path("file", "Its name")];
    file.refuses = &[Unknown];
    let mut ready = open(
        "/-/ready",
        "ready",
        "Whether the first interval has ended",
        TEXT,
        text(),
    );
    ready.refuses = &[Busy];
    let id = in_path("id", "The connection's socket cookie, as in `id`");
    vec![
        open("/", "page", "The page for people", HTML, text()),
        file,
        open(
            "/metrics",
            "metrics",
            "The metrics, where --web.telemetry-path says: docs/metrics.md",
            TEXT,
            text(),
        ),
        open("/-/healthy", "healthy", "Whether the process lives", TEXT, text()),
        ready,
        open(
            "/healthz",
            "healthz",
            "Source, hooks and losses",
            JSON,
            schema::<pages::Healthz>(types),
        ),
        open(
            "/api/v1/openapi.json",
            "document",
            "This document",
            JSON,
            json!({ "type": "object" }),
        ),
        open(
            "/api/v1/overview",
            "overview",
            "Counts over all connections, and the agent itself",
            JSON,
            schema::<overview::Overview>(types),
        ),
        open(
            "/api/v1/bounds",
            "bounds",
            "What held connections over the last hour",
            JSON,
            schema::<overview::Bounds>(types),
        ),
        own(
            "/api/v1/live",
            "live",
            "Each tick's overview and findings, as server-sent events: `tick` with a Tick, and before one `missed` where \
             the reader is behind",
            EVENTS,
            schema::<live::Tick>(types),
            Vec::new(),
            &[Others, Busy],
        ),
        own(
            "/api/v1/connections",
            "connections",
            "Connections with their verdicts",
            JSON,
            schema::<Connections>(types),
            parameters::<select::Query>(types),
            &[Wrong, Others, Busy],
        ),
        own(
            "/api/v1/connections/{id}",
            "connection",
            "One of them",
            JSON,
            schema::<Connection>(types),
            vec![id],
            &[Others, Unknown, Busy],
        ),
        own(
            "/api/v1/findings",
            "findings",
            "What is worth telling of many connections at once, what gives most first",
            JSON,
            schema::<connections::Findings>(types),
            Vec::new(),
            &[Others, Busy],
        ),
        own(
            "/api/v1/listeners",
            "listeners",
            "Listening sockets with their accept queues",
            JSON,
            schema::<host::Listeners>(types),
            Vec::new(),
            &[Others, Busy],
        ),
        own(
            "/api/v1/host",
            "host",
            "Counters of the host: Fast Open, TCP's memory, softirq, interfaces",
            JSON,
            schema::<host::Host>(types),
            Vec::new(),
            &[Others],
        ),
        own(
            "/api/v1/snapshot",
            "snapshot",
            "Everything at once, for `tcpwin top`",
            JSON,
            schema::<Snapshot>(types),
            parameters::<connections::Asked>(types),
            &[Wrong, Others, Busy],
        ),
        own(
            "/api/v1/events",
            "events",
            "What happens, as server-sent events: each a TraceEvent under its own name, `missed` where the reader is behind",
            EVENTS,
            schema::<TraceEvent>(types),
            parameters::<events::Query>(types),
            &[Wrong, Others, Busy],
        ),
        own(
            "/api/v1/recording",
            "recording",
            "What goes into the table from now on, as a recording: docs/recording.md",
            BYTES,
            json!({ "type": "string", "format": "binary" }),
            Vec::new(),
            &[Others, Busy],
        ),
        own(
            RELOAD,
            "reload",
            "Reads the configuration again, where --web.enable-lifecycle lets it: docs/web-config.md",
            TEXT,
            text(),
            Vec::new(),
            &[Others, Busy],
        ),
    ]
}

/// The one path that is posted to.
const RELOAD: &str = "/-/reload";

fn described(endpoint: &Endpoint, error: &Value) -> Value {
    let mut responses = Map::new();
    let content = json!({ endpoint.kind: { "schema": endpoint.answer } });
    responses.insert(
        "200".to_owned(),
        json!({ "description": "The answer", "content": content }),
    );
    for refuses in endpoint.refuses {
        let (status, why) = match refuses {
            Wrong => (
                "400",
                "A parameter that is not known or means nothing; the sentence says what is allowed"
                    .to_owned(),
            ),
            Others => (
                "403",
                "The reader is neither on this host nor has shown a password or certificate: single connections tell who talks with whom"
                    .to_owned(),
            ),
            Unknown => ("404", "There is none".to_owned()),
            Busy => ("503", busy(endpoint)),
        };
        let kind = if endpoint.name == "ready" && *refuses == Busy {
            TEXT
        } else {
            JSON
        };
        let schema = if kind == TEXT { &endpoint.answer } else { error };
        responses.insert(
            status.to_owned(),
            json!({ "description": why, "content": { kind: { "schema": schema } } }),
        );
    }
    let mut get = json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "responses": responses,
    });
    if !endpoint.parameters.is_empty() {
        get["parameters"] = endpoint.parameters.clone().into();
    }
    let method = if endpoint.path == RELOAD { "post" } else { "get" };
    json!({ method: get })
}

fn busy(endpoint: &Endpoint) -> String {
    match endpoint.name {
        "ready" => "Not yet".to_owned(),
        "live" => format!("More than {LIVE_READERS} readers at once, or the agent is ending"),
        "events" => format!("More than {EVENT_READERS} readers at once, or the agent is ending"),
        "recording" => "Too many readers at once, or the agent is ending".to_owned(),
        "connection" => "The agent is ending".to_owned(),
        "connections" => format!(
            "More than {LARGE_ANSWERS} large answers at once (with a `count` of at most {} it waits instead), or the agent is ending",
            connections::FEW
        ),
        _ => format!("More than {LARGE_ANSWERS} large answers at once, or the agent is ending"),
    }
}

fn schema<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
    types.subschema_for::<T>().into()
}

fn in_path(name: &str, description: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "description": description, "schema": { "type": "string" } })
}

/// The fields of a struct that a query is read into.
fn parameters<T: JsonSchema>(types: &mut SchemaGenerator) -> Vec<Value> {
    let mut all = Value::from(T::json_schema(types));
    without_null(&mut all);
    let Some(Value::Object(properties)) = all.get_mut("properties").map(Value::take) else {
        return Vec::new();
    };
    let one = |(name, mut schema): (String, Value)| {
        let description = schema
            .as_object_mut()
            .and_then(|rules| rules.remove("description"));
        let description = description.unwrap_or_else(|| panic!("{name} is not described"));
        json!({ "name": name, "in": "query", "description": description, "schema": schema })
    };
    properties.into_iter().map(one).collect()
}

/// A connection of which `fields` names a part.
fn part(connection: &Value) -> Value {
    let names = connection["properties"].as_object().into_iter().flatten();
    let any: Map<String, Value> = names.map(|(name, _)| (name.clone(), true.into())).collect();
    json!({
        "description": "Of a Connection those fields that `fields` names; what of them is not known is absent.",
        "type": "object",
        "properties": any,
    })
}

/// What is not known is absent: no answer has a null in it.
fn without_null(schema: &mut Value) {
    let is_null = |schema: &Value| *schema == "null" || schema["type"] == "null";
    match schema {
        Value::Object(rules) => {
            if let Some(Value::Array(kinds)) = rules.get_mut("type") {
                kinds.retain(|kind| !is_null(kind));
                if let [one] = &kinds[..] {
                    let one = one.clone();
                    rules.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(either)) = rules.get_mut("anyOf") {
                either.retain(|schema| !is_null(schema));
                if let [Value::Object(one)] = &either[..] {
                    let one = one.clone();
                    rules.remove("anyOf");
                    rules.extend(one);
                }
            }
            if rules.get("default").is_some_and(Value::is_null) {
                rules.remove("default");
            }
            rules.values_mut().for_each(without_null);
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_null),
        _ => {}
    }
}
