//! What this API can be asked and what it answers, as an OpenAPI document. A test makes it of the types and the routes.

use axum::http::header;
use axum::response::IntoResponse;

/// `docs/openapi.json`, which a test holds to the code.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}
