//! What a request asks for in its query, and answers that point at what is wrong in it.

use axum::Json;
use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::query::FilterError;

use super::Refusal;

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) enum Refused {
    /// With a sentence.
    Plain(Refusal),
    /// A filter or sort is wrong.
    Wrong {
        parameter: &'static str,
        text: String,
        error: FilterError,
    },
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Plain(refusal)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::Plain(refusal) => refusal.into_response(),
            Self::Wrong {
                parameter,
                text,
                error,
            } => {
                let body = json!({
                    "error": format!("{parameter}: {error}"),
                    "parameter": parameter,
                    "column": error.column + 1,
                    "pointed": error.pointed(&text),
                });
                (StatusCode::BAD_REQUEST, Json(body)).into_response()
            }
        }
    }
}

/// The query of `uri`.
pub(super) fn read<T: DeserializeOwned>(uri: &Uri) -> Result<T, Refused> {
    let Query(read) =
        Query::<T>::try_from_uri(uri).map_err(|error| Refusal(StatusCode::BAD_REQUEST, error.body_text()))?;
    Ok(read)
}

/// The parameter's value as a filter or sort, if there is one.
pub(super) fn parsed<T>(parameter: &'static str, text: Option<String>) -> Result<Option<T>, Refused>
where
    T: std::str::FromStr<Err = FilterError>,
{
    text.map(|text| {
        text.parse().map_err(|error| Refused::Wrong {
            parameter,
            text,
            error,
        })
    })
    .transpose()
}
